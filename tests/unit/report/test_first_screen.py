"""The first screen: its figure, the lines that are named, the strip of runs; and the still picture of any plot."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.kit import samples
from tests.kit.findings import findings_of
from tests.kit.records import recorded
from tests.kit.studies import VALID

from scalograph.analysis.estimate import Estimate
from scalograph.cli.analyze_steps import draw_charts
from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import Claim, Findings, Matrix, MatrixCell, MatrixRow, RunLog, RunsDoc
from scalograph.protocol.plain import Level
from scalograph.report.first_chart import CurveLine, _upright, first_chart, furthest, match_rows
from scalograph.report.first_screen import day, matrix_text
from scalograph.report.html import page, run_timeline
from scalograph.report.payload import payload
from scalograph.report.picture_marks import PictureAxis
from scalograph.report.static_picture import picture
from scalograph.text.plots import axis, axis_ticks, decades, log_range


def first(findings: Findings) -> Plot:
    drawn = draw_charts(findings)
    plot = first_chart(findings, payload(findings, drawn), drawn)
    assert plot
    return plot


def curve(group: tuple[int, ...], *ys: float) -> CurveLine:
    return CurveLine(group, [float(i) for i in range(len(ys))], [[y, y, y, ""] for y in ys], [])


def test_speedup_stands_first_unless_the_claim_names_another() -> None:
    names = [note["text"] for note in first(samples.full()).layout["annotations"]]
    assert 1 < len(set(names)) == len(names) <= 6
    findings: Findings = samples.full()
    assert first(findings).layout["yaxis"]["title"]["text"].startswith("speedup over")
    findings.claim = Claim(sentences=["So it is."], figure="response cpu")
    assert "lower is better" in first(findings).layout["yaxis"]["title"]["text"]


@pytest.mark.parametrize(("levels", "mode"), [(["gcc", "clang", "icc"], "markers"), ([1, 2, 1048576], "lines+markers")])
def test_only_levels_that_have_an_order_are_joined_by_a_line(tmp_path: Path, levels: list[Level], mode: str) -> None:
    text = VALID.replace('levels = "1,2,4"', f"levels = {levels}").replace("threads = 1", f"threads = {levels[0]!r}")
    runs = [
        ({"threads": level, "lock": lock}, recorded((1 + place + i / 100) * factor))
        for i in range(4)
        for place, level in enumerate(levels)
        for lock, factor in (("none", 1.0), ("cas", 1.1))
    ]
    plot = first(findings_of(tmp_path, runs, text))
    assert {trace["mode"] for trace in plot.data if "error_y" in trace} == {mode}
    assert plot.layout["xaxis"]["ticktext"][-1] == ("icc" if mode == "markers" else "1,048,576")
    places = [x for trace in plot.data if "error_y" in trace for x in trace["x"]]
    assert mode != "markers" or len({*places}) == len(places)


def test_lines_far_apart_are_chosen_and_twins_are_not() -> None:
    every = [curve((i, 0), 1, 2 ** (i % 4)) for i in range(8)]
    assert {one.ys[-1] for one in furthest(every)} == {1, 2, 4, 8} and len(furthest(every)) == 4
    every = [curve((i, j), 1, 2.0**i) for i in range(3) for j in range(3)]
    assert len({one.group[1] for one in furthest(every)}) == 1
    every = [curve((i,), 1, 1 + i / 2) for i in range(9)]
    assert match_rows(every, [{1.0: 3.01}, {}, {1.0: 400}]) == [every[4]]


def test_the_matrix_says_value_interval_and_doubt() -> None:
    cells = [
        MatrixCell(estimate=Estimate(1.94, 1.81, 2.07)),
        MatrixCell(text="never"),
        MatrixCell(text="5", doubt="why"),
    ]
    shown = matrix_text(Matrix(title="speedup", columns=["2", "8", "9"], rows=[MatrixRow(label="a", cells=cells)]))
    assert [cell[0] for cell in shown.rows[0][1]] == ["1.94", "never", "5"]
    assert shown.rows[0][1][0][1].endswith("%") and "why" in shown.note


def log(n: int) -> RunLog:
    verdicts = ["clean", "unverified", "disturbed"] * n
    return RunLog(
        configurations=[{"n": 1}], run=[f"r{i}" for i in range(3 * n)], configuration=[0] * 3 * n,
        start_s=[float(i) for i in range(3 * n)], status=["ok"] * 3 * n, verdict=verdicts, cause=[""] * 3 * n,
        amount=[None] * 3 * n, counted=[v != "disturbed" for v in verdicts], relative=[1.0, 1.1, None] * n,
    )  # fmt: skip


def test_the_strip_counts_every_run_stays_small_and_marks_are_full_or_a_cross() -> None:
    strip = run_timeline(log(5))
    assert strip and [count for *_, count in strip.counts] == [5, 5, 5] and "5 excluded" in strip.words
    assert set(strip.pictures) == {"wide", "middle", "narrow"}
    assert run_timeline(None) is run_timeline(RunLog()) is None
    all_count = log(5)
    all_count.counted = [True] * len(all_count.run)
    strip = run_timeline(all_count)
    assert strip and "5 disturbed, none of them excluded" in strip.words
    strip = run_timeline(log(10_000))
    assert strip and sum(map(len, strip.pictures.values())) < 300_000
    strip = run_timeline(log(5))
    assert strip
    dots = re.findall(r'stroke="var\(--([\w-]+)\)" stroke-width="(\S+?)"', strip.pictures["wide"])
    assert [color for color, width in dots if width == "4"] == ["line-0", "muted"]
    assert strip.pictures["wide"].count("l6 6m0-6l-6 6") == 0  # no disturbed run has a value here


def test_what_has_one_point_is_a_line_and_the_first_figure_needs_no_script() -> None:
    findings: Findings = samples.small()
    findings.claim = Claim(sentences=["So it is."], figure="response wall")
    findings.curves[1].points = findings.curves[1].points[:1]
    flat = [trace for trace in first(findings).data if len({*trace["y"]}) == 1 < len({*trace["x"]})]
    assert len(flat) == 1 and len({*flat[0]["x"]}) == 2
    html = page(samples.full())
    assert html.index('id="first-figure"') < html.index("<svg") < html.index('id="figures"') < html.index("<script")


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "soon", ""])
def test_a_day_that_no_calendar_has_is_left_out(at: str) -> None:
    assert day(RunsDoc(n_asked=1, n_done=1, n_failed=0, configurations=1, started=at)) == ""


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


def test_values_stand_where_the_axes_say_in_colors_that_are_roles() -> None:
    across, up = PictureAxis(LAYOUT["xaxis"], 50, 350), PictureAxis(LAYOUT["yaxis"], 258, 24)
    assert across(5) == 200 and abs(up(0.5) - 258) < 1 and up(0.5) > up(1) > up(10) > up(50)
    assert not up.has(0) and up.inside(1e9) == 24 and log_range([1e-9, 4e-9], [1e-9, 5e-9])[0] > 0
    zeros = CurveLine((0,), [0.0, 1.0], [[0.0, 0.0, 0.0]] * 2, [None, None])
    low, high = _upright([zeros], [], [], "share", False)["range"]
    assert low < high
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


def test_an_inconclusive_point_is_hollow_and_unjoined() -> None:
    findings: Findings = samples.small()
    findings.curves[0].points[1].speedup = Estimate(value=1.5, low=0.4, high=3.0)
    plot = first(findings)
    (hollow,) = [trace for trace in plot.data if trace.get("marker", {}).get("line", {}).get("width") == 1.4]
    assert hollow["mode"] == "markers" and hollow["marker"]["color"] == "paper"
    assert [y for y in hollow["y"] if y is not None] == [1.5]
    (joined,) = [trace for trace in plot.data if trace["y"].count(None) == 1 and "error_y" in trace]
    assert joined["mode"] == "lines+markers" and 1.5 not in joined["y"]
    assert "hollow: inconclusive" in plot.note and "hollow" not in first(samples.small()).note


def test_two_runs_are_inconclusive_though_their_range_is_drawn() -> None:
    findings: Findings = samples.small()
    response = findings.curves[0].points[0].responses["wall"]
    response.scores, response.runs, response.verdicts = response.scores[:2], response.runs[:2], []
    response.estimate = Estimate(value=response.scores[0], low=response.scores[0] / 90, high=90.0, n=2)
    drawn = payload(findings)["families"][0]["curves"][0]["points"]
    assert drawn[0]["open"] == ["response wall"] and "open" not in drawn[1]


@pytest.mark.parametrize(("low", "high", "arrows"), [(1.4, 400.0, ["arrow-up"]), (1e-9, 2.0, ["arrow-down"])])
def test_no_interval_is_cut_silently(low: float, high: float, arrows: list[str]) -> None:
    findings: Findings = samples.small()
    findings.curves[0].points[1].speedup = Estimate(value=1.5, low=low, high=high)
    plot = first(findings)
    (trace,) = [one for one in plot.data if isinstance(one.get("marker", {}).get("symbol"), list)]
    assert trace["marker"]["symbol"] == arrows and "interval beyond the chart" in trace["hovertext"][0]
    ends = [10**end for end in plot.layout["yaxis"]["range"]]
    assert trace["y"][0] == pytest.approx(ends[arrows == ["arrow-up"]])
    assert "arrow: the interval goes on" in plot.note and "arrow" not in first(samples.small()).note


def test_a_tooltip_names_line_level_and_value() -> None:
    texts = [text for trace in first(samples.small()).data for text in trace.get("hovertext", ())]
    assert texts and all(text.count("<br>") == 2 for text in texts) and "Threads: 2" in texts[1]


def one_configuration() -> Findings:
    findings: Findings = samples.one_point()
    response = findings.curves[0].points[0].responses["wall"]
    response.scores, response.runs = [0.3, 0.1, 0.4, 0.2, 9.0], ["a", "b", "c", "d", "e"]
    response.verdicts, response.left_out = ["clean", "unverified", "disturbed", "clean", "disturbed"], ["e"]
    response.estimate = Estimate(value=0.22, low=0.12, high=0.23, n=4)
    return findings


def test_one_configuration_is_a_distribution_with_every_run() -> None:
    plot = first(one_configuration())
    steps, marks = plot.data
    assert marks["y"] == [0.25, 0.5, 0.75, 1.0, 0.0]
    assert marks["marker"]["symbol"] == ["circle", "circle", "circle", "x", "x"]
    assert len(steps["x"]) == 8 and steps["y"][:3] == [0.0, 0.25, 0.25]
    assert [shape["type"] for shape in plot.layout["shapes"]] == ["rect"]
    assert "4 counted runs" in plot.note and "cross: 1 excluded" in plot.note
    assert plot.layout["xaxis"]["range"][0] < marks["x"][0] and marks["x"][-1] < plot.layout["xaxis"]["range"][1]
    assert "of runs" not in first(samples.small()).layout["yaxis"]["title"]["text"]


def test_of_two_runs_there_is_no_distribution_and_names_are_not_needed() -> None:
    findings = one_configuration()
    response = findings.curves[0].points[0].responses["wall"]
    response.runs = response.left_out = response.verdicts = []
    assert first(findings).data[1]["y"] == [0.2, 0.4, 0.6, 0.8, 1.0]
    response.scores = response.scores[:2]
    assert first(findings).layout["yaxis"]["title"]["text"] != "share of runs"


def test_secondary_responses_are_folded_and_what_the_answer_names_is_not() -> None:
    findings: Findings = samples.small()
    folded = lambda: [m["id"] for m in payload(findings)["families"][0]["measures"] if m["folded"]]  # noqa: E731
    assert "response cpu" in folded() and not {"response wall", "speedup", "efficiency"} & {*folded()}
    findings.claim = Claim(sentences=["So it is."], figure="response cpu")
    assert "response cpu" not in folded()
