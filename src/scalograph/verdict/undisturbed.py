"""Undisturbed time: the time that a run would have taken had nobody else used its CPUs.

It lies between two ends. These come from the record: from a replay of switches and wake-ups, or from the waits of a run
with one task (docs/decisions/0026-undisturbed-time.md).
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from scalograph.protocol.record import CopyEvent, Record, RunFigures
from scalograph.protocol.record_processes import Replay
from scalograph.study.responses import windows
from scalograph.verdict.cause import PLAY, SHARE, STEAL_TICKS, TICK_NS, Cause
from scalograph.verdict.partners import find_partners
from scalograph.verdict.preemption import had_kernel_threads, is_saturated, kernel_ns, lacks_records, n_cpus

# Only CPU time that others took can be corrected.
CORRECTABLE = ("neighbor", "steal", "observer")
# A second task for less than this share of the time is ignored; sleep above it may have absorbed a wait.
BRIEF = 0.01
# The share of a run's time up to which kept journals do not contradict that steal can be subtracted.
MOST_STOLEN = 0.05
# Ends farther apart than this, as a log, are no correction.
MOST_OPEN = 0.10
# The share of its CPU time from which a program is on one CPU: it may have bound its tasks after a start elsewhere.
BOUND = 0.8


class Ends(Struct, frozen=True, gc=False):
    """Lower and upper end of an undisturbed time, in ns."""

    low_ns: float
    high_ns: float

    @property
    def middle_ns(self) -> float:
        return math.sqrt(self.low_ns * self.high_ns)

    @property
    def open_log(self) -> float:
        """Return half of the distance of the ends, as a log."""
        return math.log(self.high_ns / self.low_ns) / 2


def has_one_task(run: RunFigures) -> bool:
    """Tell whether two tasks of a run were running or ready together for less than 1% of its time."""
    return run.n_tasks == 1 if run.replay is None else run.replay.overlap_ns < BRIEF * (run.wall_ns or 0)


CpuUse = Literal["", "one", "several", "kept"]


def cpu_use(record: Record) -> CpuUse:
    """Return on how many CPUs several tasks of a run ran together, of those that they were given.

    `one`: as if they were bound to it, while another was idle; `kept`: on one, but others kept all of them busy, which
    shows nothing; empty: there was one CPU, or one task.
    """
    used = record.run.per_cpu_ns or ()
    if not used or n_cpus(record) == 1 or has_one_task(record.run):
        return ""
    if max(used) <= BOUND * sum(used):
        return "several"
    return "kept" if is_saturated(record) else "one"


def undisturbed_run(record: Record) -> Ends | None:
    """Return the undisturbed time of a whole run; None if its record does not give it."""
    run, steal = record.run, _correctable_steal(record)
    if steal is None:
        return None
    if run.replay is not None:
        return _replay_ends(record, run.replay, steal)
    if not has_one_task(run) or len(record.copies) != 1 or run.wait_ns is None:
        return None
    # The wait of a single task after a wake-up is not recorded. It is at most the time in which it had no CPU.
    wall, on_cpu = float(run.wall_ns or 0), sum(run.per_cpu_ns or ())
    asleep = max(0.0, wall - on_cpu - run.wait_ns)
    least = wall - run.wait_ns - steal.most_ns - asleep
    most = wall - run.wait_ns - steal.least_ns + _kernel_doubt(record)
    if _is_impossible(run.cpu_ns or 0, most):
        return None
    return _ends(least, wall if asleep > BRIEF * wall else most, wall)


def undisturbed_windows(record: Record) -> list[Ends] | None:
    """Return the undisturbed time of each iteration, over all copies; None if the record does not give it."""
    parts, run = record.iterations, record.run
    if any(part.low_ns is None or part.high_ns is None or part.sleep_ns is None for part in parts):
        return None
    steal = _correctable_steal(record)
    if steal is None or not parts or not run.wall_ns:
        return None
    share, n = steal.most_ns / run.wall_ns, n_cpus(record)
    by_index: dict[int, list[tuple[float, float, float]]] = {}
    for part in parts:
        bounds = zip(part.low_ns or (), part.high_ns or (), part.sleep_ns or (), strict=True)
        times = zip(part.index, part.start_ns, part.end_ns, part.cpu_ns, bounds, strict=True)
        for index, start, end, cpu, (low, high, asleep) in times:
            wall = end - start
            least = max(low, (cpu or 0) / n) - share * wall
            by_index.setdefault(index, []).append((least, wall if asleep > BRIEF * wall else high, wall))
    every = [_slowest(by_index[index]) for index in sorted(by_index)]
    ends = [ends for ends in every if ends is not None]
    return ends if len(ends) == len(every) else None


def is_corrected(record: Record, causes: Sequence[Cause], with_windows: bool) -> bool:
    """Tell whether undisturbed time corrects all causes of a run, `with_windows` in each iteration."""
    if not causes or any(cause.cause not in CORRECTABLE for cause in causes):
        return False
    whole = undisturbed_run(record)
    every = undisturbed_windows(record) if with_windows and record.iterations else [whole] if whole else None
    return bool(every) and max(ends.open_log for ends in every or ()) <= MOST_OPEN / 2


class _Steal(NamedTuple):
    """Ends of the steal of a run."""

    least_ns: float = 0.0
    most_ns: float = 0.0


def _correctable_steal(record: Record) -> _Steal | None:
    """Return the steal of a run; None if its record allows no correction at all.

    CPU time excludes steal and switch records include it, so their difference is steal in ns.
    """
    run = record.run
    if not run.wall_ns or run.cpu_ns is None or lacks_records(run) or record.processes or record.guest:
        return None
    if run.quota_cpus:  # what the quota held back looks like a wait for others
        return None
    if (run.replay and run.replay.partners) or find_partners(run) or run.n_survivors:
        return None
    if not has_one_task(run) and any(map(_is_confined, record.copies)):
        return None
    if not run.steal_ns:
        return _Steal()
    # Steal never exceeds its ticks plus one.
    most = run.steal_ns + TICK_NS
    if run.cpu_source != "cgroup":
        return _Steal(0.0, most) if run.steal_ns < STEAL_TICKS * TICK_NS else None
    stolen = float(max(0, min(sum(run.per_cpu_ns or ()) - run.cpu_ns, most)))
    return _Steal(stolen, stolen) if stolen <= MOST_STOLEN * run.wall_ns else None


def _is_confined(copy: CopyEvent) -> bool:
    """Tell whether a program took CPUs from itself, for which its tasks then wait, whoever has the others."""
    end = copy.placement_at_end
    return copy.in_force is not None and end is not None and set(end.cpus) < set(copy.in_force.cpus)


def _is_impossible(needed_ns: float, most_ns: float) -> bool:
    """Tell whether a run used more CPU time than it can have had: its record contradicts itself."""
    return needed_ns > PLAY * most_ns + 2 * TICK_NS


def _kernel_doubt(record: Record) -> int:
    """Return the CPU time of kernel threads in ns, if they may have worked for the run; else 0."""
    return kernel_ns(record.run) if had_kernel_threads(record) else 0


def _replay_ends(record: Record, replay: Replay, steal: _Steal) -> Ends | None:
    run = record.run
    wall, needed = float(run.wall_ns or 0), (run.cpu_ns or 0) / n_cpus(record)
    low, high = replay.low_ns - steal.most_ns, float(replay.high_ns + _kernel_doubt(record))
    if _is_impossible(needed, high):
        return None
    if has_one_task(run):  # all steal delayed its only task
        high -= steal.least_ns
    if replay.sleep_ns > BRIEF * wall:  # a sleep that ends by a timer may have absorbed the wait before it
        high = wall
    return _ends(max(low, needed), high, wall)  # its CPUs need at least that long for its work


def _slowest(copies: Sequence[tuple[float, float, float]]) -> Ends | None:
    lows, highs, walls = zip(*copies, strict=True)
    return _ends(max(lows), max(highs), max(walls))


def _ends(low: float, high: float, wall: float) -> Ends | None:
    """Return ends in order and at most the wall time; None unless both are above 0."""
    high = min(max(high, low), wall)
    low = min(low, high)
    return Ends(low, high) if low > 0 else None


def corrected_times(record: Record, elapsed: str, warmup: int) -> list[float]:
    """Return undisturbed times in s of a run from which others took 2% or more; empty for other runs.

    Args:
        record: of the run.
        elapsed: source of a response in `ELAPSED`.
        warmup: iterations that do not count.
    """
    whole, wall = undisturbed_run(record), record.run.wall_ns or 0
    if whole is None or whole.open_log > MOST_OPEN / 2 or whole.middle_ns > (1 - SHARE) * wall:
        return []
    return [ends.middle_ns / 1e9 for ends in undisturbed_observations(record, elapsed, warmup)]


def undisturbed_observations(record: Record, elapsed: str, warmup: int, most_taken: float = 1.0) -> list[Ends]:
    """Return the undisturbed time of each observation of an elapsed time; empty if the record does not give it.

    Args:
        record: of the run.
        elapsed: source of a response in `ELAPSED`.
        warmup: iterations that do not count.
        most_taken: largest share of its time that others may have taken.
    """
    taken_ns = most_taken * (record.run.wall_ns or 0)
    if elapsed.startswith("window.") and record.iterations:
        every = (undisturbed_windows(record) or [])[warmup:]
        walls = [1e9 * s for s in windows(record).wall_s[warmup:]] if every else []
    else:
        whole = undisturbed_run(record)
        every, walls = [whole] if whole else [], [float(record.run.wall_ns or 0)]
    bounded = (
        _ends(max(ends.low_ns, wall - taken_ns), ends.high_ns, wall) for ends, wall in zip(every, walls, strict=False)
    )
    return [ends for ends in bounded if ends is not None]
