"""Bias bounds: how far disturbance that passed the verdict may have moved an estimate.

Counted runs are not free of disturbance: a clean one lost less than 2% to interference, an unverified one perhaps
more. On a virtual machine such runs are longer by much more than was taken, because the host is busy then. So the study
itself shows the cost: its runs that lost something against its quiet ones, within configurations. Where these do not
differ by more than chance, each run counts with the upper bound of what it lost, and its cost.

Coverage: benchmarks/statistics_trust.py.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scalograph.findings.answer import SampleMap
from scalograph.findings.row import Key, Row
from scalograph.findings.sample import is_mostly_unverified
from scalograph.findings.table import Table

QUIET = 0.005  # the share of its time that was taken from a quiet run: quiet machines show as much
COST = 2.4  # runs from which 2% was taken were 4.8% longer
MIN_RUNS = 8  # of either kind, beside one of the other: fewer tell little of what it costs
_Z = 2.58  # 99%: noise alone is to widen no bound

Numbers = NDArray[np.float64]


class _Losses(NamedTuple):
    """CPU time lost to interference in the runs of a configuration.

    Attributes:
        most: upper bound of what that cost each run, as a share; infinite if unbounded.
        quiet: whether hardly anything was lost.
    """

    most: Numbers
    quiet: NDArray[np.bool_]


def bias_bounds(table: Table, samples: SampleMap) -> dict[Key, float]:
    """Bound the bias of each configuration's primary response, as a share; infinite if unbounded."""
    name = table.view.primary
    losses = {key: _losses(sample.rows(name)) for key, sample in samples.items() if sample.rows(name)}
    pairs, bounds = [], {}
    for key, lost in losses.items():
        scores = samples[key].values(name)
        pairs.append(tuple(np.log(scores[kind & (scores > 0)]) for kind in (lost.quiet, ~lost.quiet)))
    cost = _cost(pairs)
    for key, lost in losses.items():
        # What others show does not hold where most runs are unverified.
        seen = None if is_mostly_unverified(samples[key]) else cost
        each = np.where(lost.quiet, lost.most, np.maximum(lost.most, cost or 0.0) if seen is None else seen)
        bounds[key] = math.fsum(each.tolist()) / each.size
    return bounds


def _losses(rows: Sequence[Row]) -> _Losses:
    shares = np.array([row.taken for row in rows], dtype=np.float64)  # None becomes NaN
    clean = np.array([row.verdict == "clean" for row in rows])
    return _Losses(np.where(np.isnan(shares), np.inf, COST * shares), clean & (shares < QUIET))


def _cost(groups: Iterable[tuple[Numbers, ...]]) -> float | None:
    """Return the upper end of the cost of interference; None if it may be chance or runs are too few."""
    both = [pair for pair in groups if pair[0].size and pair[1].size]
    if min((sum(pair[kind].size for pair in both) for kind in (0, 1)), default=0) < MIN_RUNS:
        return None
    squares = [sum(float(((kind - kind.mean()) ** 2).sum()) for kind in pair) for pair in both]
    freedom = [pair[0].size + pair[1].size - 2 for pair in both]
    variances = [square / free for square, free in zip(squares, freedom, strict=True) if free]
    typical = median(variances) if variances else 0.0
    noise = [max(s / f if f else 0.0, typical, 1e-12) for s, f in zip(squares, freedom, strict=True)]
    weights = np.array([q.size * o.size / (q.size + o.size) / var for (q, o), var in zip(both, noise, strict=True)])
    shifts = np.array([o.mean() - q.mean() for q, o in both])
    mean = float((weights * shifts).sum() / weights.sum())
    # Configurations that differ in what it costs them by more than their noise make the mean less certain.
    unlike = float((weights * (shifts - mean) ** 2).sum()) / max(1, len(both) - 1)
    error = _Z * math.sqrt(max(1.0, unlike) / float(weights.sum()))
    return math.expm1(abs(mean) + error) if abs(mean) > error else None
