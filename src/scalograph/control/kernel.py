"""Which kernel a run has, and with which options it starts: only a host that boots one for it can set these."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scalograph.control.control import Control, Launch, Level, LevelError, unknown_level
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record

# What the distribution builds of one source.
CONFIGURATIONS = ("generic", "cloud", "rt")
_KERNEL = re.compile(rf"(?:(\d{{1,3}}\.\d{{1,3}})-)?({'|'.join(CONFIGURATIONS)})(?:@([a-z]{{1,32}}))?", re.ASCII)
_OPTIONS = re.compile(r"([\w.,:=@/+-]+( [\w.,:=@/+-]+)*)?", re.ASCII)
_MAX_OPTIONS = 256
# What a guest is reached and ended by.
_OURS = ("console", "panic", "init", "rdinit", "root", "initrd", "loglevel")


class KernelLevel(NamedTuple):
    """A parsed level: the newest kernel of a configuration, perhaps of a family, or of another release."""

    family: str | None
    kind: str
    release: str | None = None


def parse_kernel(level: Level) -> KernelLevel:
    """Parse a level. Raises LevelError.

    >>> parse_kernel("6.1-cloud")
    KernelLevel(family='6.1', kind='cloud', release=None)
    >>> parse_kernel("rt@sid")
    KernelLevel(family=None, kind='rt', release='sid')
    """
    match = _KERNEL.fullmatch(str(level))
    if match is None:
        expected = f"{', '.join(CONFIGURATIONS)}, one of a family (6.1-cloud) or of another release (cloud@sid)"
        raise LevelError(f"kernel {str(level)[:60]!r}", expected, "correct it")
    return KernelLevel(*match.groups())


def _refuse_without_boot(what: str, facts: HostFacts) -> None:
    if facts.accelerator is None:
        expected = "a host that boots a kernel for each run"
        raise LevelError(f"{what} on a machine that runs already", expected, "add --host guest")


def _refuse_missing(level: Level, facts: HostFacts) -> None:
    offered = facts.offered_kernels
    if facts.is_rebooted:
        if level not in offered:
            raise unknown_level(f"kernel {str(level)[:60]!r}, which is not installed there", level, offered)
        return
    family, kind, release = parse_kernel(level)
    if release or not offered:
        return
    if not any(kernel == level or (family is None and kernel.endswith(f"-{kind}")) for kernel in offered):
        fix = f"change the level, or name a release that has it: {level}@RELEASE"
        raise LevelError(f"kernel {level} is not offered here", f"one of {', '.join(offered)}", fix)


class KernelControl(Control):
    """Levels are kernels of the distribution (`parse_kernel`), or "all" that are offered.

    On another machine that is booted for them they are releases of its kernels, as `uname -r` prints them.
    """

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the levels, each once, with "all" resolved where it stands.

        Raises LevelError if one is no kernel, or is not offered, or none is booted here.
        """
        if not facts.is_rebooted:
            _refuse_without_boot("a kernel", facts)
        for level in levels:
            if level != "all":
                _refuse_missing(level, facts)
        if "all" not in levels:
            return list(levels)
        if not facts.offered_kernels:
            fix = "run apt-get update, or name the kernels"
            raise LevelError("no kernel that this machine's sources of packages offer", 'some for "all"', fix)
        resolved = list[Level]()
        for level in levels:
            resolved += facts.offered_kernels if level == "all" else (level,)
        return list(dict.fromkeys(resolved))

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return replace(launch, kernel=str(level))

    def read_back(self, level: Level, facts: HostFacts, record: Record) -> list[str]:
        asked = next((kernel.release for kernel in facts.kernels if kernel.level == level), None)
        if record.guest is None or asked in (None, record.guest.kernel):
            return []
        return [f"kernel: asked for {asked}, in force was {record.guest.kernel}"]


class BootOptionsControl(Control):
    """Levels are words of the kernel's command line, "nosmp" or "mem=512M maxcpus=1" say; "" is none."""

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the levels as written.

        Raises LevelError: one is no text of such words, or sets what a guest is reached by; or no kernel is booted.
        """
        resolved = super().resolve(levels, facts)
        _refuse_without_boot("boot options", facts)
        return resolved

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if not isinstance(level, str) or len(level) > _MAX_OPTIONS or not _OPTIONS.fullmatch(level):
            expected = f"words of the kernel's command line, at most {_MAX_OPTIONS} characters"
            raise LevelError(f"boot options {str(level)[:60]!r}", expected, "correct it")
        for name in (word.partition("=")[0] for word in level.split()):
            if name in _OURS:
                raise LevelError(f"boot option {name}", "another one", "a guest is reached and ended by it")

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return replace(launch, boot_options=f"{launch.boot_options} {level}".strip())

    def read_back(self, level: Level, facts: HostFacts, record: Record) -> list[str]:
        if record.guest is None:
            return []
        words = record.guest.command_line.split()
        missing = [word for word in str(level).split() if word not in words]
        return [f"boot options: asked for {level}, missing was {' '.join(missing)}"] if missing else []
