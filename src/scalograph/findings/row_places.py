"""Where rows lie in memory: those of one treatment side by side, as they are gone through.

Estimates go through the rows of a treatment dozens of times. In the order in which runs were made each lies on another
page, and of 100,000 runs a third of the time that the findings take would be waiting for the memory.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from scalograph.findings.row import Row


def side_by_side(rows: "Sequence[Row]") -> "list[Row]":
    """Copy rows so that those of one treatment are next to each other; they are returned in the order of `rows`."""
    places = sorted(range(len(rows)), key=lambda place: id(rows[place].treatment))
    copies = [*rows]
    for place in places:
        copies[place] = _copied(rows[place])
    return copies


def _copied(row: "Row") -> "Row":
    """The row with numbers of its own: a product is another object."""
    return replace(row, scores={name: 1.0 * x if type(x) is float else x for name, x in row.scores.items()})
