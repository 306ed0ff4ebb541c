"""Whether a published scaling factor is found again, and where it is not, what is known of the cause."""

from collections.abc import Mapping

from scalograph.analysis.estimate import Estimate
from scalograph.findings.published_file import PublishedRow, level, number
from scalograph.findings.table import Table
from scalograph.study.model import Published
from scalograph.text.reproduced import HIGHER, IMPOSSIBLE, LOWER, NOT_RESOLVED, OTHER_CPUS, UNLIKE, YES

# A published figure has its own error, rarely printed; it counts as reproduced within this factor of the interval.
TOLERANCE = 0.05
WIDEST = 0.25

Span = tuple[float | None, float | None]


def answer(
    table: Table, published: Published, row: PublishedRow, figures: Mapping[str, Estimate], column: str, objection: str
) -> str:
    """Say whether one row is found again.

    Args:
        table: the runs.
        published: what the columns mean.
        row: of the file.
        figures: what was measured of its treatment; empty where it was not run.
        column: that holds the scaling factor.
        objection: what the physics gates have against the published figures of this row, or empty.
    """
    wanted = {name: level(published, key, row[key]) for key, name in published.match.items()}
    if figures and any(wanted.get(name) == value for name, value in table.study.baseline.items()):
        return "baseline"
    found = reproduces(number(row[column]), figures.get("speedup"), span(published, row, column))
    if found == "not measured":
        return found
    if why_unlike(published, row):
        return UNLIKE
    if found not in (LOWER, HIGHER):
        return found
    others = published.machine_cpus not in (None, table.machine.get("n_cpus"))
    return IMPOSSIBLE if objection else OTHER_CPUS if others else found


def why_unlike(published: Published, row: PublishedRow) -> str:
    """Why a row was built otherwise than what is measured here; empty where it was not."""
    fitting = (u.why for u in published.unlike if all(row.get(name) == _cell(value) for name, value in u.where.items()))
    return next(fitting, "")


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def span(published: Published, row: PublishedRow, column: str) -> Span:
    """The published range of a figure, where there are columns for it."""
    ends = published.ranges.get(column)
    return (number(row.get(ends[0])), number(row.get(ends[1]))) if ends else (None, None)


def reproduces(published: float | None, here: Estimate | None, within: Span = (None, None)) -> str:
    """Whether a published scaling factor lies in the measured interval, widened by `TOLERANCE`.

    An interval wider than `WIDEST` to each side would hold nearly anything: it decides nothing. Nor does a published
    range that overlaps it.

    >>> reproduces(0.53, Estimate(value=0.98, low=0.97, high=0.99))
    'no: published lower'
    >>> reproduces(0.90, Estimate(value=0.98, low=0.97, high=0.99), (0.8, 1.0))
    'not resolved'
    """
    if published is None or here is None or here.value is None:
        return "not measured"
    if here.low is None or here.high is None or here.high - here.low > 2 * WIDEST * here.value:
        return NOT_RESOLVED
    low, high = here.low * (1 - TOLERANCE), here.high * (1 + TOLERANCE)
    if low <= published <= high:
        return YES
    least, most = (published if end is None else end for end in within)
    if least <= high and most >= low:
        return NOT_RESOLVED
    return LOWER if published < low else HIGHER
