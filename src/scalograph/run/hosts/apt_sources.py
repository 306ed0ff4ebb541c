"""Where apt looks, and where it keeps what it learns: a state of our own; sources of the machine, for another release.

Nothing below /etc/apt or /var/lib/apt is changed. The keys are the machine's.
"""

import re
from pathlib import Path

from scalograph.errors import HostError

_FIX = "name a kernel without @RELEASE"


def own_state(place: Path) -> list[str]:
    """Return options of apt that keep its state in a folder; the sources are the machine's."""
    for folder in ("lists/partial", "archives/partial"):
        (place / folder).mkdir(parents=True)
    (place / "status").touch()
    own = {
        "Dir::State": place, "Dir::State::lists": place / "lists", "Dir::State::status": place / "status",
        "Dir::Cache": place, "Acquire::Languages": "none", "Acquire::Retries": 3, "APT::Update::Error-Mode": "any",
    }  # fmt: skip
    return _options(own)


def of_release(release: str, place: Path, root: Path = Path("/")) -> list[str]:
    """Return options by which apt reads the machine's sources as if the machine were of another release.

    Args:
        release: its code name.
        place: folder for those sources.
        root: where /etc is.

    Raises:
        HostError: the machine has no source of its own release.
    """
    parts = place / "parts"
    parts.mkdir()
    for name, text in _rewritten(release, root).items():
        (parts / name).write_text(text, encoding="utf-8")
    if not any(parts.iterdir()):
        raise HostError(f"release {release}", "no source of packages of this release in /etc/apt", "one", _FIX)
    return _options({"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": parts})


def _options(values: dict[str, object]) -> list[str]:
    return [word for name, value in values.items() for word in ("-o", f"{name}={value}")]


def _rewritten(release: str, root: Path) -> dict[str, str]:
    """Sources that have the release of the machine, by the name of their file; updates of it are another's."""
    here, apt = _codename(root), root / "etc/apt"
    found = dict[str, str]()
    for file in sorted((apt / "sources.list.d").glob("*.sources")):
        stanzas = re.split(r"\n\s*\n", file.read_text(encoding="utf-8"))
        kept = [re.sub(r"(?m)^Suites:.*$", f"Suites: {release}", one) for one in stanzas if _is_of(here, one)]
        found |= {file.name: "\n\n".join(kept) + "\n"} if kept else {}
    for file in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*.list"))]:
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        kept = [re.sub(rf" {here} ", f" {release} ", line) for line in lines if re.match(rf"deb .* {here} ", line)]
        found |= {f"{file.stem}.list": "\n".join(kept) + "\n"} if kept else {}
    return found


def _is_of(release: str, stanza: str) -> bool:
    suites = re.search(r"(?m)^Suites:(.*)$", stanza)
    return suites is not None and release in suites[1].split()


def _codename(root: Path) -> str:
    text = (root / "etc/os-release").read_text(encoding="utf-8")
    found = re.search(r'(?m)^VERSION_CODENAME="?([a-z]+)', text)
    if found is None:
        raise HostError("/etc/os-release", "no VERSION_CODENAME", "the release of this machine", _FIX)
    return found[1]
