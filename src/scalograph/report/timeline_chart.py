"""Timelines as a chart: which CPUs ran a program's tasks, and above the line the tasks that waited."""

import math
from statistics import fmean
from typing import Any

from scalograph.protocol.figure import Details, Figure, Plot, TextTable, View
from scalograph.protocol.findings import Findings, TimelineDoc
from scalograph.text.axes import Factors
from scalograph.text.escape import escape_controls, one_line
from scalograph.text.format import DASH, number, significant
from scalograph.text.plots import MARGIN, axis, escape_markup, fade_color, outside_ticks
from scalograph.text.scale import Scale, scale_for

MAX_TASKS = 12
# The one row of a run with too many switches to record.
TREE = "all"
# Fewer running tasks than this are one task with short-lived others.
ALONE = 1.25


def drawable(timeline: dict[str, Any]) -> dict[str, Any] | None:
    """Return the timeline where its rows and bins agree, as protocol/probe.md has them, else None.

    Where switches were too many to record, the tree is one row, and waiting is unknown.
    """
    tree = timeline.get("tree_busy_ns")
    if timeline.get("cpus") == [] and isinstance(tree, list):
        timeline = {**timeline, "cpus": [TREE], "busy_ns": [tree], "waiting_ns": None}
    cpus, busy, waiting = (timeline.get(name) for name in ("cpus", "busy_ns", "waiting_ns"))
    if not (isinstance(cpus, list) and isinstance(busy, list) and cpus and len(busy) == len(cpus)):
        return None
    rows = busy if waiting is None and cpus == [TREE] else [*busy, waiting]
    bin_ns = timeline.get("bin_ns")
    return timeline if _agree(rows) and isinstance(bin_ns, int | float) and bin_ns > 0 else None


def _agree(rows: list[Any]) -> bool:
    are_equal = all(isinstance(row, list) and row and len(row) == len(rows[0]) for row in rows)
    return are_equal and all(isinstance(x, int | float) and math.isfinite(x) for row in rows for x in row)


class Bins:
    """A timeline in drawn steps: percent of each CPU, and waiting tasks where known."""

    def __init__(self, timeline: dict[str, Any], merge: int, scale: Scale) -> None:
        bin_ns = timeline["bin_ns"] * merge
        rows = [[x / bin_ns for x in merge_bins(row, merge)] for row in timeline["busy_ns"]]
        waits = [x / bin_ns for x in merge_bins(timeline["waiting_ns"] or [], merge)]
        self.bin_ns, self.width, self.unit = bin_ns, bin_ns * scale.factor, scale.unit
        self.cpus = [escape_controls(str(cpu)) for cpu in timeline["cpus"]]
        self.busy: list[list[int]] = [[round(100 * x) for x in row] for row in rows]
        self.waiting = [float(f"{x:.3g}") for x in waits]
        self.words = describe_timeline(rows, waits)
        self.tasks = _tasks(timeline.get("tasks"))

    @property
    def n(self) -> int:
        """Return the number of steps."""
        return len(self.busy[0])

    def most(self) -> int:
        """Return the CPUs that the axis holds: all rows, or the maximum of the tree's one row."""
        return max(len(self.cpus), math.ceil(max(self.busy[0]) / 100))


def describe_timeline(busy: list[list[float]], waiting: list[float]) -> str:
    """Describe a timeline for readers who do not see it.

    `busy` is, for each CPU, the busy share of each bin; `waiting` the waiting tasks of each bin, empty where unknown.

    >>> describe_timeline([[1, 1, 1, 1], [0, 1, 1, 0]], [0, 2, 0, 0])
    'On average 1.5 tasks are on a CPU; for 50% of the time about one or none. On average 0.5 wait, at most 2.'
    """
    running = [sum(column) for column in zip(*busy, strict=True)]
    alone = sum(x < ALONE for x in running) / len(running)
    most = f"for {100 * alone:.0f}% of the time about one or none"
    running_text = f"On average {fmean(running):.3g} tasks are on a CPU; {most}."
    if not waiting:
        return f"{running_text} How many wait is not known: there were too many switches to record each."
    return f"{running_text} On average {fmean(waiting):.3g} wait, at most {max(waiting):.3g}."


def merge_bins(row: list[float], merge: int) -> list[float]:
    """Add up adjacent bins.

    >>> merge_bins([1, 2, 3, 4, 5], 2)
    [3, 7, 5]
    """
    return row if merge == 1 else [sum(row[i : i + merge]) for i in range(0, len(row), merge)]


def _tasks(tasks: Any) -> list[list[str]]:
    listed = [t for t in tasks if isinstance(t, dict)] if isinstance(tasks, list) else []
    cpu = scale_for("ns", [_number(t.get("cpu_ns")) for t in listed])
    wait = scale_for("ns", [_number(t.get("wait_ns")) for t in listed])
    return [
        [one_line(f"{t.get('name', '')} ({t.get('tid', '?')})"), _duration(t.get("cpu_ns"), cpu),
         _duration(t.get("wait_ns"), wait), number(_number(t.get("migrations")))]
        for t in listed[:MAX_TASKS]
    ]  # fmt: skip


def _number(x: Any) -> float | None:
    return float(x) if isinstance(x, int | float) and not isinstance(x, bool) else None


def _duration(x: Any, scale: Scale) -> str:
    value = _number(x)
    return DASH if value is None else f"{significant(value * scale.factor)} {scale.unit}"


MAX_CELLS = 300_000  # CPUs x bins over all timelines: about 0.4 MB in the page
# More CPUs than this are a map instead of bands; rows of the table at most.
FEW_CPUS, FEW_ROWS = 8, 20
KEY = "Run nearest the median. Below: tasks on CPUs; above: tasks waiting."


def figures(findings: Findings, factors: Factors) -> list[Figure]:
    """Draw two timelines at a time; empty ones of a degraded probe are skipped."""
    kept = [(t, whole) for t in findings.timelines if (whole := drawable(t.timeline))]
    if not kept:
        return []
    cells = sum(len(whole["cpus"]) * len(whole["busy_ns"][0]) for _, whole in kept)
    merge = 1 if cells <= MAX_CELLS else 2 ** math.ceil(math.log2(cells / MAX_CELLS))
    scale = scale_for("ns", [whole["bin_ns"] * len(whole["busy_ns"][0]) for _, whole in kept])
    views = [_view(t, Bins(whole, merge, scale), factors) for t, whole in kept]
    shown = (0, len(views) - 1) if len(views) > 1 else (0,)
    return [Figure("timelines", "Tasks on CPUs over time", KEY, views, shown, choice="Configuration")]


def missing_timeline(findings: Findings) -> str:
    """Return why there is no timeline; empty where there is one, or nothing was run."""
    if findings.runs.n_done == 0 or any(drawable(t.timeline) for t in findings.timelines):
        return ""
    refused = next((d for d in findings.degraded if "records" in d.what), None)
    fix = f"; {refused.fix}" if refused and refused.fix else ""
    reason = f"{refused.what}: {refused.why}{fix}" if refused else "no run has one"
    return one_line(f"No timeline of tasks on CPUs ({reason}).")


def _view(doc: TimelineDoc, bins: Bins, factors: Factors) -> View:
    title, run = factors.configuration(doc.configuration) or escape_controls(doc.run), escape_controls(doc.run)
    label = f"Tasks on CPUs over time, {title}. {bins.words}"
    busiest = TextTable(f"Busiest tasks of run {run}", ["task", "on CPU", "waiting", "moves"], bins.tasks)
    details = [Details("Busiest tasks", [busiest])] if bins.tasks else []
    note = bins.words if bins.tasks else f"{bins.words} The tasks of this run were not recorded."
    data, layout = _draw_bins(bins)
    if doc.window_ns:
        layout.setdefault("shapes", []).extend(_shade_unmeasured(doc.window_ns, bins))
        note += " Gray: outside the measured window."
    reach, more = bins.width * bins.n, [*details, _time_table(bins, run)]
    return View([Plot(label, data, layout, title, note=note, details=more, reach=reach, size="large")], name=title)


def _shade_unmeasured(window: tuple[int, int], bins: Bins) -> list[dict[str, Any]]:
    first, last = (min(end * bins.width / bins.bin_ns, bins.width * bins.n) for end in window)
    spans = [(0, first), (last, bins.width * bins.n)]
    shade = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 0}}
    return [shade | {"fillcolor": fade_color("muted", 0.3), "x0": a, "x1": b} for a, b in spans if b > a]


def _draw_bins(bins: Bins) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    few, waits = len(bins.cpus) <= FEW_CPUS, bool(bins.waiting)
    top = bins.most()
    rows: dict[str, Any] = {"range": [-0.5, len(bins.cpus) - 0.5], "showgrid": False}
    if few:  # whole CPUs, of which 100 percent each are drawn
        ticks = range(0, top + 1, math.ceil(top / 4))
        rows = {"range": [0, top * 102], "tickmode": "array", "tickvals": [100 * n for n in ticks]}
        rows["ticktext"] = [*map(str, ticks)]
    below = {"domain": [0, 0.56 if waits else 1], "title": {"text": "on a CPU" if few else "CPU"}}
    time = axis(
        f"time since the start ({bins.unit})", (0, bins.width * bins.n), anchor="y", nticks=6, **outside_ticks()
    )
    layout: dict[str, Any] = {"margin": MARGIN, "xaxis": time, "yaxis": below | rows}
    if few:
        layout |= {"hovermode": "x unified", "hoversubplots": "axis"}
        time["unifiedhovertitle"] = {"text": f"%{{x:.3~r}} {bins.unit}"}
    split = {"type": "line", "xref": "paper", "yref": "paper", "x0": 0, "x1": 1, "y0": 0.59, "y1": 0.59}
    if waits:
        upper = {"domain": [0.63, 1], "range": [0, max(1, *bins.waiting) * 1.05], "nticks": 4}
        layout["yaxis2"] = upper | {"title": {"text": "waiting"}}
        layout["shapes"] = [split | {"line": {"color": "ink", "width": 1}}]
    data = _bands(bins) if few else [_map(bins)]
    if waits:
        tell, fill = "%{y:.3~r} waiting<extra></extra>", {"fill": "tozeroy", "fillcolor": fade_color("wait", 0.35)}
        data.append(_steps(bins, bins.waiting, "wait", yaxis="y2", **fill, hovertemplate=tell))
    return data, layout


def _steps(bins: Bins, values: list[Any], color: str, **more: Any) -> dict[str, Any]:
    style = {"type": "scatter", "mode": "lines", "x0": 0, "dx": bins.width, "y": [*values, values[-1]]}
    return {**style, "line": {"color": color, "shape": "hv", "width": 1}} | more


def _bands(bins: Bins) -> list[dict[str, Any]]:
    shades = [fade_color("line-0", 0.9 - 0.55 * i / len(bins.cpus)) for i in range(len(bins.cpus))]
    edge = {"line": {"width": 0.6, "color": "paper", "shape": "hv"}, "stackgroup": "cpus"}
    tell = [f"CPU {escape_markup(cpu)} busy %{{y:d}}%<extra></extra>" for cpu in bins.cpus]
    return [
        _steps(bins, row, "paper", **edge, fillcolor=shade, hovertemplate=text)
        for text, row, shade in zip(tell, bins.busy, shades, strict=True)
    ]


def _map(bins: Bins) -> dict[str, Any]:
    return {
        "type": "heatmap", "x0": bins.width / 2, "dx": bins.width, "z": bins.busy, "zmin": 0, "zmax": 100,
        "showscale": False, "colorscale": [[0, "paper"], [1, "line-0"]],
        "hovertemplate": f"%{{x:.3~r}} {bins.unit}: %{{z}}%<extra></extra>",
    }  # fmt: skip


def _time_table(bins: Bins, run: str) -> Details:
    step = math.ceil(bins.n / FEW_ROWS)
    few = len(bins.cpus) <= FEW_CPUS
    each = [f"CPU {cpu} (%)" for cpu in bins.cpus] if few else []
    head = [f"from ({bins.unit})", "on a CPU", *each, *(["waiting"] if bins.waiting else [])]
    rows = []
    for start in range(0, bins.n, step):
        means = [fmean(row[start : start + step]) for row in bins.busy]
        waits = [significant(fmean(bins.waiting[start : start + step]))] if bins.waiting else []
        shares = [f"{mean:.0f}" for mean in means] if few else []
        rows.append([significant(start * bins.width), significant(sum(means) / 100), *shares, *waits])
    return Details("This timeline as a table", [TextTable(f"Tasks over time, run {run}", head, rows)])
