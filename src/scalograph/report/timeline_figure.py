"""Timelines as a figure: which CPUs ran a program's tasks, and above the line the tasks that waited for one."""

import math
from statistics import fmean
from typing import Any

from scalograph.protocol.figure import Details, Figure, Plot, TextTable, View
from scalograph.protocol.findings import Findings, TimelineDoc
from scalograph.report.timeline_bins import Bins, drawable
from scalograph.text.axes import Factors
from scalograph.text.escape import prose, visible
from scalograph.text.format import significant
from scalograph.text.plots import MARGIN, axis, escaped, faded, outside
from scalograph.text.scale import scale_for

MAX_CELLS = 300_000  # CPUs x bins over all timelines: about 0.4 MB in the page
# More CPUs than this are a map, not bands; and the picture as numbers has so many rows at most.
FEW_CPUS, FEW_ROWS = 8, 20
KEY = "Run nearest the median. Below: tasks on CPUs; above: tasks waiting."
WINDOW = " Gray: outside the measured window."
TITLE = "Tasks on CPUs over time"


def figures(findings: Findings, factors: Factors) -> list[Figure]:
    """Draw two timelines at a time; one that a degraded probe left empty is passed over."""
    kept = [(t, whole) for t in findings.timelines if (whole := drawable(t.timeline))]
    if not kept:
        return []
    cells = sum(len(whole["cpus"]) * len(whole["busy_ns"][0]) for _, whole in kept)
    merge = 1 if cells <= MAX_CELLS else 2 ** math.ceil(math.log2(cells / MAX_CELLS))
    scale = scale_for("ns", [whole["bin_ns"] * len(whole["busy_ns"][0]) for _, whole in kept])
    views = [_view(t, Bins(whole, merge, scale), factors) for t, whole in kept]
    shown = (0, len(views) - 1) if len(views) > 1 else (0,)
    return [Figure("timelines", TITLE, KEY, views, shown, choice="Configuration")]


def untimed(findings: Findings) -> str:
    """Why there is no timeline; empty where there is one, or nothing was run."""
    if findings.runs.n_done == 0 or any(drawable(t.timeline) for t in findings.timelines):
        return ""
    refused = next((d for d in findings.degraded if "records" in d.what), None)
    why = f"{refused.what}: {refused.why}{f'; {refused.fix}' if refused.fix else ''}" if refused else "no run has one"
    return prose(f"No timeline of tasks on CPUs ({why}).")


def _view(doc: TimelineDoc, bins: Bins, factors: Factors) -> View:
    title, run = factors.treatment(doc.treatment) or visible(doc.run), visible(doc.run)
    label = f"Tasks on CPUs over time, {title}. {bins.words}"
    details = [_busiest(bins, run)] if bins.tasks else []
    note = bins.words if bins.tasks else f"{bins.words} The tasks of this run were not recorded."
    data, layout = _drawn(bins)
    if doc.window_ns:
        layout.setdefault("shapes", []).extend(_around(doc.window_ns, bins))
        note += WINDOW
    reach, more = bins.width * bins.n, [*details, _over_time(bins, run)]
    return View([Plot(label, data, layout, title, note=note, details=more, reach=reach, size="large")], name=title)


def _around(window: tuple[int, int], bins: Bins) -> list[dict[str, Any]]:
    """Shade what was not measured: the start-up, and what came after."""
    first, last = (min(end * bins.width / bins.bin_ns, bins.width * bins.n) for end in window)
    spans = [(0, first), (last, bins.width * bins.n)]
    shade = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 0}, "fillcolor": faded("muted", 0.3)}
    return [shade | {"x0": a, "x1": b} for a, b in spans if b > a]


def _drawn(bins: Bins) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    few, waits = len(bins.cpus) <= FEW_CPUS, bool(bins.waiting)
    top = bins.most()
    rows = (
        {"range": [0, top * 102], **_whole_cpus(top)}
        if few
        else {"range": [-0.5, len(bins.cpus) - 0.5], "showgrid": False}
    )
    below = {"domain": [0, 0.56 if waits else 1], "title": {"text": "on a CPU" if few else "CPU"}}
    time = axis(f"time since the start ({bins.unit})", (0, bins.width * bins.n), anchor="y", nticks=6, **outside())
    layout: dict[str, Any] = {"margin": MARGIN, "xaxis": time, "yaxis": below | rows}
    if few:
        layout |= {"hovermode": "x unified", "hoversubplots": "axis"}
        time["unifiedhovertitle"] = {"text": f"%{{x:.3~r}} {bins.unit}"}
    split = {"type": "line", "xref": "paper", "yref": "paper", "x0": 0, "x1": 1, "y0": 0.59, "y1": 0.59}
    if waits:
        layout["yaxis2"] = {
            "domain": [0.63, 1],
            "range": [0, max(1, *bins.waiting) * 1.05],
            "nticks": 4,
            "title": {"text": "waiting"},
        }
        layout["shapes"] = [split | {"line": {"color": "ink", "width": 1}}]
    return [*(_bands(bins) if few else [_map(bins)]), *([_waiting(bins)] if waits else [])], layout


def _whole_cpus(top: int) -> dict[str, Any]:
    """Put a tick at whole CPUs, of which 100 percent each are drawn."""
    ticks = range(0, top + 1, math.ceil(top / 4))
    return {"tickmode": "array", "tickvals": [100 * n for n in ticks], "ticktext": [*map(str, ticks)]}


def _steps(bins: Bins, values: list[Any], color: str, **more: Any) -> dict[str, Any]:
    """Draw a line that keeps each value for the whole of its step."""
    style = {"type": "scatter", "mode": "lines", "x0": 0, "dx": bins.width, "y": [*values, values[-1]]}
    return {**style, "line": {"color": color, "shape": "hv", "width": 1}} | more


def _bands(bins: Bins) -> list[dict[str, Any]]:
    """Stack a band for each CPU, the first at the bottom."""
    shades = [faded("line-0", 0.9 - 0.55 * i / len(bins.cpus)) for i in range(len(bins.cpus))]
    edge = {"line": {"width": 0.6, "color": "paper", "shape": "hv"}, "stackgroup": "cpus"}
    tell = [f"CPU {escaped(cpu)} busy %{{y:d}} %<extra></extra>" for cpu in bins.cpus]
    return [
        _steps(bins, row, "paper", **edge, fillcolor=shade, hovertemplate=text)
        for text, row, shade in zip(tell, bins.busy, shades, strict=True)
    ]


def _map(bins: Bins) -> dict[str, Any]:
    return {
        "type": "heatmap", "x0": bins.width / 2, "dx": bins.width, "z": bins.busy, "zmin": 0, "zmax": 100,
        "showscale": False, "colorscale": [[0, "paper"], [1, "line-0"]],
        "hovertemplate": f"%{{x:.3~r}} {bins.unit}: %{{z}} %<extra></extra>",
    }  # fmt: skip


def _waiting(bins: Bins) -> dict[str, Any]:
    tell = "%{y:.3~r} waiting<extra></extra>"
    return _steps(
        bins, bins.waiting, "wait", yaxis="y2", fill="tozeroy", fillcolor=faded("wait", 0.35), hovertemplate=tell
    )


def _busiest(bins: Bins, run: str) -> Details:
    table = TextTable(f"Busiest tasks of run {run}", ["task", "on CPU", "waiting", "moves"], bins.tasks)
    return Details("Busiest tasks", [table])


def _over_time(bins: Bins, run: str) -> Details:
    """The picture as numbers, in a few steps of time."""
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
