"""The line of break-even as a formula: from which product of the sizes on a version wins, where a formula fits."""

from collections.abc import Callable
from itertools import product

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.break_even.document import EvenFormula
from scalograph.questions.break_even.model import RatioSurface, least_work
from scalograph.questions.break_even.model_mean import size_powers
from scalograph.questions.break_even.model_space import Pairs

# A formula whose line is typically further off the measured surface than that is none.
OFF = 0.15
# Places along the sizes at which both are compared.
STEPS = 129


def formula(space: Pairs, surface: RatioSurface, is_measured: Callable[[dict[int, float]], bool]) -> EvenFormula | None:
    """The line as a formula; None where no factor is a size, or the mean does not fit what was measured.

    Args:
        space: what was compared.
        surface: what the pairs say.
        is_measured: whether anything is known where the other factors have these levels, by axis.
    """
    powers = size_powers(surface.mean)
    if not powers:
        return None
    others = [i for i in range(len(space.names)) if i not in powers]
    # A line beyond the largest sizes was measured by nobody.
    most = float(np.exp(sum(p * surface.mean.axes[i].high * np.log(2) for i, p in powers.items())))
    found = []
    for levels in product(*(space.levels(i) for i in others)):
        row = dict(zip(others, levels, strict=True))
        if not is_measured(row):
            continue
        work = least_work(surface.mean, {i: space.coordinate(i, n) for i, n in row.items()})
        told = float(f"{work:.4g}") if work is not None and work <= most else None
        found.append(({space.names[i]: n for i, n in row.items()}, told))
    off = _off(surface)
    if off is None or off > OFF or all(work is None for _, work in found):
        return None
    return EvenFormula(powers={space.names[i]: round(p, 3) for i, p in powers.items()}, work=found, off=round(off, 4))


def _off(surface: RatioSurface) -> float | None:
    """Typical distance between the lines of the mean and of the surface, as a share of the work; None without a line.

    Both are followed along the diagonal of all sizes, at each level of the others.
    """
    axes, sizes = surface.mean.axes, size_powers(surface.mean)
    others = [np.linspace(a.low, a.high, 5) if i not in sizes else [0.0] for i, a in enumerate(axes)]
    share = np.linspace(0, 1, STEPS)
    apart = []
    for fixed in product(*others):
        at = np.array([fixed] * STEPS)
        for i in sizes:
            at[:, i] = axes[i].low + share * (axes[i].high - axes[i].low)
        work = sum(p * at[:, i] * np.log(2) for i, p in sizes.items())
        ends = [_zero(work, g) for g in (surface.mean(at), surface(at)[0])]
        if ends[0] is not None and ends[1] is not None:
            apart.append(abs(ends[0] - ends[1]))
    return float(np.expm1(np.median(apart))) if apart else None


def _zero(work: FloatArray, g: FloatArray) -> float | None:
    """Log of the work at which g falls below 0, if it does inside."""
    above = np.flatnonzero(g > 0)
    if not above.size or above[-1] + 1 == g.size:
        return None
    i = int(above[-1])
    return float(work[i] + (work[i + 1] - work[i]) * g[i] / (g[i] - g[i + 1]))
