"""Is the program one of the candidates at all? Else the most probable of them is still wrong.

The means of the levels lie around the best curve by more than the runs of a level differ: a posterior predictive check
whose noise is that of the repeats alone, since noise that was taken from the misfit would excuse it.
Source: A. Gelman, X.-L. Meng and H. Stern, Posterior predictive assessment of model fitness, Statistica Sinica 6
(1996), with the lack of fit as discrepancy; its distribution over replicated runs is an F.
"""

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.effective_cpus.model_evidence import NOISE_SD, NOISE_SHAPE, Evidence
from scalograph.questions.effective_cpus.model_programs import IntArray, Programs

# A run that is more probably slowed than not.
LIKELY = 0.5
# Time on one CPU, cap, serial share.
PARAMETERS = 3


def suspects(at: IntArray, slowed: FloatArray) -> list[int]:
    """Levels whose only run was probably slowed: a second run tells a slow run from a slow level."""
    return sorted({int(level) for level in at[slowed >= LIKELY] if np.count_nonzero(at == level) == 1})


def check(candidates: Programs, seen: Evidence, at: IntArray, logs: FloatArray) -> float:
    """Probability that runs of the best program would lie as far off its curve; 1 where too few levels are measured."""
    kept = ~_lone(at, seen.slowed)
    at, logs = at[kept], logs[kept]
    levels, where, counts = np.unique(at, return_inverse=True, return_counts=True)
    if levels.size <= PARAMETERS:
        return 1.0
    means = np.bincount(where, logs) / counts
    within = float(((logs - means[where]) ** 2).sum())
    df = 2 * NOISE_SHAPE + logs.size - levels.size
    noise = (2 * NOISE_SHAPE * NOISE_SD**2 + within) / df
    off = means[None, :] - candidates.log_times[:, levels]
    off = off - (off @ counts / counts.sum())[:, None]
    lack = float(((off**2) @ counts).min()) / (levels.size - PARAMETERS)
    from scipy.special import fdtrc  # it takes a tenth of a second, and most studies do not ask

    return float(fdtrc(levels.size - PARAMETERS, df, lack / noise))


def _lone(at: IntArray, slowed: FloatArray) -> np.ndarray:
    """Runs that were slowed where another run of the same level was not: where all of them are slow, the level is."""
    likely = slowed >= LIKELY
    return np.array([bool(s) and bool((~likely & (at == level)).any()) for s, level in zip(likely, at, strict=True)])
