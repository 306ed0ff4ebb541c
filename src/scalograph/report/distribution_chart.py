"""Draw the distribution of the runs of one configuration: their ECDF, with a mark for each run."""

from itertools import accumulate
from typing import Any

from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import Findings, PointResponse
from scalograph.text.cell_numbers import is_inconclusive
from scalograph.text.escape import escape_controls, one_line
from scalograph.text.format import number, significant
from scalograph.text.plots import axis, axis_ticks, fade_color, hover, line, outside_ticks, round_numbers
from scalograph.text.scale import Scale, scale_for

FEWEST = 3  # runs that have a distribution
SHARES = (0, 0.25, 0.5, 0.75, 1)


def distribution(findings: Findings) -> Plot | None:
    """Draw the primary response of a study of one configuration; None of any other, or of fewer than three runs."""
    points, docs = [point for curve in findings.curves for point in curve.points], findings.study.responses
    doc = next((doc for doc in docs if doc.name == findings.study.primary), docs[0] if docs else None)
    response = points[0].responses.get(doc.name) if doc and len(points) == 1 else None
    if doc is None or response is None or len(response.scores) < FEWEST:
        return None
    scale = scale_for(doc.unit, response.scores)
    ends = [end * scale.factor for end in (*response.scores, response.estimate.low, response.estimate.high) if end]
    spare = 0.04 * (max(ends) - min(ends)) or 1.0
    ticks = round_numbers(min(ends), max(ends), is_log=False)
    labels = axis_ticks(ticks, [*map(number, ticks)])
    title = one_line(doc.title) + (f" ({escape_controls(scale.unit)})" if scale.unit else "")
    upright = axis("share of runs", (-0.04, 1.04), **axis_ticks(SHARES, [f"{100 * x:g}%" for x in SHARES]))
    layout = {
        "margin": {"l": 54, "r": 14, "t": 24, "b": 42}, "shapes": _interval(response, scale),
        "xaxis": axis(title, (min(ends) - spare, max(ends) + spare), **outside_ticks(**labels)),
        "yaxis": upright | {"showgrid": True},
    }  # fmt: skip
    n = len(response.scores) - len(response.left_out)
    note = f"share of the {n} counted runs that are at or below a value; shaded: 95% CI of a typical run"
    note += "; hollow interval: inconclusive" * is_inconclusive(response.estimate)
    note += f"; cross: {len(response.left_out)} excluded" * bool(response.left_out)
    return Plot(f"{title}: distribution of {n} runs", _marks(response, scale), layout, note=note)


def _interval(response: PointResponse, scale: Scale) -> list[dict[str, Any]]:
    low, high = response.estimate.low, response.estimate.high
    if low is None or high is None:
        return []
    fill = {} if is_inconclusive(response.estimate) else {"fillcolor": fade_color("muted", 0.16)}
    box = {"x0": low * scale.factor, "x1": high * scale.factor, "y0": -0.04, "y1": 1.04, "layer": "below"}
    return [{"type": "rect", **box, **fill, "line": {"width": 1, "color": fade_color("muted", 0.5)}}]


def _marks(response: PointResponse, scale: Scale) -> list[dict[str, Any]]:
    """Draw the steps of the counted runs, and each run where its step ends; excluded ones are below all."""
    runs = [*response.runs, *[""] * (len(response.scores) - len(response.runs))]
    ordered = sorted((score * scale.factor, run) for score, run in zip(response.scores, runs, strict=True))
    is_excluded = [run in response.left_out for _, run in ordered]
    n = len(ordered) - sum(is_excluded)
    disturbed = {run for run, verdict in zip(response.runs, response.verdicts, strict=False) if verdict == "disturbed"}
    ranks = [*accumulate(not excluded for excluded in is_excluded)]
    heights = [0.0 if excluded else rank / n for rank, excluded in zip(ranks, is_excluded, strict=True)]
    steps = [(x, y) for (x, _), y in zip(ordered, heights, strict=True) if y]
    cross = [excluded or run in disturbed for excluded, (_, run) in zip(is_excluded, ordered, strict=True)]
    look = {"size": 7, "symbol": ["x" if is_cross else "circle" for is_cross in cross]}
    look["color"] = [f"line-{int(is_cross)}" for is_cross in cross]
    texts = [hover([f"run {run}", f"{significant(x)} {scale.unit}".rstrip()]) for x, run in ordered]
    return [
        line([x for x, _ in steps for _ in (0, 1)], [y + end for _, y in steps for end in (-1 / n, 0)], "line-0", 1.4),
        line([x for x, _ in ordered], heights, "line-0", 0, mode="markers", marker=look, hoverinfo="text",
             hovertext=texts, cliponaxis=False),
    ]  # fmt: skip
