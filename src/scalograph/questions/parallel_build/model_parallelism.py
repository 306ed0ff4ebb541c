"""How many tasks of a run were on a CPU, from start to end, and when were they fewer than could have been?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray

N_PARTS = 10  # of a course: enough to see a decay, few enough for a table
# A bin holds a mean: one whose last task ended within it lies a little below the whole number.
SLACK = 0.1


@dataclass(frozen=True, slots=True)
class Parallelism:
    """On-CPU tasks of one run.

    Attributes:
        mean: tasks on a CPU, over the window.
        limit: how many could have been: the smaller of what was asked for and of the CPUs.
        below_s: how long they were fewer than 0.9 of the limit, to one bin.
        lost_s: CPU time that could have been used and was not, `limit` x wall less what was used: exact.
        tail_s: how long at the end at most one task was on a CPU, to one bin; the whole window where it never was more.
        wall_s: the window.
        bin_s: width of a bin.
        tasks: mean tasks on a CPU in each bin of the window, shape (n_bins,).
        course: mean tasks on a CPU in each tenth of the window, shape (10,).
    """

    mean: float
    limit: float
    below_s: float
    lost_s: float
    tail_s: float
    wall_s: float
    bin_s: float
    tasks: FloatArray
    course: FloatArray


def parallelism(
    busy_ns: Sequence[Sequence[float]],
    bin_ns: int,
    asked: float,
    n_cpus: int,
    begin_ns: float,
    end_ns: float,
    last_ns: float = math.inf,
) -> Parallelism | None:
    """What a timeline tells (protocol/probe.md).

    Args:
        busy_ns: on-CPU time of the run in each bin, one row for each CPU, or one for all of them.
        bin_ns: width of a bin.
        asked: tasks that may run at once, -j of make.
        n_cpus: CPUs that the run might use.
        begin_ns: where its window begins, nanoseconds after the first bin's start.
        end_ns: where it ends.
        last_ns: where the run ends, and with it the last bin.

    Returns:
        None without a bin that lies in the window.

    Raises:
        ValueError: a width, a window or a limit without a meaning.

    >>> p = parallelism([[10, 10, 5], [10, 0, 0]], 10, asked=4, n_cpus=2, begin_ns=0, end_ns=30)
    >>> round(p.mean, 3), p.limit, round(p.below_s * 1e9), round(p.tail_s * 1e9), round(p.lost_s * 1e9)
    (1.167, 2, 20, 20, 25)
    """
    limit = min(asked, n_cpus)
    _refuse(bin_ns, begin_ns, end_ns, limit)
    used, widths = in_window(busy_ns, bin_ns, (begin_ns, end_ns), last_ns)
    return _summed(used, widths, limit, end_ns - begin_ns, bin_ns) if widths.size else None


def _summed(used: FloatArray, widths: FloatArray, limit: float, wall: float, bin_ns: int) -> Parallelism:
    """Times on a CPU and widths of bins, in nanoseconds, over a window of `wall`."""
    tasks = used / widths
    return Parallelism(
        mean=float(used.sum() / wall),
        limit=limit,
        below_s=float(widths[tasks < (1 - SLACK) * limit].sum() / 1e9),
        lost_s=max(0.0, float(limit * wall - used.sum()) / 1e9),
        tail_s=float(widths[_last_stretch(tasks <= 1 + SLACK)].sum() / 1e9),
        wall_s=wall / 1e9,
        bin_s=bin_ns / 1e9,
        tasks=tasks,
        course=course(used, widths),
    )


def _refuse(bin_ns: float, begin_ns: float, end_ns: float, limit: float) -> None:
    if bin_ns <= 0 or end_ns <= begin_ns or limit < 1:
        found = f"bins of {bin_ns} ns, {begin_ns} .. {end_ns} ns, {limit} tasks"
        raise ValueError(f"parallelism: found {found}, expected each above zero")


def in_window(
    busy_ns: Sequence[Sequence[float]], bin_ns: int, window: tuple[float, float], last_ns: float
) -> tuple[FloatArray, FloatArray]:
    """On-CPU time of all CPUs in each bin of the window, and how much of the window the bin is; both in nanoseconds.

    A bin that the window enters or leaves counts by its share, as if it were even.
    """
    rows = [row for row in busy_ns if len(row)]
    total = np.sum(np.asarray(rows, dtype=np.float64), axis=0) if rows else np.zeros(0)
    edges = bin_ns * np.arange(total.size + 1)
    inside = np.clip(np.minimum(edges[1:], window[1]) - np.maximum(edges[:-1], window[0]), 0, None)
    lengths = np.minimum(edges[1:], last_ns) - edges[:-1]
    within = inside > 0
    return total[within] * inside[within] / lengths[within], inside[within]


def course(used: FloatArray, widths: FloatArray) -> FloatArray:
    """Means over equal parts of the window; within a bin its tasks are taken as even."""
    ends = np.concatenate(([0.0], np.cumsum(widths)))
    edges = np.linspace(0, ends[-1], N_PARTS + 1)
    return np.diff(np.interp(edges, ends, np.concatenate(([0.0], np.cumsum(used))))) / np.diff(edges)


def _last_stretch(few: np.ndarray) -> slice:
    """The bins after the last one that is not `few`."""
    many = np.flatnonzero(~few)
    return slice(int(many[-1]) + 1 if many.size else 0, None)
