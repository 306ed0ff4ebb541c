"""Still pictures: the plot that the script would draw, without it."""

import re
from typing import Any
from xml.etree import ElementTree

from scalograph.report.first_chart import CurveLine, _upright
from scalograph.report.picture_marks import PictureAxis
from scalograph.report.static_picture import picture
from scalograph.text.plots import axis, axis_ticks, decades, log_range

LAYOUT: dict[str, Any] = {
    "margin": {"l": 50, "r": 50, "t": 24, "b": 42},
    "xaxis": axis("threads", (0, 10), **axis_ticks([0, 5, 10], ["one", "five", "ten"])),
    "yaxis": {"title": {"text": "speedup"}} | decades(0.5, 50),
}
LINE: dict[str, Any] = {
    "type": "scatter", "mode": "lines+markers", "x": [0, 5, 10], "y": [1, None, 10],
    "line": {"color": "line-0", "width": 2}, "marker": {"color": ["ink", "ink", "line-1/0.5"], "size": 6},
}  # fmt: skip


def drawn(*data: dict[str, Any], **layout: Any) -> ElementTree.Element:
    return ElementTree.fromstring(picture(data, LAYOUT | layout, 400, 300))


def test_values_stand_where_the_axes_say() -> None:
    across, up = PictureAxis(LAYOUT["xaxis"], 50, 350), PictureAxis(LAYOUT["yaxis"], 258, 24)
    assert across(5) == 200 and abs(up(0.5) - 258) < 1 and up(0.5) > up(1) > up(10) > up(50)
    assert not up.has(0) and up.inside(1e9) == 24 and log_range([1e-9, 4e-9], [1e-9, 5e-9])[0] > 0
    zeros = CurveLine((0,), [0.0, 1.0], [[0.0, 0.0, 0.0]] * 2, [None, None])
    low, high = _upright([zeros], [], [], "share", False)["range"]
    assert low < high


def test_colors_stay_roles_and_a_gap_stays_a_gap() -> None:
    paths = [node.attrib for node in drawn(LINE).iter("path")]
    line = next(path for path in paths if path.get("stroke") == "var(--line-0)")
    assert line["d"].count("M") == 2
    marks = {path["fill"]: path for path in paths if path.get("fill") in ("var(--ink)", "var(--line-1)")}
    assert marks["var(--line-1)"]["fill-opacity"] == "0.5"
    assert not re.search("#[0-9a-f]{3}|rgb", ElementTree.tostring(drawn(LINE), encoding="unicode"))


def test_a_line_and_an_interval_end_at_the_frame() -> None:
    beyond = {"type": "scatter", "x": [1, 5], "y": [1, 1e6], "line": {"color": "line-0"}}
    (cut,) = drawn(beyond).findall("svg")
    assert cut.attrib["viewBox"] == "50 24 300 234" and cut.find("path") is not None
    assert drawn(LINE).find("svg") is None
    bars = {"array": [1e6, 0, 1], "arrayminus": [5, 0, 1], "color": "line-0", "thickness": 1}
    paths = [node.get("d", "") for node in drawn(LINE | {"error_y": bars}).iter("path")]
    assert all(24 <= float(y) <= 258 for path in paths for y in re.findall(r"V([\d.]+)", path))


def test_a_map_is_cells_of_which_neighbors_alike_are_one_and_the_unknown_ones_are_none() -> None:
    colors = [[0, "line-1~0.6"], [0.5, "line-1~0"], [0.5, "line-0~0"], [1, "line-0~0.6"]]
    cells = {"type": "heatmap", "x": [1, 2, 3], "y": [1, 2], "z": [[-1, -1, 1], [None, 1, 1]], "colorscale": colors}
    flat = {"yaxis": axis("rows", (0.5, 2.5), **axis_ticks([1, 2], ["1", "2"]))}

    def counts(**changes: Any) -> dict[str | None, int]:
        cut = [node for node in drawn(cells | changes, **flat).iter("path") if "shape-rendering" in node.attrib]
        return {node.get("fill"): node.attrib["d"].count("M") for node in cut}

    assert counts() == {"var(--line-1)": 1, "var(--line-0)": 2} and counts(z=[[None] * 3] * 2) == {}


def test_texts_are_harmless_fit_and_have_room() -> None:
    note = {"x": 5, "y": 1, "text": "a &lt;b&gt;<br>second", "xanchor": "left"}
    shown = drawn(annotations=[note], xaxis=LAYOUT["xaxis"] | {"title": {"text": "</svg><script>" * 20}})
    texts = ["".join(node.itertext()) for node in shown.iter("tspan")]
    assert "a <b>" in texts and max(map(len, texts)) < 70 and not list(shown.iter("script"))
    notes = [{"x": 1, "y": 0, "text": str(room), "name": "side", "room": (room, 10)} for room in (1000, 200, 100)]
    assert [node.text for node in drawn(annotations=notes).iter("tspan")].count("200") == 1
    assert not {"1000", "100"} & {node.text for node in drawn(annotations=notes).iter("tspan")}
