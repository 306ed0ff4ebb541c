"""A chart as SVG for notebooks and files, and the drawing of points and fitted laws."""

from collections.abc import Sequence
from pathlib import Path

from scalograph.errors import HostError
from scalograph.protocol.figure import Plot
from scalograph.protocol.results import write_text
from scalograph.report.standalone_picture import standalone
from scalograph.text.format import number
from scalograph.text.plots import axis, axis_ticks, line, outside_ticks, round_numbers

MARGIN = {"l": 70, "r": 16, "t": 24, "b": 44}


class Picture:
    """An SVG of a plot: a notebook shows it, `save` writes it.

    Attributes:
        plot: traces and layout, as plain values (`protocol.figure.Plot`).
        svg: the picture as text.
    """

    def __init__(self, plot: Plot, width: float = 760, height: float = 340) -> None:
        self.plot = plot
        self.svg = standalone(plot, width, height)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Raises:
            HostError: its ending is not .svg, or the disk refuses.
        """
        if Path(path).suffix != ".svg":
            raise HostError(str(path), f'ending "{Path(path).suffix}"', ".svg", "name it FILE.svg")
        write_text(Path(path), self.svg + "\n")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<picture: {self.plot.label}>"


def curve_plot(
    points: tuple[Sequence[float], Sequence[float]],
    fitted: tuple[Sequence[float], Sequence[float]] | None,
    titles: tuple[str, str],
    ends: Sequence[tuple[float | None, float | None]] = (),
) -> Plot:
    """Plot points, with a fitted line if there is one.

    Args:
        points: sizes and values.
        fitted: sizes and values of the line.
        titles: of the axes.
        ends: of the interval of each point, in order; none are drawn where there are none.
    """
    xs, ys = [*points[0]], [*points[1]]
    lines = [line([*fitted[0]], [*fitted[1]], "line-1", 2)] if fitted else []
    top_x, top_y = (1.03 * max([*own, *(fitted[i] if fitted else ())]) for i, own in enumerate((xs, ys)))
    marks = {"mode": "markers", "marker": {"color": "line-0", "size": 7}}
    bars = {"error_y": _bars(ys, ends)} if ends else {}
    places = [round_numbers(0, top, is_log=False) for top in (top_x, top_y)]
    across, up = (
        axis(title, (0, top), **axis_ticks(ticks, [*map(number, ticks)]))
        for title, top, ticks in zip(titles, (top_x, top_y), places, strict=True)
    )
    layout = {"margin": MARGIN, "xaxis": across | outside_ticks(), "yaxis": up | {"showgrid": True}}
    return Plot(f"{titles[1]} over {titles[0]}", [*lines, line(xs, ys, "line-0", 1, **marks, **bars)], layout)


def _bars(ys: Sequence[float], ends: Sequence[tuple[float | None, float | None]]) -> dict[str, object]:
    above = [0.0 if high is None else high - y for y, (_, high) in zip(ys, ends, strict=True)]
    below = [0.0 if low is None else y - low for y, (low, _) in zip(ys, ends, strict=True)]
    shape = {"color": "line-0", "thickness": 1.4, "width": 0}
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **shape}
