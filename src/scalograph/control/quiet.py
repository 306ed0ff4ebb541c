"""Is the machine quiet now? A short look while no run of ours is active."""

import os
import resource
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# The length of a look. /proc/stat counts ticks of 10 ms: one is 2 % of half a second.
LOOK_S = 0.5
# A look without a tick until then ends: a neighbor with a tenth of a CPU would have two or three.
GLANCE_S = 0.25
# A start of ours may stand for a look, unless it took longer: who came at its end would be missed.
LONGEST_START_S = 2.0
# Below this, a look cannot distinguish a neighbor from the ticks of any machine.
BUSY = 0.10
_HZ = os.sysconf("SC_CLK_TCK")

Ticks = Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Look:
    """Shares of one look: `busy` of each CPU that we may use, the work of others and of the hypervisor together."""

    busy: Mapping[int, float]

    @property
    def quiet(self) -> bool:
        """Whether no CPU was used by others for a tenth of the look."""
        return max(self.busy.values(), default=0.0) < BUSY

    def __str__(self) -> str:
        told = [f"CPU {cpu} {100 * share:.0f} %" for cpu, share in self.busy.items() if share >= BUSY]
        more = f" and {len(told) - 4} more" if len(told) > 4 else ""
        return f"used by others: {', '.join(told[:4])}{more}" if told else "quiet"


@dataclass(frozen=True)
class Reading:
    """What our CPUs had done at a moment, and what of it we had.

    Attributes:
        ticks: of each CPU that we may use (`_ticks`).
        own_s: CPU time of this process and of its children that have ended.
        at_s: of the monotonic clock.
    """

    ticks: Ticks
    own_s: float
    at_s: float


# Of the command that begins, until its first look.
_begun: list[Reading] = []


def begin(root: Path = Path("/")) -> None:
    """Remember how the machine is as a command begins: its first look may reach back to here."""
    _begun[:] = [_reading(root)]


def look(sleep: Callable[[float], None] = time.sleep, root: Path = Path("/")) -> Look:
    """Look for at most `LOOK_S` seconds at the CPUs that this process may use.

    A command that has begun a moment ago, and had the CPUs to itself since, need not wait for the time that has passed.

    Args:
        sleep: how to wait; tests pass time by hand.
        root: where /proc is.
    """
    if _begun and (start := _since(_begun.pop(), sleep, root)):
        return start
    before, began = _ticks(root), time.monotonic()
    sleep(GLANCE_S)
    if (after := _ticks(root)) != before:
        sleep(LOOK_S - GLANCE_S)
        after = _ticks(root)
    return _seen(before, after, max(LOOK_S, time.monotonic() - began))


def between(first: str, second: str, cpus: Iterable[int], passed_s: float) -> Look:
    """Return the look at another machine that two texts of its /proc/stat are, so many seconds apart."""
    before, after = (_read(text.splitlines(), cpus) for text in (first, second))
    return _seen(before, after, passed_s)


def _seen(before: Ticks, after: Ticks, passed_s: float) -> Look:
    used = {cpu: sum(after[cpu]) - sum(before[cpu]) for cpu in before if cpu in after}
    return Look({cpu: min(1.0, max(0.0, ticks / (passed_s * _HZ))) for cpu, ticks in used.items()})


def _since(before: Reading, sleep: Callable[[float], None], root: Path) -> Look | None:
    """Return the look that a start of ours was; None where others had more than half of what makes one CPU busy.

    Where we ran is not known, so that what we used is taken from the sum of all CPUs.
    """
    if (left_s := before.at_s + GLANCE_S - time.monotonic()) > 0:
        sleep(left_s)
    after = _reading(root)
    passed_s = after.at_s - before.at_s
    if passed_s > LONGEST_START_S or not before.ticks or before.ticks.keys() != after.ticks.keys():
        return None
    used = sum(sum(after.ticks[cpu]) - sum(before.ticks[cpu]) for cpu in before.ticks)
    others = max(0.0, used / _HZ - (after.own_s - before.own_s)) / passed_s
    return Look(dict.fromkeys(before.ticks, others)) if others < BUSY / 2 else None


def _reading(root: Path) -> Reading:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Reading(_ticks(root), sum(one.ru_utime + one.ru_stime for one in used), time.monotonic())


def _ticks(root: Path) -> Ticks:
    """Return (busy, stolen) ticks of each CPU that we may use, since boot; empty if /proc/stat cannot be read."""
    try:
        lines = (root / "proc/stat").read_text().splitlines()
    except OSError:
        return {}
    return _read(lines, os.sched_getaffinity(0))


def _read(lines: Iterable[str], cpus: Iterable[int]) -> Ticks:
    mine = {f"cpu{cpu}": cpu for cpu in sorted(cpus)}
    return {mine[words[0]]: _of(words[1:]) for words in map(str.split, lines) if words and words[0] in mine}


def _of(fields: list[str]) -> tuple[int, int]:
    user, nice, system, _idle, _iowait, irq, softirq, stolen = map(int, fields[:8])
    return user + nice + system + irq + softirq, stolen
