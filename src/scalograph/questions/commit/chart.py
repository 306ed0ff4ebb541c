"""Draw what each measured version takes over the good one, and where the steps are."""

from typing import Any

from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.commit.document import FIGURE, Commits, MeasuredVersion, commit_name
from scalograph.text.plots import axis, hover, line

TITLE = "Time of each measured commit"
CAPTION = "Dots: time over that of the good version, with 95%. Line: the steps that were found."


def figures(findings: Findings) -> list[Figure]:
    """Draw the measured versions in their order; nothing where none was measured but the ends."""
    part = findings.document("commit", Commits)
    if part is None or len(part.versions) < 2:
        return []
    layout: dict[str, Any] = {
        "xaxis": axis("commits after the good one", (-0.5, part.n_versions - 0.5)),
        "yaxis": {"title": {"text": "time over the good version"}, "showgrid": False},
    }
    plot = Plot(TITLE, [_steps(part), _dots(part.versions)], layout, size="large")
    return [Figure(FIGURE, TITLE, CAPTION, [View([plot])])]


def _dots(versions: list[MeasuredVersion]) -> dict[str, Any]:
    lows, values, highs = zip(*(version.factor for version in versions), strict=True)
    bars = {
        "type": "data", "symmetric": False, "thickness": 1, "width": 3, "color": "line-0",
        "array": [high - value for value, high in zip(values, highs, strict=True)],
        "arrayminus": [value - low for low, value in zip(lows, values, strict=True)],
    }  # fmt: skip
    texts = [
        hover([commit_name(version.name), "{1:.3f} [{0:.3f}, {2:.3f}]".format(*version.factor)]) for version in versions
    ]
    dots = {"mode": "markers", "marker": {"size": 7, "color": "line-0"}, "hoverinfo": "text", "text": texts}
    return {**line([version.index for version in versions], [*values], "line-0", 0, **dots), "error_y": bars}


def _steps(part: Commits) -> dict[str, Any]:
    """Return the line that begins at 1 and rises by each step, at the last version that may have brought it."""
    order = {version.name: version.index for version in part.versions}
    rises = sorted((order.get(step.candidates[-1], 0), step.factor[1]) for step in part.steps)
    xs, ys, level = [0.0], [1.0], 1.0
    for index, factor in rises:
        xs += [index - 0.5, index - 0.5]
        ys += [level, level := level * factor]
    return line([*xs, float(part.n_versions - 1)], [*ys, level], "line-1", 1.4)
