"""Scheduling policy and nice value of a run."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from scalograph.control.base import Launch, Level, LevelError
from scalograph.facts import HostFacts

_REAL_TIME = {"fifo": os.SCHED_FIFO, "rr": os.SCHED_RR}
_PLAIN = {"other": os.SCHED_OTHER, "batch": os.SCHED_BATCH, "idle": os.SCHED_IDLE}
_FIX = "run with the privilege (CAP_SYS_NICE), or leave the level out"


# Names under which facts keep what is refused.
REAL_TIME, NEGATIVE_NICE = "real-time policy", "negative nice"


def attempt(change: Callable[[], object]) -> str | None:
    """Try a change of scheduling in a child that ends at once: why the kernel refuses it, None where it is granted."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            change()
        except OSError as error:
            code = min(error.errno or 1, 255)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return os.strerror(code) if code else None


def refused_scheduling() -> dict[str, str]:
    """What this process may not set, with the kernel's reason."""
    tried = {
        REAL_TIME: attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
        NEGATIVE_NICE: attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, -1)),
    }
    return {name: why for name, why in tried.items() if why}


def parse_policy(level: Level) -> tuple[str, int]:
    """Policy and static priority of a level: "batch", "fifo" (priority 1), "rr:10".

    Raises:
        LevelError: unknown policy, or a priority out of range.
    """
    name, _, number = str(level).partition(":")
    if name in _PLAIN and not number:
        return name, 0
    if name in _REAL_TIME and (not number or (number.isdecimal() and 1 <= int(number) <= 99)):
        return name, int(number or 1)
    raise LevelError(f"policy {level!r}", "one of other, batch, idle, fifo[:1-99], rr[:1-99]", "correct it")


class PolicyControl:
    """Levels are policies as `parse_policy` reads them."""

    name = "policy"
    kind = "tunable"

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """The levels as written. Raises LevelError for one that is unknown, or that this kernel refuses to us."""
        for level in levels:
            name, _ = parse_policy(level)
            if name in _REAL_TIME and REAL_TIME in facts.refused:
                raise LevelError(f"policy {level} is refused here ({facts.refused[REAL_TIME]})", "a granted one", _FIX)
        return list(levels)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Set by the probe before the program starts."""
        policy, priority = parse_policy(level)
        return replace(launch, policy=policy, priority=priority)

    def hold(self, level: Level, facts: HostFacts) -> AbstractContextManager[None]:
        """Nothing on the machine changes."""
        return nullcontext()

    def read_back(self, level: Level, facts: HostFacts, record: Mapping[str, Any]) -> list[str]:
        """Whether each copy got it."""
        wanted = parse_policy(level)
        found = {(c["in_force"]["policy"], c["in_force"]["priority"]) for c in record["copies"] if c["in_force"]}
        return [f"policy: asked for {level}, in force was {name}:{p}" for name, p in sorted(found - {wanted})]


class NiceControl:
    """Levels are nice values."""

    name = "nice"
    kind = "tunable"

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """The levels as written. Raises LevelError for what is none, or what is refused to us."""
        for level in levels:
            if isinstance(level, bool) or not isinstance(level, int) or not -20 <= level <= 19:
                raise LevelError(f"nice {level!r}", "an integer from -20 to 19", "correct it")
            if level < 0 and NEGATIVE_NICE in facts.refused:
                raise LevelError(f"nice {level} is refused here ({facts.refused[NEGATIVE_NICE]})", "0 to 19", _FIX)
        return list(levels)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Set by the probe before the program starts."""
        return replace(launch, nice=int(level))

    def hold(self, level: Level, facts: HostFacts) -> AbstractContextManager[None]:
        """Nothing on the machine changes."""
        return nullcontext()

    def read_back(self, level: Level, facts: HostFacts, record: Mapping[str, Any]) -> list[str]:
        """Whether each copy got it."""
        found = {copy["in_force"]["nice"] for copy in record["copies"] if copy["in_force"]}
        return [f"nice: asked for {level}, in force was {nice}" for nice in sorted(found - {level})]
