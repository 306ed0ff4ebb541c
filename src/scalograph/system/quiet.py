"""Samples of the load on our CPUs, taken while no run of ours is active."""

import os
import re
import resource
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# The length of a sample. /proc/stat counts ticks of 10 ms: one is 2% of half a second.
SAMPLE_S = 0.5
# A sample without a tick until then ends: a process with a tenth of a CPU would have two or three.
FIRST_SAMPLE_S = 0.25
# The startup of a command may stand for a sample, unless it took longer: who came at its end would be missed.
LONGEST_START_S = 2.0
# Below this, a sample cannot distinguish interference from the ticks of any machine.
BUSY = 0.10
_HZ = os.sysconf("SC_CLK_TCK")
_COUNT = re.compile("[0-9]{1,20}")  # another machine may tell anything

Ticks = Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class LoadSample:
    """Shares of one sample, for each CPU that we may use.

    `busy` is what other processes and the hypervisor used together, `stolen` the hypervisor's part; empty if unknown.
    """

    busy: Mapping[int, float]
    stolen: Mapping[int, float] = field(default_factory=dict)

    @property
    def quiet(self) -> bool:
        """Whether nobody had a CPU for a tenth of the sample."""
        return max(self.busy.values(), default=0.0) < BUSY

    def __str__(self) -> str:
        busy = {cpu: share for cpu, share in self.busy.items() if share >= BUSY}
        taken = {cpu: share for cpu, share in busy.items() if 2 * self.stolen.get(cpu, 0.0) > share}
        used = {cpu: share for cpu, share in busy.items() if cpu not in taken}
        parts = [_describe_shares("used by others", used), _describe_shares("taken by the hypervisor", taken)]
        return "; ".join(filter(None, parts)) or "quiet"


def _describe_shares(who: str, shares: Mapping[int, float]) -> str:
    parts = [f"CPU {cpu} {100 * share:.0f}%" for cpu, share in shares.items()]
    more = f" and {len(parts) - 4} more" if len(parts) > 4 else ""
    return f"{who}: {', '.join(parts[:4])}{more}" if parts else ""


@dataclass(frozen=True)
class Reading:
    """Ticks of our CPUs (`_ticks`) at a moment of the monotonic clock, and CPU seconds of us and our ended children."""

    ticks: Ticks
    own_s: float
    at_s: float


# Of the command that begins, until its first sample.
_start_readings: list[Reading] = []


def remember_start(root: Path = Path("/")) -> None:
    """Read the load as a command begins: its first sample may reach back to here."""
    _start_readings[:] = [_reading(root)]


def sample_load(sleep: Callable[[float], None] = time.sleep, root: Path = Path("/")) -> LoadSample:
    """Sample the CPUs that this process may use, for at most `SAMPLE_S` seconds.

    A command that has begun a moment ago, and had the CPUs to itself since, need not wait for the time that has passed.
    `sleep` waits; tests pass time by hand.
    """
    if _start_readings and (start := _startup_sample(_start_readings.pop(), sleep, root)):
        return start
    before = _reading(root)
    sleep(FIRST_SAMPLE_S)
    if (after := _reading(root)).ticks != before.ticks:
        sleep(SAMPLE_S - FIRST_SAMPLE_S)
        after = _reading(root)
    return _load_sample(before, after, max(SAMPLE_S, after.at_s - before.at_s))


def parse_load(first: str, second: str, cpus: Iterable[int], passed_s: float) -> LoadSample:
    """Return the load of another machine, where we do nothing, from two texts of its /proc/stat, seconds apart."""
    texts = ((first, 0.0), (second, passed_s))
    before, after = (Reading(_parse_ticks(text.splitlines(), cpus), 0.0, at_s) for text, at_s in texts)
    return _load_sample(before, after, passed_s)


def _load_sample(before: Reading, after: Reading, passed_s: float) -> LoadSample:
    busy, stolen = dict[int, float](), dict[int, float]()
    for cpu in sorted(before.ticks.keys() & after.ticks.keys()):
        used, stolen[cpu] = (
            min(1.0, max(0.0, (now - then) / _HZ / passed_s))
            for now, then in zip(after.ticks[cpu], before.ticks[cpu], strict=True)
        )
        # On which CPU we ran is not known: what is left is what others had at least.
        busy[cpu] = min(1.0, max(0.0, used - (after.own_s - before.own_s) / passed_s) + stolen[cpu])
    return LoadSample(busy, stolen)


def _startup_sample(before: Reading, sleep: Callable[[float], None], root: Path) -> LoadSample | None:
    """Return the sample that our startup was; None where others had more than half of what makes one CPU busy.

    Where we ran is not known, so that what we used is taken from the sum of all CPUs.
    """
    if (left_s := before.at_s + FIRST_SAMPLE_S - time.monotonic()) > 0:
        sleep(left_s)
    after = _reading(root)
    passed_s = after.at_s - before.at_s
    if passed_s > LONGEST_START_S or not before.ticks or before.ticks.keys() != after.ticks.keys():
        return None
    used = sum(sum(after.ticks[cpu]) - sum(before.ticks[cpu]) for cpu in before.ticks)
    others = max(0.0, used / _HZ - (after.own_s - before.own_s)) / passed_s
    return LoadSample(dict.fromkeys(before.ticks, others)) if others < BUSY / 2 else None


def _reading(root: Path) -> Reading:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Reading(_ticks(root), sum(usage.ru_utime + usage.ru_stime for usage in used), time.monotonic())


def _ticks(root: Path) -> Ticks:
    """Return (busy, stolen) ticks of each CPU that we may use, since boot; empty if /proc/stat cannot be read."""
    try:
        lines = (root / "proc/stat").read_text().splitlines()
    except OSError:
        return {}
    return _parse_ticks(lines, os.sched_getaffinity(0))


def _parse_ticks(lines: Iterable[str], cpus: Iterable[int]) -> Ticks:
    mine = {f"cpu{cpu}": cpu for cpu in sorted(cpus)}
    rows = ((words[0], words[1:9]) for words in map(str.split, lines) if words and words[0] in mine)
    return {
        mine[name]: _sum_ticks(fields)
        for name, fields in rows
        if len(fields) == 8 and all(map(_COUNT.fullmatch, fields))
    }


def _sum_ticks(fields: list[str]) -> tuple[int, int]:
    user, nice, system, _idle, _iowait, irq, softirq, stolen = map(int, fields)
    return user + nice + system + irq + softirq, stolen
