"""Facts of a machine beside its CPUs: caches, clock, distribution, compiler, disk, memory, JVMs. Never a guess."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from scalograph.protocol.bounded import read_below, read_whole
from scalograph.protocol.facts import LATEST, Jvm
from scalograph.protocol.record_processes import LAST
from scalograph.protocol.written_file import replace_file
from scalograph.study.responses import COUNTERS

_UNITS = {"K": 1 << 10, "M": 1 << 20, "": 1}
_KINDS = {"Data": "d", "Instruction": "i", "Unified": ""}
TIMEOUT_S = 5
_MOST_CONFIG = 1 << 20


def cache_sizes(root: Path) -> dict[str, int]:
    """Return the caches of the first CPU in bytes: {"L1d_bytes": 49152, ...}; empty where sizes are not reported."""
    sizes: dict[str, int] = {}
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (read_or_empty(index / name) for name in ("level", "type", "size"))
        if (match := re.fullmatch(r"(\d{1,12})([KM]?)", size)) and kind in _KINDS and level.isdecimal():
            sizes[f"L{level}{_KINDS[kind]}_bytes"] = int(match[1]) * _UNITS[match[2]]
    return sizes


def clock_mhz(cpuinfo: dict[str, str]) -> float | None:
    """Return the current clock of the first CPU in MHz; None where /proc/cpuinfo has none, as on ARM."""
    text = cpuinfo.get("cpu MHz", cpuinfo.get("clock", "")).removesuffix("MHz")
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def cpu_accounting(root: Path) -> Literal["precise", "ticks"] | None:
    """Return how the kernel divides CPU time into user and system time; None where its configuration is not visible.

    It measures both natively on some architectures, or on CPUs that run without a tick; else it samples at the tick.
    """
    config = kernel_config(root)
    if not config:
        return None
    is_measured = "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y" in config
    is_tickless = "CONFIG_VIRT_CPU_ACCOUNTING_GEN=y" in config and "nohz_full=" in read_or_empty(root / "proc/cmdline")
    return "precise" if is_measured or is_tickless else "ticks"


def kernel_config(root: Path) -> str:
    """Return the configuration of the running kernel; empty where it is not visible."""
    release = read_or_empty(root / "proc/sys/kernel/osrelease")
    try:
        packed = read_whole(root / "proc/config.gz", _MOST_CONFIG)
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, _MOST_CONFIG).decode("utf-8", "replace")
    except (OSError, zlib.error):
        return read_or_empty(root / f"boot/config-{release}") if release else ""


def architecture(root: Path) -> str | None:
    """Return the kernel's name of the instruction set, such as x86_64 (a file since Linux 6.1)."""
    return read_or_empty(root / "proc/sys/kernel/arch") or (os.uname().machine if root == Path("/") else None)


def distribution(root: Path) -> str | None:
    """Return the name and version of the distribution, by /etc/os-release."""
    named = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_or_empty(root / "etc/os-release"), re.MULTILINE)
    return named[1].strip() if named else None


def disk_rotational(root: Path) -> bool | None:
    """Return whether the disk of / has rotating plates; None where / lies on no disk of its own."""
    mounts = (line.split() for line in read_or_empty(root / "proc/self/mountinfo").splitlines())
    devices = [words[2] for words in mounts if len(words) > 4 and words[4] == "/"]
    if not devices or not re.fullmatch(r"\d+:\d+", devices[-1]):
        return None
    device = (root / "sys/dev/block" / devices[-1]).resolve()
    folders = (device, device.parent)  # a partition has no queue
    flag = next(filter(None, (read_or_empty(folder / "queue/rotational") for folder in folders)), "")
    return flag == "1" if flag else None


def compiler() -> str | None:
    """Return the first line that the C compiler prints of its version; None where there is none."""
    program = shutil.which("cc")
    printed = run_for_text([program, "--version"], TIMEOUT_S) if program else None
    lines = printed[0].splitlines() if printed else []
    return lines[0].strip()[:200] or None if lines else None


def run_for_text(argv: Sequence[str], timeout_s: float) -> tuple[str, str] | None:
    """Run a program and return its output and errors; None where it fails or does not end in time."""
    try:
        done = subprocess.run(
            argv, env={"LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=timeout_s, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (done.stdout, done.stderr) if done.returncode == 0 else None


def read_or_empty(file: Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


# Counted by zones of memory, and added up.
_SUMS = ("allocstall",)
# In pages, as they are; a background limit at or above the other is half of it, which the settings do not show.
LIMITS = ("nr_dirty_threshold", "nr_dirty_background_threshold")
# A guest may have written both: what is longer is no /proc/vmstat, and no count of 64 bits.
_MAX_BYTES, _COUNT = 64 << 10, re.compile("[0-9]{1,20}")


def read_counters(root: Path = Path("/")) -> dict[str, int] | None:
    """Read counters and limits of /proc/vmstat; those of other kernels are absent, None if it has none."""
    try:
        lines = [line.split() for line in read_below(root, "proc/vmstat", _MAX_BYTES).splitlines()]
    except OSError:
        return None
    counts = {words[0]: int(words[1]) for words in lines if len(words) == 2 and _COUNT.fullmatch(words[1])}
    counters = {name: counts[name] for name in COUNTERS if name in counts}
    for name in _SUMS:
        parts = [count for key, count in counts.items() if key == name or key.startswith(f"{name}_")]
        counters |= {name: sum(parts)} if parts else {}
    return {name: min(count, LAST) for name, count in counters.items()} or None


def counter_changes(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> dict[str, int] | None:
    """Return what was counted between two readings, and the limits at the second one; None without both."""
    if before is None or after is None:
        return None
    counts = {name: max(0, after[name] - before[name]) for name in after if name in before and name not in LIMITS}
    return {**counts, **{name: after[name] for name in LIMITS if name in after}}


LAUNCH_S = 20
_PROPERTY = re.compile(r"^\s+(java\.[a-z.]+) = (.*)$", re.MULTILINE)
# A word in the vendor's name -> the word that people use.
_VENDORS = {
    "debian": "debian", "ubuntu": "ubuntu", "adoptium": "temurin", "amazon": "corretto", "azul": "zulu",
    "red hat": "redhat", "bellsoft": "liberica", "ibm": "semeru", "microsoft": "microsoft", "graalvm": "graalvm",
    "sap": "sapmachine", "oracle": "oracle",
}  # fmt: skip


def find_jvms(
    root: Path = Path("/"), environ: Mapping[str, str] = os.environ, cache: Path | None = None
) -> tuple[Jvm, ...]:
    """Find JVMs in order of preference: JAVA_HOME, PATH, /usr/lib/jvm. The first is the default of a study.

    A launcher that does not answer is omitted. Answers are cached in the folder `cache` until the launcher changes.
    """
    jvms: list[Jvm] = []
    seen: set[Path] = set()
    for candidate in _candidates(root, environ):
        java = candidate.resolve()
        if java in seen or not _is_program(java):
            continue
        seen.add(java)
        if properties := _read_properties(java, cache):
            jvms.append(_jvm(java, properties, _name(properties, {jvm.name for jvm in jvms})))
    return tuple(jvms)


def ask_jvms(paths: Sequence[str], cache: Path | None = None) -> tuple[Jvm, ...]:
    """Return the JVMs with launchers at these paths, each named by its path. One that does not answer is omitted."""
    launchers = [Path(path) for path in dict.fromkeys(paths)]
    asked = ((java, _read_properties(java, cache)) for java in launchers if _is_program(java))
    return tuple(_jvm(java, properties, str(java)) for java, properties in asked if properties)


def parse_jvms(answers: Iterable[tuple[str, bool, str]]) -> tuple[Jvm, ...]:
    """Parse the JVMs of another machine from answers: path, whether a compiler lies beside it, printed properties."""
    jvms: list[Jvm] = []
    for path, has_compiler, output in answers:
        properties = _parse_properties(output)
        if _is_java(properties):
            jvm = _jvm(Path(path), properties, _name(properties, {other.name for other in jvms}))
            jvms.append(jvm.model_copy(update={"javac": str(Path(path).parent / "javac") if has_compiler else None}))
    return tuple(jvms)


def assume_jvms(paths: Sequence[str]) -> tuple[Jvm, ...]:
    """Return the programs at these paths as JVMs of the latest release, without starting them."""
    launchers = [Path(path) for path in dict.fromkeys(paths)]
    return tuple(
        Jvm(name=str(java), java=str(java), release=LATEST, build="assumed") for java in launchers if _is_program(java)
    )


def _candidates(root: Path, environ: Mapping[str, str]) -> Iterable[Path]:
    home = environ.get("JAVA_HOME")
    folders = [*([f"{home}/bin"] if home else []), *environ.get("PATH", "").split(":")]
    yield from (root / folder.lstrip("/") / "java" for folder in folders if folder.startswith("/"))
    yield from sorted((root / "usr/lib/jvm").glob("*/bin/java"))


def _is_program(path: Path) -> bool:
    # os.path: a folder that we may not read has no program for us, and is no error
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113


def _jvm(java: Path, properties: Mapping[str, str], name: str) -> Jvm:
    javac = java.parent / "javac"
    build = properties.get("java.runtime.version") or properties["java.version"]
    return Jvm(
        name=name, java=str(java), release=_release(properties["java.version"]), build=build,
        vendor=properties.get("java.vendor", ""), javac=str(javac) if _is_program(javac) else None,
    )  # fmt: skip


def _release(version: str) -> int:
    """Return the feature release: 8 of "1.8.0_292", 17 of "17.0.15", 25 of "25-ea"."""
    numbers = [int(number) for number in re.findall(r"\d{1,9}", version)]
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def _name(properties: Mapping[str, str], taken: set[str]) -> str:
    """Name a JVM: `17` for the first of its release, then `17-debian`, then `17-debian-2`."""
    release = str(_release(properties["java.version"]))
    vendor = properties.get("java.vendor", "").lower()
    word = next((name for part, name in _VENDORS.items() if part in vendor), "other")
    names = [release, f"{release}-{word}", *(f"{release}-{word}-{n}" for n in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def _read_properties(java: Path, cache: Path | None) -> Mapping[str, str]:
    """Return the properties that a launcher prints; empty if it is of no use. A failure is never cached."""
    kept = cache / f"{_identity(java)}.json" if cache else None
    if properties := _read_cached(kept):
        return properties
    output, errors = run_for_text([str(java), "-XshowSettings:properties", "-version"], LAUNCH_S) or ("", "")
    properties = _parse_properties(errors + output)
    if not _is_java(properties):
        return {}
    if kept:
        _write_cached(kept, properties)
    return properties


def _identity(java: Path) -> str:
    status = java.stat()
    return hashlib.sha256(f"{java}\0{status.st_mtime_ns}\0{status.st_size}\0{status.st_ino}".encode()).hexdigest()[:32]


def _read_cached(file: Path | None) -> dict[str, str]:
    if file is None:
        return {}
    try:
        properties = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    plain = isinstance(properties, dict) and all(isinstance(text, str) for text in properties.values())
    return properties if plain and _is_java(properties) else {}


def _write_cached(file: Path, properties: Mapping[str, str]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(file) as stream:
            stream.write(json.dumps(properties).encode())
    except OSError:
        pass  # asked again next time, which costs a tenth of a second


def _parse_properties(output: str) -> dict[str, str]:
    properties = dict(_PROPERTY.findall(output))
    wanted = ("java.version", "java.runtime.version", "java.vendor")
    return {name: properties[name] for name in wanted if name in properties}


def _is_java(properties: Mapping[str, str]) -> bool:
    return bool(re.search(r"\d", properties.get("java.version", "")))
