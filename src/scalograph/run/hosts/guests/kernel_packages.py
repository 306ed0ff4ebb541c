"""Kernels of the distribution, as packages that apt fetches once, from where the machine has its own.

apt changes nothing of the machine's. It checks the signature of the index, and each package by the index. A kernel that
was fetched stays the same until its folder is removed.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scalograph.control.kernel import parse_kernel
from scalograph.errors import HostError
from scalograph.protocol.facts import KernelPackage
from scalograph.run.hosts.base import Tell
from scalograph.run.hosts.guests.initramfs import needed_modules, unpacked
from scalograph.run.interrupts import contained
from scalograph.run.scratch import scratch
from scalograph.system.build_cache import cache, made_whole

_SOURCES_FIX = "name a kernel without @RELEASE"


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
        raise HostError(f"release {release}", "no source of packages of this release in /etc/apt", "one", _SOURCES_FIX)
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
        raise HostError("/etc/os-release", "no VERSION_CODENAME", "the release of this machine", _SOURCES_FIX)
    return found[1]


TIMEOUT_S = 1800
ABOUT, IMAGE, MODULES = "package.json", "vmlinuz", "modules"
_NAME = re.compile(r"linux-image-(?P<family>\d+\.\d+)\.?\S*?-(?:(?P<kind>cloud|rt)-)?amd64")
# Newer packages of an image hold neither it nor its modules, and depend on those that do.
_PARTS = re.compile(r"Depends: (linux-(?:binary|modules|image)-\S+)")
_FIX = "look at the network and at /etc/apt, and try: apt-get update"


def kernel(level: str, tell: Tell, where: Path | None = None) -> tuple[KernelPackage, Path]:
    """Return the package of a level, and the folder with its image and the modules that a guest needs.

    Args:
        level: of the control `kernel`.
        tell: told once, before anything is fetched.
        where: cache of what was fetched, else the user's.

    Raises:
        HostError: no such kernel is offered, it cannot be fetched or unpacked, or the cache cannot be written.
    """
    home = where or cache() / "kernels"
    target = home / level
    if not target.is_dir():
        tell(f"kernel {level}: fetched by apt, once; kept in {target}")
        with made_whole(target, f"kernel {level}") as made, _aside(made) as work:
            _fill(made, work, level)
    return KernelPackage(level=level, **json.loads((target / ABOUT).read_text(encoding="utf-8"))), target


@contextmanager
def _aside(made: Path) -> Iterator[Path]:
    work = made / ".work"
    work.mkdir()
    yield work
    shutil.rmtree(work)


def _fill(made: Path, work: Path, level: str) -> None:
    name, files = _downloaded(level, work)
    for file in files:
        _carried_out(["dpkg-deb", "-x", str(file), str(work / "files")], work)
    first = next(file for file in files if file.name.startswith(f"{name}_"))
    version = _carried_out(["dpkg-deb", "-f", str(first), "Version"], work).strip()
    release = _keep(work / "files", made)
    about = {"release": release, "package": name, "version": version, "sha256": _digest(files)}
    (made / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _downloaded(level: str, work: Path) -> tuple[str, list[Path]]:
    """Fetch by the index of the machine; where it has none, an old one, or another release's, by one of our own."""
    release = parse_kernel(level).release
    if release is None:
        with suppress(HostError):
            return _by_index(["-o", f"Dir::Cache={work}"], level, work)
    options = [*own_state(work), *(of_release(release, work) if release else ())]
    _apt(["apt-get", *options, "update"], work)
    return _by_index(options, level, work)


def _by_index(options: Sequence[str], level: str, work: Path) -> tuple[str, list[Path]]:
    options = [*options, "-o", "APT::Sandbox::User="]  # as whoever we are: the folder is ours
    name = newest(level, _apt(["apt-cache", *options, "pkgnames", "linux-image-"], work).split())
    parts = _PARTS.findall(_apt(["apt-cache", *options, "depends", name], work))
    _apt(["apt-get", *options, "download", name, *parts], work)
    return name, sorted(work.glob("*.deb"))


def newest(level: str, names: Sequence[str]) -> str:
    """Return the newest package of a level among those that are offered.

    >>> newest("rt", ["linux-image-6.1.0-9-rt-amd64", "linux-image-6.1.0-10-rt-amd64", "linux-image-6.1.0-11-amd64"])
    'linux-image-6.1.0-10-rt-amd64'

    Raises:
        HostError: there is none.
    """
    family, kind, _ = parse_kernel(level)
    offered = {name: found for name in names if (found := _NAME.fullmatch(name))}
    wanted = [
        name
        for name, found in offered.items()
        if (found["kind"] or "generic") == kind and family in (None, found["family"])
    ]
    if not wanted:
        families = sorted({found["family"] for found in offered.values()}, key=_numbers)
        expected = f"one of {', '.join(families) or 'none'}, which the machine's sources of packages offer"
        raise HostError(
            f"kernel {level}",
            "no such package",
            expected,
            f"change the level, or name a release that has it: {level}@RELEASE",
        )
    return max(wanted, key=_numbers)


def offered() -> tuple[str, ...]:
    """Return the levels that the machine's index of packages has, oldest first; none where it has no index."""
    try:
        with scratch("kernels") as folder:
            names = _apt(["apt-cache", "-o", f"Dir::Cache={folder}", "pkgnames", "linux-image-"], folder).split()
    except HostError:
        return ()
    found = {(found["family"], found["kind"] or "generic") for name in names if (found := _NAME.fullmatch(name))}
    return tuple(f"{family}-{kind}" for family, kind in sorted(found, key=lambda one: (_numbers(one[0]), one[1])))


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _apt(argv: Sequence[str], folder: Path) -> str:
    if shutil.which(argv[0]) is None:
        raise HostError("kernel", f"no {argv[0]}", "Debian or a relative of it", "use a host that has it")
    return _carried_out(argv, folder)


def _carried_out(argv: Sequence[str], folder: Path) -> str:
    """What a program printed. Raises HostError with its first complaint, without the address of a mirror."""
    try:
        done = contained(argv, {**os.environ, "LC_ALL": "C.UTF-8"}, TIMEOUT_S, folder)
    except subprocess.TimeoutExpired as error:
        raise HostError("kernel", f"{argv[0]} took more than {TIMEOUT_S} s", "an end", _FIX) from error
    except OSError as error:
        raise HostError("kernel", f"{argv[0]}: {error.strerror}", "a program", "apt-get install dpkg apt") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith(("E:", "dpkg"))] or ["no reason given"]
        said = re.sub(r"\s*\[IP: [^\]]*\]", "", re.sub(r"\S+://\S+", "the mirror", lines[0]))
        raise HostError("kernel", f"{argv[0]} failed: {said}", "its package", _FIX)
    return done.stdout


def _keep(files: Path, made: Path) -> str:
    """Keep the image and the modules that a guest needs; return the release that the kernel calls itself."""
    image = next((file for file in sorted(files.rglob("vmlinuz*")) if file.is_file()), None)
    folder = next(iter(sorted(files.glob("**/lib/modules/*"))), None)
    if image is None or folder is None:
        raise HostError("kernel", "a package without image or modules", "both", "choose another kernel")
    (made / MODULES).mkdir()
    for number, module in enumerate(needed_modules(folder)):
        (made / MODULES / f"{number:03}-{module.name.split('.')[0]}.ko").write_bytes(unpacked(module))
    image.rename(made / IMAGE)
    return folder.name


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
