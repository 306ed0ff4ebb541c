"""Contrasts of all levels with the baseline that they share."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scalograph.analysis.center import FloatArray, Scores, center, score_array
from scalograph.analysis.contrast import Contrast, paired_contrast, welch_contrast
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.quantiles import t_quantile
from scalograph.analysis.simultaneous import paired_level, shared_correlation, welch_level

Blocks = Mapping[int, Sequence[Hashable]]
Means = Mapping[int, Mapping[Hashable, float]]
# One pair has no spread, so no interval; unpaired runs may have one.
NEEDED_PAIRS = 2


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """Contrasts of all levels with the baseline: level -> log T(baseline)/T(level).

    `level` is the confidence of each single interval with which all together have the requested `confidence`.
    """

    contrasts: Mapping[int, Contrast]
    level: float
    confidence: float

    def invert(self) -> "ComparedColumns":
        """Return the contrasts log R(level)/R(baseline) of rates, with the same confidence."""
        return replace(self, contrasts={n: c.invert() for n, c in self.contrasts.items()})

    def singles(self) -> dict[int, Estimate]:
        """Return the ratio of each level with its own interval."""
        return {n: c.estimate(self.confidence) for n, c in self.contrasts.items()}

    def bands(self) -> dict[int, Estimate]:
        """Return the ratio of each level with its simultaneous interval, if there is one."""
        usable = {n: c for n, c in self.contrasts.items() if c.df > 0}
        estimates = {n: c.estimate(self.confidence, t_quantile(self.level, c.df)) for n, c in usable.items()}
        return {n: replace(e, method=f"{e.method}, simultaneous (max-t)") for n, e in estimates.items()}


def unpaired_columns(samples: Mapping[int, FloatArray], baseline: int, confidence: float) -> ComparedColumns:
    """Return Welch contrasts of independent runs; all scores above zero, at least one of the baseline."""
    centers = {n: center(np.log(x)) for n, x in samples.items() if x.size}
    contrasts = unpaired_contrasts(samples, baseline)
    usable = [centers[n] for n, c in contrasts.items() if c.df > 0]
    level = welch_level(centers[baseline], usable, confidence) if usable else confidence
    return ComparedColumns(contrasts, level, confidence)


def unpaired_contrasts(samples: Mapping[int, FloatArray], baseline: int) -> dict[int, Contrast]:
    """Return the contrasts alone; their joint confidence takes longer."""
    base = np.log(samples[baseline])
    return {n: welch_contrast(base, np.log(x)) for n, x in samples.items() if x.size and n != baseline}


def blocked_columns(means: Means, baseline: int, confidence: float) -> ComparedColumns:
    """Return paired contrasts of levels that share two blocks with the baseline, from their `block_logs`."""
    contrasts = blocked_contrasts(means, baseline)
    if not contrasts:
        return ComparedColumns(contrasts, confidence, confidence)
    complete = _common_blocks(means, (baseline, *contrasts))
    base = _select_blocks(means[baseline], complete)
    rho = shared_correlation(np.stack([base - _select_blocks(means[n], complete) for n in contrasts], axis=1))
    return ComparedColumns(contrasts, paired_level([c.n for c in contrasts.values()], rho, confidence), confidence)


def blocked_contrasts(means: Means, baseline: int) -> dict[int, Contrast]:
    """Return the contrasts alone; their joint confidence takes longer."""
    shared = _shared_blocks(means, baseline)
    return {n: _paired_contrast(means, baseline, n, ids) for n, ids in shared.items() if len(ids) >= NEEDED_PAIRS}


def missing_pairs(means: Means, baseline: int) -> dict[int, str]:
    """Return the reason for each level whose runs are not paired with the baseline."""
    shared = _shared_blocks(means, baseline)
    need = f"need >= {NEEDED_PAIRS} blocks that hold the baseline and this level to pair runs"
    few = {n: len(shared.get(n, ())) for n in means if n != baseline}
    return {n: f"{need}, have {count}: not paired" for n, count in few.items() if count < NEEDED_PAIRS}


def block_logs(n: int, scores: Scores, blocks: Blocks) -> dict[Hashable, float]:
    """Return the mean log score of level `n` in each block; missing scores are excluded.

    Raises ValueError where `blocks` does not name one block for each score.

    >>> block_logs(1, [1.0, 1.0, None], {1: ["a", "a", "b"]})
    {'a': 0.0}
    """
    values, ids = score_array(scores), blocks.get(n, ())
    if len(ids) != values.size:
        raise ValueError(f"blocks: level {n}: found {len(ids)}, expected one for each of {values.size} scores")
    if len({*ids}) == len(ids) and np.isfinite(values).all():  # of nearly all studies
        return dict(zip(ids, map(math.log, values.tolist()), strict=True))
    logs: dict[Hashable, list[float]] = {}
    for block, value in zip(ids, values.tolist(), strict=True):
        if math.isfinite(value):
            logs.setdefault(block, []).append(math.log(value))
    return {block: every[0] if len(every) == 1 else float(np.mean(every)) for block, every in logs.items()}


def _shared_blocks(means: Means, baseline: int) -> Blocks:
    return {n: _common_blocks(means, (baseline, n)) for n in means if n != baseline and baseline in means}


def _common_blocks(means: Means, levels: Sequence[int]) -> list[Hashable]:
    first, *rest = (means[n] for n in levels)
    if len(rest) == 1:
        return [block for block in first if block in rest[0]]
    shared = set(first).intersection(*rest)
    return [block for block in first if block in shared]


def _select_blocks(means: Mapping[Hashable, float], blocks: Sequence[Hashable]) -> FloatArray:
    return np.array([*map(means.__getitem__, blocks)], dtype=np.float64)


def _paired_contrast(means: Means, baseline: int, n: int, ids: Sequence[Hashable]) -> Contrast:
    contrast = paired_contrast(_select_blocks(means[baseline], ids), _select_blocks(means[n], ids))
    n_lost = len(means[baseline].keys() | means[n].keys()) - len(ids)
    if n_lost == 0:
        return contrast
    lost = f"{n_lost} block{'s' * (n_lost > 1)} without the baseline or this level excluded"
    return replace(contrast, warnings=(*contrast.warnings, lost))
