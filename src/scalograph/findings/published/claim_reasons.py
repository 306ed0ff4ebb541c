"""Why a claim is not decided: what its figures leave open, how many more runs may decide, what a machine lacks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from scalograph.findings.doubts import n_disturbed, worst_cause
from scalograph.findings.published.measured_values import FigureHere
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.published_claim import ClaimFigure
from scalograph.questions.registry import is_search
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.quantities import counted
from scalograph.text.short_names import listed

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


def unseen(claim: PublishedClaim, machine: Mapping[str, Any]) -> str:
    """Say what a machine lacks to show a claim; empty where it has all.

    Args:
        claim: of a study.
        machine: `machine` of a journal's first event.
    """
    n_cpus = machine.get("n_cpus")
    if isinstance(n_cpus, int) and n_cpus < claim.needs_cpus:
        return f"it needs {claim.needs_cpus} CPUs, this machine has {n_cpus}"
    here = machine.get("architecture") or "unknown"
    if claim.needs_architecture and here != claim.needs_architecture:
        return f"it needs a CPU of the architecture {claim.needs_architecture}, this machine's is {here}"
    if claim.needs_smt and machine.get("smt") is not True:
        return "it needs hardware threads that share a core, this machine shows none"
    return ""


def of_missing(missing: Sequence[str]) -> str:
    """Say why figures of a claim were not measured: each reason once, of many the first three.

    Args:
        missing: what each of them lacks.
    """
    told = [*dict.fromkeys(why for why in missing if why)] or ["no run counts"]
    return "; ".join([*told[:3], *([f"and {len(told) - 3} more"] if told[3:] else [])])


def of_open(table: Table, claim: PublishedClaim, figures: Sequence[FigureHere], decided: Sequence[ClaimFigure]) -> str:
    """Say why a claim is not resolved, and how many times as many runs may decide it.

    Args:
        table: the runs.
        claim: it.
        figures: those that decide it.
        decided: the same, each decided.

    Returns:
        Disturbed runs, no interval, or one that crosses an end of the range.
    """
    both = [(one, figure) for one, figure in zip(figures, decided, strict=True) if figure.decision == "not resolved"]
    busy = [row for one, _ in both for row in one.disturbed]
    left = [figure for one, figure in both if not one.disturbed]
    bare = [figure for figure in left if figure.here is None or figure.here.low is None or figure.here.high is None]
    crossing = [figure.label for figure in left if figure not in bare]
    parts = [
        _of_disturbed(busy) if busy else "",
        _of_crossing(crossing, len(decided)) if crossing else "",
        _of_bare(bare) if bare else "",
        # Of a search more runs are other runs, and what a question offers need not narrow with their number.
        "" if busy or claim.quantity or is_search(table.study.question) else needed(decided, claim.bounds),
    ]
    return "; ".join(filter(None, parts))


def _of_crossing(labels: Sequence[str], n_figures: int) -> str:
    """Whose intervals cross an end, if there are others."""
    who = "" if n_figures == 1 else f" of {listed(_some(labels))}"
    one = len(labels) == 1
    return f"the interval{'' if one else 's'}{who} {'crosses' if one else 'cross'} an end of the range"


def _of_bare(figures: Sequence[ClaimFigure]) -> str:
    warned = [text for figure in figures if figure.here for text in figure.here.warnings]
    return "; ".join(dict.fromkeys(warned)) or "no interval"


def _of_disturbed(runs: Iterable[Row]) -> str:
    """How many of the runs were disturbed, and by what; or that a clock or a counter was wrong."""
    each = {row.run: row for row in runs}.values()
    n, cause = n_disturbed(each), worst_cause(each)
    is_wrong = 2 * sum(row.verdict == "impossible" for row in each) > n
    did = "cannot be as recorded" if is_wrong else f"{'was' if n == 1 else 'were'} disturbed"
    told = f"{n:,} of {counted(len(each), 'run')} {did}"
    return f"{told}: {cause}" if cause and not is_wrong else told


def _some(labels: Sequence[str]) -> list[str]:
    return [*labels[:3], *([f"{len(labels) - 3} more"] if labels[3:] else [])]
