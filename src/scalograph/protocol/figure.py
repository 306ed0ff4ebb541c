"""A figure as a plain value: questions make it of findings, the page draws it. It holds nothing of either.

Traces and layouts are plotly's, in plain lists and dicts, with four additions that the page's script resolves:

- colors go by role, so that another scheme or paper can draw them again: `ink`, `paper`, `muted`, `rule`, `wait` and
  `line-0` to `line-7` are those of the style sheet, `line-0/0.3` lets 30 % of one through, `line-0~0.3` mixes 30 % of
  it into the paper;
- titles and tick labels of axes are shortened to the room that there is, and escaped; all other text is escaped here;
- of annotations with the same `name` the first one whose `room`, in pixels, the plot has is kept;
- what any axis, any layout has in common is left out.
"""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class TextTable:
    """The numbers of a figure for who does not see it; the first cell of a row is its heading."""

    title: str
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Details:
    """Tables that open on demand."""

    summary: str
    tables: list[TextTable]


@dataclass(frozen=True)
class Plot:
    """One drawing.

    Attributes:
        label: what it shows, for who does not see it.
        key: how to read it, above; `note` stands below.
        reach: where its horizontal axis ends; plots beside each other that end at like places share one scale.
    """

    label: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    title: str = ""
    key: str = ""
    note: str = ""
    details: list[Details] = field(default_factory=list)
    reach: float | None = None
    size: Literal["small", "large", "tall"] = "small"


@dataclass(frozen=True)
class View:
    """Plots that are seen together; `name` is what they are chosen by."""

    plots: list[Plot]
    name: str = ""
    note: str = ""
    details: list[Details] = field(default_factory=list)


@dataclass(frozen=True)
class KeyItem:
    """A piece of what is drawn, and what it means: `mark` has elements of a picture 36 by 14 pixels.

    An element is its tag, its attributes and its children; `before` stands in front of the piece.
    """

    text: str
    mark: list[Any]
    before: str = ""
    width: int = 36


@dataclass(frozen=True)
class Figure:
    """Some views, of which as many are seen at a time as `shown` names by their places.

    Attributes:
        id: of its place in the page.
        choice: what views are chosen by, where there is more than one.
    """

    id: str
    title: str
    caption: str
    views: list[View]
    shown: tuple[int, ...] = (0,)
    unit: str = ""
    choice: str = ""
    key: list[KeyItem] = field(default_factory=list)
    details: list[Details] = field(default_factory=list)


@dataclass(frozen=True)
class Overlay:
    """Shapes over every curve along a factor, their horizontal places being levels, and the words that explain them.

    The axis of that factor goes by ratios, and has the levels that were measured.
    """

    factor: str
    shapes: list[dict[str, Any]]
    caption: str
