"""How many more runs may decide a claim that is not resolved, if its figures stay as they are."""

from collections.abc import Iterator, Sequence
from math import ceil

from scalograph.protocol.published_claim import ClaimFigure

Bounds = tuple[float | None, float | None]
# Beyond that no number is told: the figure lies at the very end of the range.
MOST = 100.0


def times_as_many(figures: Sequence[ClaimFigure], bounds: Bounds) -> float | None:
    """Say how many times as many runs may decide a claim: intervals narrow with the root of their number.

    One figure outside the range refutes the claim, so the nearest to being wholly outside decides it; if none is
    outside, all have to be wholly inside.

    Args:
        figures: all of the claim, each decided.
        bounds: the range that bears it out, None at an end that is open.

    Returns:
        1 or more; None where a figure that is not resolved has no whole interval, or all are resolved.
    """
    crossing = [_to_shrink(figure, bounds) for figure in figures if figure.decision == "not resolved"]
    known = [one for one in crossing if one is not None]
    if not known or len(known) < len(crossing):
        return None
    outside = [times for times, is_inside in known if not is_inside]
    return min(outside) if outside else max(times for times, _ in known)


def needed(figures: Sequence[ClaimFigure], bounds: Bounds) -> str:
    """Say how many times as many runs may decide a claim, as the end of a reason; empty if that is not known.

    Args:
        figures: all of the claim, each decided.
        bounds: the range that bears it out, None at an end that is open.
    """
    times = times_as_many(figures, bounds)
    if times is None:
        return ""
    if times > MOST:
        return f"more than {MOST:.0f} times as many runs may be needed"
    n = ceil(times)
    return f"about {'twice' if n <= 2 else f'{n} times'} as many runs may decide it"


def _to_shrink(figure: ClaimFigure, bounds: Bounds) -> tuple[float, bool] | None:
    """How many times as many runs one figure needs, and whether it is inside the range."""
    here = figure.here
    if here is None or here.value is None or here.low is None or here.high is None:
        return None
    low, high = bounds
    if low is not None and here.value < low:
        return _square(here.high - here.value, low - here.value), False
    if high is not None and here.value > high:
        return _square(here.value - here.low, here.value - high), False
    return max(_inside(here.value, here.low, here.high, bounds)), True


def _inside(value: float, here_low: float, here_high: float, bounds: Bounds) -> Iterator[float]:
    """What each end of the range takes."""
    yield 1.0
    low, high = bounds
    if low is not None:
        yield _square(value - here_low, value - low)
    if high is not None:
        yield _square(here_high - value, high - value)


def _square(half: float, room: float) -> float:
    return max(1.0, (half / room) ** 2) if room > 0 else float("inf")
