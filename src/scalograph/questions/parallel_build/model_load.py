"""How many tasks of a run could have run, from start to end: those on a CPU and those that waited for one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.parallel_build.model_parallelism import course, in_window

# Below it a third of the window has too few bins for a typical one.
LEAST_BINS = 9


@dataclass(frozen=True, slots=True)
class Load:
    """Runnable tasks of one run, which is what a load average counts before it is smoothed.

    Attributes:
        mean: over the window.
        course: mean of each tenth of the window, shape (10,).
        thirds: of the bins in each third of the window the median, shape (3,): a third of which a little belongs to
            a beginning or an end is told by the rest. None with fewer than 9 bins.
    """

    mean: float
    course: FloatArray
    thirds: FloatArray | None

    @property
    def most_in_first_half(self) -> float:
        """The largest tenth of the first half."""
        return float(self.course[: len(self.course) // 2].max())

    @property
    def last_over_first(self) -> float | None:
        """Median of the last third over that of the first: far below 1 where the load decays."""
        return float(self.thirds[2] / self.thirds[0]) if self.thirds is not None and self.thirds[0] > 0 else None


def load(
    rows_ns: Sequence[Sequence[float]], bin_ns: int, begin_ns: float, end_ns: float, last_ns: float
) -> Load | None:
    """Count the tasks that a timeline shows as runnable (protocol/probe.md).

    Args:
        rows_ns: in each bin the time on each CPU, and the time for which tasks waited after they were preempted.
        bin_ns: width of a bin.
        begin_ns: where the window begins, nanoseconds after the first bin's start.
        end_ns: where it ends.
        last_ns: where the run ends, and with it the last bin.

    Returns:
        None without a bin that lies in the window.

    >>> found = load([[10] * 9, [10] * 9, [20] * 3 + [0] * 6], 10, 0, 90, 90)
    >>> round(found.mean, 2), found.last_over_first
    (2.67, 0.5)
    """
    used, widths = in_window(rows_ns, bin_ns, (begin_ns, end_ns), last_ns)
    if not widths.size:
        return None
    tasks = used / widths
    thirds = np.array([np.median(part) for part in np.array_split(tasks, 3)]) if tasks.size >= LEAST_BINS else None
    return Load(float(used.sum() / widths.sum()), course(used, widths), thirds)
