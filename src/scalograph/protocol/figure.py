"""A chart as a plain value: questions make it from findings, the page draws it.

Traces and layouts are plotly's, with four additions that the script of the page resolves:

- colors are roles, so that another scheme or paper can redraw them: `ink`, `paper`, `muted`, `rule`, `wait` and
  `line-0` to `line-7` are those of the style sheet, `line-0/0.3` lets 30% of one through, `line-0~0.3` mixes 30% of
  it into the paper;
- titles and tick labels of axes are shortened to fit, and escaped; all other text is escaped here;
- of annotations with the same `name`, the first whose `room` (pixels) fits the plot is drawn;
- what all axes and layouts have in common is omitted.
"""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class TextTable:
    """The numbers of a chart as text, for screen readers; the first cell of a row is its heading."""

    title: str
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Details:
    """Collapsed tables."""

    summary: str
    tables: list[TextTable]


@dataclass(frozen=True)
class Plot:
    """One drawing.

    Attributes:
        label: text alternative.
        key: how to read it, above the plot; `note` is below.
        reach: end of the horizontal axis; neighboring plots with similar ends share one scale.
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
    """Plots shown together; `name` is the text of the switch that selects them."""

    plots: list[Plot]
    name: str = ""
    note: str = ""
    details: list[Details] = field(default_factory=list)


@dataclass(frozen=True)
class KeyItem:
    """A legend entry: `mark` holds the elements (tag, attributes, children) of a picture of `width` by 14 pixels.

    `before` is text in front of the picture.
    """

    text: str
    mark: list[Any]
    before: str = ""
    width: int = 36


@dataclass(frozen=True)
class Figure:
    """A chart: its views, of which those with an index in `shown` are visible at first.

    Attributes:
        id: anchor in the page.
        choice: label of the switch between views, where there are several.
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
    """Shapes over every curve along a factor, with their caption; horizontal positions are levels.

    The axis of that factor is logarithmic, with the measured levels.
    """

    factor: str
    shapes: list[dict[str, Any]]
    caption: str
