"""What differs from its baseline for sure: paired within blocks, corrected for all that a study compares.

Of twenty-four flat curves with intervals of their own, one or two seem to fall. Here a speedup counts as faster or
slower where its p value holds beside all others of the study (Holm), beyond 2 %, and its own interval says so too.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Literal, NamedTuple

import numpy as np

from scalograph.analysis.baseline import blocked_contrasts, unpaired_contrasts
from scalograph.analysis.borrowed_variance import borrowed
from scalograph.analysis.comparisons import holm
from scalograph.analysis.contrast import Contrast
from scalograph.analysis.speedup_points import PLAY
from scalograph.findings.answer import Taken
from scalograph.findings.curves import key
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import Gain, gain
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, Point

State = Literal["faster", "slower", "open"]

# A smaller difference is none to speak of: a log.
LEAST = log(1 + PLAY)


class Compared(NamedTuple):
    """A point of a curve beside its baseline.

    Attributes:
        curve: that it is of.
        point: with its speedup.
        sample: its runs.
        contrast: log speedup, with what the study as a whole knows of spreads.
        state: what is known of it against the baseline.
        is_possible: whether the CPUs can have given its speedup; what they cannot give is no number to speak of.
    """

    curve: Curve
    point: Point
    sample: Sample
    contrast: Contrast
    state: State = "open"
    is_possible: bool = True

    @property
    def level(self) -> int:
        """How many."""
        return int(self.point.level)

    @property
    def value(self) -> float:
        """The speedup."""
        return self.point.speedup.value or 0.0 if self.point.speedup else 0.0

    @property
    def low(self) -> float:
        """Where its interval begins; 0 where it has none."""
        return self.point.speedup.low or 0.0 if self.point.speedup else 0.0

    @property
    def high(self) -> float:
        """Where its interval ends; infinite where it has none."""
        return self.point.speedup.high or np.inf if self.point.speedup else np.inf


def compared(table: Table, taken: Taken, curves: Sequence[Curve]) -> list[Compared]:
    """Compare every point that has a speedup with its baseline, which is left out."""
    how = gain(table, curves[0].factor) if curves else None
    if how is None:
        return []
    found: list[Compared] = []
    for curve in curves:
        contrasts = contrasts_of(table, how, taken, curve, int(table.study.baseline[curve.factor]))
        points = [p for p in curve.points if p.speedup and p.speedup.value and int(p.level) in contrasts]
        every = ((p, taken[key(table, curve, p)], contrasts[int(p.level)]) for p in points)
        found += [Compared(curve, p, s, c, is_possible=_is_possible(table, curve, p)) for p, s, c in every]
    confidence = table.study.protocol.confidence
    lent = borrowed([point.contrast for point in found])
    known = zip(found, lent, states(lent, confidence), strict=True)
    return [p._replace(contrast=c, state=s if _agrees(p, s) else "open") for p, c, s in known]


def _is_possible(table: Table, curve: Curve, point: Point) -> bool:
    """Whether the physics gates allow the speedup: they weigh levels that count workers, by the band of all levels."""
    band, share, speedup = point.simultaneous, point.efficiency, point.speedup
    counts_workers = table.study.factors[curve.factor].control is None
    if not counts_workers or not (band and band.low and share and share.value and speedup and speedup.value):
        return True
    growth = speedup.value / share.value
    return band.low <= growth * (1 + PLAY)


def unmeasured(table: Table, taken: Taken, curves: Sequence[Curve]) -> list[Compared]:
    """Points that no speedup is known of: no words that mean them too may claim one."""
    unknown, how = Contrast(0.0, np.nan, 0.0, 0, ""), gain(table, curves[0].factor) if curves else None
    return [
        Compared(curve, point, taken[key(table, curve, point)], unknown)
        for curve in curves
        for point in curve.points
        if how and not (point.speedup and point.speedup.value) and point.level != table.study.baseline[curve.factor]
    ]


def _agrees(point: Compared, state: State) -> bool:
    """Whether the interval that stands in the tables says so too."""
    return point.low > 1 if state == "faster" else point.high < 1


def states(contrasts: Sequence[Contrast], confidence: float) -> list[State]:
    """Tell which contrasts of a study are beyond 2 %, beside all others of it."""
    return [
        "open" if p is None or p > 1 - confidence else "faster" if contrast.delta > 0 else "slower"
        for contrast, p in zip(contrasts, holm([c.p_value(LEAST) for c in contrasts]), strict=True)
    ]


def contrasts_of(table: Table, how: Gain, taken: Taken, curve: Curve, base: int) -> dict[int, Contrast]:
    """Compare the levels of a curve with one of them, as log throughput over its; empty where nothing tells."""
    response, every = how.response, {int(point.level): taken[key(table, curve, point)] for point in curve.points}
    known = {n: sample for n, sample in every.items() if sample.values(response).size}
    if base not in known or min(float(sample.values(response).min()) for sample in known.values()) <= 0:
        return {}
    found = blocked_contrasts({n: sample.block_logs(response) for n, sample in known.items()}, base)
    found = found or unpaired_contrasts({n: sample.values(response) for n, sample in known.items()}, base)
    found = found if how.kind == "time" else {n: contrast.flipped() for n, contrast in found.items()}
    more = {n: log(n / base) if how.per_worker else 0.0 for n in found}
    return {n: replace(contrast, delta=contrast.delta + more[n]) for n, contrast in found.items()}
