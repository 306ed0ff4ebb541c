"""What the surface of a break-even study says at levels that a paper gives, measured or between those that were."""

from collections.abc import Mapping
from math import exp

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.findings.published import Lookup
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.model import SURE, RatioSurface
from scalograph.questions.break_even.model_space import Pairs


def nothing_known(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
    """What too few pairs say of any levels."""
    return {}


def at_levels(space: Pairs, surface: RatioSurface, n_pairs: int) -> Lookup:
    """Make the lookup of speedups over the baseline; nothing outside the range, or where a level is missing."""

    def lookup(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
        point = _point(space, wanted)
        if point is None:
            return {}
        if wanted.get(space.factor) == space.against:
            return {"speedup": Estimate(value=1.0, low=1.0, high=1.0, method="the baseline itself")}
        mean, sd = surface(point)
        ends = [exp(-g) for g in (mean[0], mean[0] + SURE * sd[0], mean[0] - SURE * sd[0])]
        return {"speedup": Estimate(value=ends[0], low=ends[1], high=ends[2], n=n_pairs, method="surface of all pairs")}

    return lookup


def _point(space: Pairs, wanted: Mapping[str, Level | None]) -> FloatArray | None:
    found = []
    for i, name in enumerate(space.names):
        level, known = wanted.get(name), space.levels(i)
        if not isinstance(level, int | float) or isinstance(level, bool) or not known[0] <= level <= known[-1]:
            return None
        found.append(space.coordinate(i, level))
    return np.array([found])
