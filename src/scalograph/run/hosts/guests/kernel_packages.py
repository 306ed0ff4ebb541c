"""Fetch kernels of the distribution as packages by apt, once, from the machine's own sources.

apt changes nothing of the machine's. It checks the signature of the index, and each package by the index. A fetched
kernel stays the same until its folder is removed.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scalograph.control.kernel import parse_kernel
from scalograph.errors import HostError
from scalograph.protocol.facts import KernelPackage
from scalograph.run.hosts.base import Tell
from scalograph.run.hosts.guests.initramfs import needed_modules, read_module
from scalograph.run.interrupts import run_or_refuse
from scalograph.system.private_dir import cache_folder, fill_atomically, scratch

_SOURCES_FIX = "name a kernel without @RELEASE"


def private_apt_options(root: Path) -> list[str]:
    """Return apt options that keep its state in a folder; the sources are the machine's."""
    for name in ("lists/partial", "archives/partial"):
        (root / name).mkdir(parents=True)
    (root / "status").touch()
    own = {
        "Dir::State": root, "Dir::State::lists": root / "lists", "Dir::State::status": root / "status",
        "Dir::Cache": root, "Acquire::Languages": "none", "Acquire::Retries": 3, "APT::Update::Error-Mode": "any",
    }  # fmt: skip
    return _options(own)


def release_options(release: str, folder: Path, root: Path = Path("/")) -> list[str]:
    """Return apt options that read the machine's sources as those of another release (a code name).

    Raises HostError: the machine has no source of its own release.
    """
    parts = folder / "parts"
    parts.mkdir()
    for name, text in _rewrite_sources(release, root).items():
        (parts / name).write_text(text, encoding="utf-8")
    if not any(parts.iterdir()):
        raise HostError(f"release {release}", "no source of packages of this release in /etc/apt", "one", _SOURCES_FIX)
    return _options({"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": parts})


def _options(values: dict[str, object]) -> list[str]:
    return [word for name, value in values.items() for word in ("-o", f"{name}={value}")]


def _rewrite_sources(release: str, root: Path) -> dict[str, str]:
    """Return sources of the machine's release by file name, rewritten; its updates are another's."""
    here, apt = _codename(root), root / "etc/apt"
    sources = dict[str, str]()
    for file in sorted((apt / "sources.list.d").glob("*.sources")):
        stanzas = re.split(r"\n\s*\n", file.read_text(encoding="utf-8"))
        kept = [
            re.sub(r"(?m)^Suites:.*$", f"Suites: {release}", stanza) for stanza in stanzas if _has_release(here, stanza)
        ]
        sources |= {file.name: "\n\n".join(kept) + "\n"} if kept else {}
    for file in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*.list"))]:
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        kept = [re.sub(rf" {here} ", f" {release} ", line) for line in lines if re.match(rf"deb .* {here} ", line)]
        sources |= {f"{file.stem}.list": "\n".join(kept) + "\n"} if kept else {}
    return sources


def _has_release(release: str, stanza: str) -> bool:
    suites = re.search(r"(?m)^Suites:(.*)$", stanza)
    return suites is not None and release in suites[1].split()


def _codename(root: Path) -> str:
    text = (root / "etc/os-release").read_text(encoding="utf-8")
    match = re.search(r'(?m)^VERSION_CODENAME="?([a-z]+)', text)
    if match is None:
        raise HostError("/etc/os-release", "no VERSION_CODENAME", "the release of this machine", _SOURCES_FIX)
    return match[1]


TIMEOUT_S = 1800
ABOUT, IMAGE, MODULES = "package.json", "vmlinuz", "modules"
_NAME = re.compile(r"linux-image-(?P<family>\d+\.\d+)\.?\S*?-(?:(?P<kind>cloud|rt)-)?amd64")
# Newer packages of an image hold neither it nor its modules, and depend on those that do.
_PARTS = re.compile(r"Depends: (linux-(?:binary|modules|image)-\S+)")
_FIX = "look at the network and at /etc/apt, and try: apt-get update"


def fetch_kernel(level: str, tell: Tell, where: Path | None = None) -> tuple[KernelPackage, Path]:
    """Return the package of a level, and the folder with its image and the modules that a guest needs.

    `tell` receives one announcement before anything is fetched; `where` is a cache other than the user's.

    Raises HostError: no such kernel is offered, it cannot be fetched or unpacked, or the cache cannot be written.
    """
    home = where or cache_folder() / "kernels"
    target = home / level
    if not target.is_dir():
        tell(f"kernel {level}: fetched by apt, once; kept in {target}")
        with fill_atomically(target, f"kernel {level}") as partial, _aside(partial) as work:
            _fill_kernel(partial, work, level)
    return KernelPackage(level=level, **json.loads((target / ABOUT).read_text(encoding="utf-8"))), target


@contextmanager
def _aside(partial: Path) -> Iterator[Path]:
    work = partial / ".work"
    work.mkdir()
    yield work
    shutil.rmtree(work)


def _fill_kernel(target: Path, work: Path, level: str) -> None:
    name, files = _download(level, work)
    for file in files:
        _run_program(["dpkg-deb", "-x", str(file), str(work / "files")], work)
    first = next(file for file in files if file.name.startswith(f"{name}_"))
    version = _run_program(["dpkg-deb", "-f", str(first), "Version"], work).strip()
    release = _extract_kernel(work / "files", target)
    about = {"release": release, "package": name, "version": version, "sha256": _digest(files)}
    (target / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _download(level: str, work: Path) -> tuple[str, list[Path]]:
    """Fetch by the machine's index; without one, an old one, or for another release, by one of our own."""
    release = parse_kernel(level).release
    if release is None:
        with suppress(HostError):
            return _download_listed(["-o", f"Dir::Cache={work}"], level, work)
    options = [*private_apt_options(work), *(release_options(release, work) if release else ())]
    _run_apt(["apt-get", *options, "update"], work)
    return _download_listed(options, level, work)


def _download_listed(options: Sequence[str], level: str, work: Path) -> tuple[str, list[Path]]:
    options = [*options, "-o", "APT::Sandbox::User="]  # as whoever we are: the folder is ours
    name = newest_package(level, _run_apt(["apt-cache", *options, "pkgnames", "linux-image-"], work).split())
    parts = _PARTS.findall(_run_apt(["apt-cache", *options, "depends", name], work))
    _run_apt(["apt-get", *options, "download", name, *parts], work)
    return name, sorted(work.glob("*.deb"))


def newest_package(level: str, names: Sequence[str]) -> str:
    """Return the newest package of a level among those that are offered.

    >>> names = ["linux-image-6.1.0-9-rt-amd64", "linux-image-6.1.0-10-rt-amd64", "linux-image-6.1.0-11-amd64"]
    >>> newest_package("rt", names)
    'linux-image-6.1.0-10-rt-amd64'

    Raises HostError: there is none.
    """
    family, kind, _ = parse_kernel(level)
    offered = {name: match for name in names if (match := _NAME.fullmatch(name))}
    wanted = [
        name
        for name, match in offered.items()
        if (match["kind"] or "generic") == kind and family in (None, match["family"])
    ]
    if not wanted:
        families = sorted({match["family"] for match in offered.values()}, key=_numbers)
        expected = f"one of {', '.join(families) or 'none'}, which the machine's sources of packages offer"
        raise HostError(
            f"kernel {level}",
            "no such package",
            expected,
            f"change the level, or name a release that has it: {level}@RELEASE",
        )
    return max(wanted, key=_numbers)


def offered_kernels() -> tuple[str, ...]:
    """Return the levels that the machine's package index has, oldest first; none without an index."""
    try:
        with scratch("kernels") as folder:
            names = _run_apt(["apt-cache", "-o", f"Dir::Cache={folder}", "pkgnames", "linux-image-"], folder).split()
    except HostError:
        return ()
    match = {(match["family"], match["kind"] or "generic") for name in names if (match := _NAME.fullmatch(name))}
    return tuple(f"{family}-{kind}" for family, kind in sorted(match, key=lambda level: (_numbers(level[0]), level[1])))


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _run_apt(argv: Sequence[str], folder: Path) -> str:
    if shutil.which(argv[0]) is None:
        raise HostError("kernel", f"no {argv[0]}", "Debian or a relative of it", "use a host that has it")
    return _run_program(argv, folder)


def _run_program(argv: Sequence[str], folder: Path) -> str:
    """Return what a program printed. Raises HostError with its first complaint, without the address of a mirror."""
    late = ("kernel", f"{argv[0]} took more than {TIMEOUT_S} s", "an end", _FIX)
    absent = ("kernel", argv[0], "a program", "apt-get install dpkg apt")
    done = run_or_refuse(argv, {**os.environ, "LC_ALL": "C.UTF-8"}, TIMEOUT_S, folder, late, absent)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith(("E:", "dpkg"))] or ["no reason given"]
        complaint = re.sub(r"\s*\[IP: [^\]]*\]", "", re.sub(r"\S+://\S+", "the mirror", lines[0]))
        raise HostError("kernel", f"{argv[0]} failed: {complaint}", "its package", _FIX)
    return done.stdout


def _extract_kernel(files: Path, target: Path) -> str:
    """Keep the image and the modules that a guest needs; return the release that the kernel reports."""
    image = next((file for file in sorted(files.rglob("vmlinuz*")) if file.is_file()), None)
    folder = next(iter(sorted(files.glob("**/lib/modules/*"))), None)
    if image is None or folder is None:
        raise HostError("kernel", "a package without image or modules", "both", "choose another kernel")
    (target / MODULES).mkdir()
    for number, module in enumerate(needed_modules(folder)):
        (target / MODULES / f"{number:03}-{module.name.split('.')[0]}.ko").write_bytes(read_module(module))
    image.rename(target / IMAGE)
    return folder.name


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
