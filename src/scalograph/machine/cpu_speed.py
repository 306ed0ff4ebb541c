"""Check whether a CPU does the same work in the same time: not if another guest has the other thread of its core.

Nothing in a guest counts that: no CPU time is stolen, no task waits, and runs are clean. It shows in the work itself.
"""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from statistics import median

from scalograph.machine.examine import MORE_RUNS, Check
from scalograph.text.format import format_cpu_list

# Slices of some 5 ms, over three seconds: phases last from 10 ms to minutes.
N_SLICES, STEPS, PAUSE_S = 60, 50_000, 0.03
# A slice that takes so many times the CPU time of the fastest is slow; other programs on the CPU move it less.
SLOW = 1.2
# Fewer slow ones are timer ticks and cold caches.
LEAST_SHARE = 0.05
Slices = Mapping[int, Sequence[float]]


def time_slices(cpus: Collection[int]) -> Slices:
    """Time slices of the same work, in seconds of CPU time, on the first and the last of these CPUs."""
    ordered, slices = sorted(cpus), dict[int, list[float]]()
    mask = os.sched_getaffinity(0)
    try:
        for _ in range(N_SLICES):
            for cpu in {*ordered[:1], *ordered[-1:]}:
                os.sched_setaffinity(0, {cpu})
                _slice(STEPS // 4)  # a CPU that was idle is not at its speed yet
                slices.setdefault(cpu, []).append(_slice(STEPS))
            time.sleep(PAUSE_S)
    except OSError:  # a CPU that was taken away meanwhile
        pass
    finally:
        os.sched_setaffinity(0, mask)
    return slices


def _slice(steps: int) -> float:
    x, began = 1, time.thread_time()
    for _ in range(steps):
        x = x * 1103515245 + 12345 & 0x7FFFFFFF
    return time.thread_time() - began


def slow_share(slices: Sequence[float], fastest: float) -> tuple[float, float]:
    """Return the share of slices that were slow, and how many times the fastest one these took (1 if there are none).

    >>> slow_share([2.0] * 60 + [3.0] * 40, 2.0)
    (0.4, 1.5)
    """
    slow = [seconds for seconds in slices if seconds > SLOW * fastest]
    return len(slow) / len(slices), median(slow) / fastest if slow else 1.0


def check_speed(slices: Slices, is_guest: bool, are_alike: bool = True) -> Check:
    """Check whether these CPUs kept their speed. In a guest a hypervisor may give the core to others.

    `are_alike` says that all CPUs are of one kind, so that one that was slow all the time shows beside another.
    """
    best = {cpu: min(times) for cpu, times in slices.items()}
    if are_alike:
        best = dict.fromkeys(best, min(best.values()))
    name, shares = "CPU speed", {cpu: slow_share(times, best[cpu]) for cpu, times in slices.items()}
    changing = {cpu: each for cpu, each in shares.items() if each[0] >= LEAST_SHARE}
    if not changing:
        return Check(name, "info", f"steady: CPU {format_cpu_list(shares)} did equal work in equal time")
    parts = [
        f"{times:.1f} times as long in {100 * share:.0f}% of {len(slices[cpu])} slices on CPU {cpu}"
        for cpu, (share, times) in changing.items()
    ]
    cause = "another guest on the same core" if is_guest else "the clock, or the core's other thread"
    reason = f"no counter shows it, so clean runs differ by as much; probable cause: {cause}"
    fix = "make more runs, or use a machine that shares no core"
    return Check(name, "warning", f"the same work takes {', '.join(parts)}", reason, fix, MORE_RUNS)
