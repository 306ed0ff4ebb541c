"""Scheduling policy and nice value of a run."""

import bisect
import errno
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import InForce, Record
from scalograph.study.scalars import suggest
from scalograph.system.cgroups import read

_REAL_TIME = {"fifo": os.SCHED_FIFO, "rr": os.SCHED_RR}
_PLAIN = ("other", "batch", "idle", "ext")
_FIX = "run with the privilege (CAP_SYS_NICE), or omit the level"
EXT_FIX = "boot a kernel with CONFIG_SCHED_CLASS_EXT and start a scheduler, or omit the level"

# Names under which the facts keep the reason of a refusal.
REAL_TIME, NEGATIVE_NICE, EXT = "real-time policy", "negative nice", "policy ext"


def attempt(change: Callable[[], object]) -> str | None:
    """Try a change of scheduling in a short thread; return why the kernel refuses it, or None if it is granted.

    On Linux, policy and nice value belong to a thread, so nothing else of this process changes; a forked child would
    be no safer, and is not allowed once other threads run.
    """
    answer: list[OSError] = []

    def run_change() -> None:
        try:
            change()
        except OSError as error:
            answer.append(error)

    thread = threading.Thread(target=run_change)
    thread.start()
    thread.join()
    return format_kernel_error(answer[0]) if answer else None


def format_kernel_error(error: OSError) -> str:
    """Format the kernel's error by name and in words.

    >>> format_kernel_error(PermissionError(1, "Operation not permitted"))
    'EPERM: Operation not permitted'
    """
    return f"{errno.errorcode.get(error.errno or 0, 'error')}: {error.strerror}"


def why_no_ext(root: Path) -> str | None:
    """Explain why the policy `ext` would equal `other` here; None if a sched_ext scheduler is active."""
    state = read(root / "sys/kernel/sched_ext/state")
    if state is None:
        return "this kernel has no sched_ext"
    return None if state == "enabled" else f"no sched_ext scheduler is at work: {state}"


@dataclass(frozen=True)
class GrantedScheduling:
    """What this process may set: the highest static priority (0: none), the lowest nice value, and why no more."""

    priority: int
    nice: int
    refused: Mapping[str, str]


def find_granted_scheduling() -> GrantedScheduling:
    """Find the limits by attempts, the extremes first (RLIMIT_RTPRIO, RLIMIT_NICE).

    Every step below our own nice value needs a right: whoever runs at 5 may not go back to 0.
    """
    own = os.getpriority(os.PRIO_PROCESS, 0)

    def set_fifo(priority: int) -> None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))

    priority, why_priority = find_furthest([*range(1, 100)], set_fifo)
    set_nice = partial(os.setpriority, os.PRIO_PROCESS, 0)
    nice, why_nice = find_furthest([*range(own - 1, -21, -1)] or [own], set_nice)
    refused = {REAL_TIME: why_priority, NEGATIVE_NICE: why_nice}
    nice = own if nice is None else nice
    return GrantedScheduling(priority or 0, nice, {name: reason for name, reason in refused.items() if reason})


def find_furthest(values: Sequence[int], change: Callable[[int], None]) -> tuple[int | None, str | None]:
    """Return the last of the values that is granted (all before it are, too), and why the next one is not."""
    reasons: dict[int, str | None] = {}

    def is_refused(value: int) -> bool:
        reasons[value] = attempt(lambda: change(value))
        return reasons[value] is not None

    if not is_refused(values[-1]):
        return values[-1], None
    n_granted = bisect.bisect_left(values, True, key=is_refused)
    return (values[n_granted - 1] if n_granted else None), reasons[values[-1]]


def parse_policy(level: Level) -> tuple[str, int]:
    """Parse policy and static priority of a level: "batch", "fifo" (priority 1), "rr:10". Raises LevelError."""
    name, _, number = str(level).partition(":")
    if name in _PLAIN and not number:
        return name, 0
    if name in _REAL_TIME and (not number or (number.isdecimal() and 1 <= int(number) <= 99)):
        return name, int(number or 1)
    fix = ("" if name in _REAL_TIME else suggest(name, (*_PLAIN, *_REAL_TIME))) or "correct it"
    raise LevelError(f"policy {level!r}", "one of other, batch, idle, ext, fifo[:1-99], rr[:1-99]", fix)


def _describe_refusal(what: str, name: str, facts: HostFacts) -> str:
    reason = facts.refused.get(name)
    return f"{what} is refused here" + (f" ({reason})" if reason else "")


def _scheduling_in_force(record: Record) -> Iterator[InForce]:
    for copy in record.copies:
        yield from (placed for placed in (copy.in_force, copy.placement_at_end) if placed)


class PolicyControl(Control):
    """Levels are policies as `parse_policy` reads them."""

    def check_level(self, level: Level, facts: HostFacts) -> None:
        policy, priority = parse_policy(level)
        if policy == "ext" and EXT in facts.refused:
            raise LevelError(_describe_refusal("policy ext", EXT, facts), "other, batch or idle", EXT_FIX)
        if priority > facts.granted_priority:
            granted = f"fifo and rr up to {facts.granted_priority}, " if facts.granted_priority else ""
            refusal = _describe_refusal(f"policy {level}", REAL_TIME, facts)
            raise LevelError(refusal, f"{granted}other, batch or idle", _FIX)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        policy, priority = parse_policy(level)
        return replace(launch, policy=policy, priority=priority)

    def read_back(self, level: Level, facts: HostFacts, record: Record) -> list[str]:
        wanted = parse_policy(level)
        policies = {(placed.policy, placed.priority) for placed in _scheduling_in_force(record)}
        return [f"policy: asked for {level}, in force was {name}:{p}" for name, p in sorted(policies - {wanted})]


class NiceControl(Control):
    """Levels are nice values."""

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if isinstance(level, bool) or not isinstance(level, int) or not -20 <= level <= 19:
            raise LevelError(f"nice {level!r}", "an integer from -20 to 19", "correct it")
        if level < facts.granted_nice:
            refusal = _describe_refusal(f"nice {level}", NEGATIVE_NICE, facts)
            raise LevelError(refusal, f"{facts.granted_nice} to 19", _FIX)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return replace(launch, nice=int(level))

    def read_back(self, level: Level, facts: HostFacts, record: Record) -> list[str]:
        values = {placed.nice for placed in _scheduling_in_force(record)}
        return [f"nice: asked for {level}, in force was {nice}" for nice in sorted(values - {level})]
