"""Whether the machine drifted from block to block, as a reason for doubt."""

from collections.abc import Iterable, Sequence
from math import exp, nan
from statistics import fmean, median

import numpy as np

from scalograph.analysis.drift import FEWEST, Drift, drift
from scalograph.analysis.students_t import t_quantile
from scalograph.findings.reason import Doubt
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table

# Chance brings about less than this once in a hundred studies; and intervals that are so much too narrow, and then so
# wide (half of it, as a share), mislead.
RARE, NARROW, WIDE = 0.01, 1.15, 0.01
MOST = 500  # of more blocks, neighbors are taken together: what is as slow as this is found all the same


def doubt(table: Table, taken: Sequence[Sample]) -> Iterable[Doubt]:
    """Where runs of the primary response are not independent, and it matters; or where that could not be checked."""
    found = drifted(table, taken)
    if found is None:
        n = len({row.block for sample in taken for row in sample.every})
        if 1 < n < FEWEST:
            yield Doubt(f"{n} blocks are too few to check for drift", f"from {FEWEST} on they are enough", whole=False)
    elif found.p < RARE and found.too_narrow > NARROW:
        half = found.too_narrow * _half(taken, primary(table), table.study.protocol.confidence)
        if half > WIDE:
            wide = f"{found.too_narrow:.2g} times or more (\N{PLUS-MINUS SIGN}{100 * (exp(half) - 1):.2g} % or more)"
            does = f"intervals of single configurations are too narrow, by {wide}; comparisons within blocks hold"
            yield Doubt(f"the machine drifted from block to block (p = {found.p:.2g})", does)


def drifted(table: Table, taken: Sequence[Sample]) -> Drift | None:
    """How alike neighboring blocks are in the primary response; None where it cannot be told."""
    response = primary(table)
    blocks = sorted(set[int]().union(*(sample.blocks(response) for sample in taken)))
    n = min(len(blocks), MOST)
    place = {block: index * n // len(blocks) for index, block in enumerate(blocks)}
    return drift([_series(sample, response, place, n) for sample in taken], table.study.seed % 2**32) if n else None


def _series(sample: Sample, response: str, place: dict[int, int], n: int) -> list[float]:
    """The sample's score in each of n blocks, the mean where it has several; nan where it has none."""
    scores: list[list[float]] = [[] for _ in range(n)]
    for block, score in zip(sample.blocks(response), sample.scores(response), strict=True):
        if score > 0:
            scores[place[block]].append(score)
    return [fmean(found) if found[1:] else found[0] if found else nan for found in scores]


def _half(taken: Sequence[Sample], response: str, confidence: float) -> float:
    """Half the interval of a typical treatment, on logs."""
    every = (values[values > 0] for values in (sample.values(response) for sample in taken))
    logs = [np.log(values) for values in every if values.size > 1]
    halves = [t_quantile(confidence, s.size - 1) * float(s.std(ddof=1)) / s.size**0.5 for s in logs]
    return median(halves) if halves else 0.0
