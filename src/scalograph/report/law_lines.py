"""Scaling laws as the page takes them: lines of speedup along an axis, and words for the optimum."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import NO_LAW
from scalograph.protocol.findings import Curve, LawDoc
from scalograph.text.axes import Levels, place_of
from scalograph.text.format import estimate

BEYOND = 0.15  # how far a line reaches past the largest size measured, as a share of the axis


def law_line(curve: Curve, levels: Levels) -> dict[str, Any] | None:
    """The law of a curve; None where it has none, or nothing of it can stand on this axis."""
    law, place = curve.law, place_of(levels)
    if law is None:
        return None
    places = levels.axis()["at"]
    end = max(places) + BEYOND * (max(places) - min(places))
    drawn = [(x, i) for i, n in enumerate(law.sizes) if (x := place(n)) is not None and x <= end]
    if len(drawn) < 2:
        return None
    at, kept = [_short(x) for x, _ in drawn], [i for _, i in drawn]
    columns = {name: [_short(getattr(law, name)[i]) for i in kept] for name in ("fitted", "low", "high")}
    return {
        "at": at,
        "sizes": [f"{law.sizes[i]:.3g}" for i in kept],
        **columns,
        "amdahl": [_short(law.amdahl[i]) for i in kept] if law.amdahl else [],
        "inside": sum(law.sizes[i] <= law.largest for i in kept),
        "optimum": None if _misfit(law) else _mark(law, place, at, columns["fitted"]),
        "words": _words(law),
    }


def _mark(
    law: LawDoc, place: Callable[[float], float | None], at: Sequence[float | None], fitted: Sequence[float | None]
) -> dict[str, Any] | None:
    """Where the optimum stands with the ends of its interval; None where the line does not reach it."""
    best, last = law.optimum, at[-1] or 0.0
    if best.value is None or best.value < law.sizes[0] or (x := place(best.value)) is None or x > last:
        return None
    low, high = (place(end) if end else None for end in (best.low, best.high))
    ends = {"low": _short(low), "high": _short(last if best.high and (high is None or high > last) else high)}
    return {"at": _short(x), **ends, "value": fitted[_nearest(at, x)]}


def _nearest(at: Sequence[float | None], x: float) -> int:
    known = [value or 0.0 for value in at]
    i = min(bisect_left(known, x), len(known) - 1)
    return i - 1 if i and x - known[i - 1] < known[i] - x else i


def _misfit(law: LawDoc) -> str:
    """What makes the law, or its maximum, none of this curve, in a word; empty where it holds."""
    return next((flag.code for flag in law.flags if flag.code in (*NO_LAW, "peak elsewhere")), "")


def _words(law: LawDoc) -> str:
    """`N* = 12 [10, 15]`, or `N* > 40`; of a law that does not hold, why."""
    best: Estimate = law.optimum
    if misfit := _misfit(law):
        return misfit
    if best.value is not None:
        return f"N* = {estimate(best)}"
    return f"N* > {best.low:.3g}" if best.low is not None else ""


def _short(x: float | None) -> float | None:
    return None if x is None else float(f"{x:.6g}")
