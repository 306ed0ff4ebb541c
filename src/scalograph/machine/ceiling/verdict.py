"""A program's speedup against what the machine gives: below, alike, above, or not known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scalograph.analysis.estimate import Estimate, exp, unknown

Label = Literal["below", "alike", "above", "unknown"]

# Speedups that differ by less are called alike: two programs of one resource differ by as much.
MARGIN = 0.05
# An interval that leaves room for more than this says nothing, as with published figures (protocol/findings.md).
WIDEST = 0.25
METHOD = "ratio of two independent speedups, MOVER on logs"


@dataclass(frozen=True, slots=True)
class Against:
    """A program's speedup over that of one kind of work on as many CPUs."""

    kind: str
    ceiling: Estimate
    ratio: Estimate
    label: Label


def against(program: Estimate, ceilings: Mapping[str, Estimate], margin: float = MARGIN) -> list[Against]:
    """Hold a speedup against each kind of work, highest ceiling first.

    Args:
        program: its speedup on n CPUs, over the same baseline as the ceilings.
        ceilings: kind -> speedup on as many CPUs.
        margin: relative difference that does not matter, 0 or more.
    """
    found = [Against(kind, it, r := ratio(program, it), label(r, margin)) for kind, it in ceilings.items()]
    return sorted(found, key=lambda each: -(each.ceiling.value or 0.0))


def ratio(a: Estimate, b: Estimate) -> Estimate:
    """A over b, of independent runs, with the interval that their own intervals give.

    Source: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general approach,
    Statist. Med. 27 (2008), equations 6 and 7, on logs.

    >>> one = Estimate(2.0, 2.0, 2.0, 0.95, 5, "t")
    >>> found = ratio(one, Estimate(1.0, 0.9, 1 / 0.9, 0.95, 5, "t"))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (2.0, 1.8, 2.222)
    """
    of_a, of_b = _logs(a), _logs(b)
    if of_a is None or of_b is None:
        return unknown(METHOD, a.confidence, a.n + b.n, "need an interval above 0 of both, have not")
    (x, x_low, x_high), (y, y_low, y_high) = of_a, of_b
    low = x - y - math.hypot(x - x_low, y_high - y)
    high = x - y + math.hypot(x_high - x, y - y_low)
    return Estimate(exp(x - y), exp(low), exp(high), min(a.confidence, b.confidence), a.n + b.n, METHOD)


def _logs(estimate: Estimate) -> tuple[float, float, float] | None:
    """Logs of value, low and high; None where one is missing."""
    ends = (estimate.value, estimate.low, estimate.high)
    if any(end is None or end <= 0 for end in ends):
        return None
    value, low, high = (math.log(end) for end in ends if end is not None)
    return value, low, high


def label(ratio: Estimate, margin: float = MARGIN) -> Label:
    """The word for a ratio with its interval.

    Below and above need the whole interval beyond the margin. Alike needs an interval that is not too wide and holds 1,
    or a ratio within the margin: it is no proof that both are the same. Between them nobody can tell if it matters.
    """
    value, low, high = ratio.value, ratio.low, ratio.high
    if value is None or low is None or high is None:
        return "unknown"
    if high < 1 / (1 + margin):
        return "below"
    if low > 1 + margin:
        return "above"
    same = low <= 1 <= high or 1 / (1 + margin) <= value <= 1 + margin
    return "alike" if same and low >= 1 / (1 + WIDEST) and high <= 1 + WIDEST else "unknown"
