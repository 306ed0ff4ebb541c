"""What the surface of a break-even study says at levels that a paper gives, measured or between those that were."""

from collections.abc import Mapping
from math import exp

import numpy as np

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.sample import FloatArray
from scalograph.findings.published import Lookup
from scalograph.protocol.findings import Level
from scalograph.questions.break_even.answer import Told
from scalograph.questions.break_even.model import SURE


def at_levels(told: Told | None) -> Lookup:
    """Speedup over the baseline at given levels; nothing outside the range, or where a level is missing."""

    def lookup(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
        if told is None:
            return {}
        point = _point(told, wanted)
        if point is None:
            return {}
        if wanted.get(told.space.factor) == told.space.against:
            return {"speedup": Estimate(value=1.0, low=1.0, high=1.0, method="the baseline itself")}
        mean, sd = told.surface(point)
        ends = [exp(-g) for g in (mean[0], mean[0] + SURE * sd[0], mean[0] - SURE * sd[0])]
        n = len(told.course.asked)
        return {"speedup": Estimate(value=ends[0], low=ends[1], high=ends[2], n=n, method="surface of all pairs")}

    return lookup


def _point(told: Told, wanted: Mapping[str, Level | None]) -> FloatArray | None:
    found = []
    for i, name in enumerate(told.space.names):
        level, known = wanted.get(name), told.space.levels(i)
        if not isinstance(level, int | float) or isinstance(level, bool) or not known[0] <= level <= known[-1]:
            return None
        found.append(told.space.coordinate(i, level))
    return np.array([found])
