"""Programs that the runs leave possible, close enough to each other that the runs cannot tell neighbors apart.

Some twenty runs know the time on all CPUs within a hundredth, and the answer changes from one serial share to the
next within as much. On a grid as wide as the noise of one run, the posterior settles on whatever program lies nearest
and states its answer with a probability that is too high. So cells that no run speaks against are split.

A cell is left out where even its best point is improbable beside the best program: within half a step the log of a
time changes by half a step at most, on all CPUs; by less elsewhere.
"""

from math import comb, log

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray
from scalograph.questions.effective_cpus.model_evidence import marginal, most_slowed, of_slowed
from scalograph.questions.effective_cpus.model_programs import STEP, IntArray, Programs, select, split

# Parts of a cell: a fifth of what is known after many runs.
PARTS = 10
# Log weight below the best at which a program is left out.
DEPTH = 12.0
# Times in one array; after few runs, which leave more programs than that, noise hides what finer ones would tell.
ROOM = 4_000_000


def plausible(found: Programs, at: IntArray, logs: FloatArray) -> Programs:
    """Return the programs that the runs leave possible, in fine cells.

    Args:
        found: every program, in cells of a step.
        at: index of each run's level.
        logs: log score of each run.
    """
    kept = _possible(found, at, logs, STEP / 2)
    parts = min(PARTS, ROOM // (int(np.count_nonzero(kept)) * len(found.levels)))
    if parts > 1:
        found = split(found, kept, parts)
        kept = _possible(found, at, logs, 0.0)
    return select(found, kept)


def _possible(found: Programs, at: IntArray, logs: FloatArray, slack: float) -> NDArray[np.bool_]:
    """Which programs may be probable, if the log of each time may be off by `slack`.

    Whatever runs were slowed, leaving out the slowest ones leaves the smallest squares.
    """
    n = logs.size
    rest = np.sort(logs - found.log_times[:, at], axis=1)
    least, most = np.full(len(rest), -np.inf), np.full(len(rest), -np.inf)
    for n_slowed in range(most_slowed(n) + 1):
        kept = rest[:, : n - n_slowed]
        size = np.array(float(n - n_slowed))
        off = np.sqrt(kept.var(axis=1) * size)
        near = np.maximum(off - slack * np.sqrt(size), 0.0)
        prior = found.log_prior + of_slowed(size, n)
        least = np.maximum(least, prior + marginal(size, off**2))
        most = np.maximum(most, prior + marginal(size, near**2) + log(comb(n, n_slowed)))
    return np.asarray(most >= least.max() - DEPTH)
