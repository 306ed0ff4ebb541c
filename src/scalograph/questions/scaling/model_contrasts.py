"""What differs from its baseline for sure: paired within blocks, corrected for all that a study compares.

Of twenty-four flat curves with intervals of their own, one or two seem to fall. Here a speedup counts as faster or
slower where its p value holds beside all others of the study (Holm), beyond 2 %, and its own interval says so too.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Literal, NamedTuple

import numpy as np

from scalograph.analysis.baseline import Columns, blocked_columns, unpaired_columns
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


class Compared(NamedTuple):
    """A point of a curve beside its baseline.

    Attributes:
        curve: that it is of.
        point: with its speedup.
        sample: its runs.
        state: what is known of it against the baseline.
    """

    curve: Curve
    point: Point
    sample: Sample
    state: State

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
    found: list[tuple[Curve, Point, Sample, Contrast | None]] = []
    for curve in curves:
        samples = {point.level: taken[key(table, curve, point)] for point in curve.points}
        base = int(table.study.baseline[curve.factor])
        contrasts = _contrasts(table, how, {int(level): sample for level, sample in samples.items()}, base)
        points = [p for p in curve.points if p.level != base and p.speedup and p.speedup.value]
        found += [(curve, p, samples[p.level], contrasts.get(int(p.level))) for p in points]
    known = [contrast for *_, contrast in found if contrast is not None]
    adjusted = iter(holm([c.p_value(log(1 + PLAY)) for c in borrowed(known)]))
    p_values = [None if contrast is None else next(adjusted) for *_, contrast in found]
    alpha = 1 - table.study.protocol.confidence
    return [Compared(c, p, s, _state(p, p_value, alpha)) for (c, p, s, _), p_value in zip(found, p_values, strict=True)]


def _contrasts(table: Table, how: Gain, samples: dict[int, Sample], base: int) -> dict[int, Contrast]:
    scores = {n: sample.scores(how.response) for n, sample in samples.items() if sample.scores(how.response)}
    if base not in scores or min(min(values) for values in scores.values()) <= 0:
        return {}
    confidence = table.study.protocol.confidence
    columns: Columns = blocked_columns(scores, base, {n: samples[n].blocks(how.response) for n in scores}, confidence)
    if not columns.contrasts:
        columns = unpaired_columns({n: np.asarray(values) for n, values in scores.items()}, base, confidence)
    columns = columns if how.kind == "time" else columns.flipped()
    more = {n: log(n / base) if how.per_worker else 0.0 for n in columns.contrasts}
    return {n: replace(c, delta=c.delta + more[n]) for n, c in columns.contrasts.items()}


def _state(point: Point, p_value: float | None, alpha: float) -> State:
    speedup = point.speedup
    if p_value is None or p_value > alpha or speedup is None or speedup.low is None or speedup.high is None:
        return "open"
    return "faster" if speedup.low > 1 else "slower" if speedup.high < 1 else "open"
