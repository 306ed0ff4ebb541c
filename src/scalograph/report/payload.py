"""The data that the page's script reads: charts as plain numbers and formatted texts."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from scalograph.protocol.figure import Details, Figure, Overlay, Plot, TextTable, View
from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.report import explanation_chart, timeline_chart
from scalograph.report.families import families
from scalograph.report.samples import Samples
from scalograph.text.axes import Factors
from scalograph.text.escape import escape_controls
from scalograph.text.format import significant
from scalograph.text.plots import MARGIN, axis, axis_ticks, mix_color, outside_ticks
from scalograph.text.scale import MICRO

MOST_SUBTASKS = 512
KEY = "One shot of the run nearest the median. Each bar: a subtask."


def figures(findings: Findings, factors: Factors) -> list[Figure]:
    """Draw every consistent trace of subtasks, side by side."""
    whole = (t for t in findings.traces if 0 < len(t.start_us) == len(t.end_us) == len(t.worker))
    plots = [_plot(t, factors) for t in whole if all(0 <= a <= b for a, b in zip(t.start_us, t.end_us, strict=True))]
    return [Figure("traces", "Which worker did which subtask", KEY, [View(plots)])] if plots else []


def _plot(trace: TaskTrace, factors: Factors) -> Plot:
    title, words = factors.configuration(trace.configuration) or escape_controls(trace.run), describe_trace(trace)
    end, workers = max(trace.end_us), sorted(set(trace.worker))
    time = axis(f"time since the shot began ({MICRO})", (0, end), nticks=6, showgrid=True, separatethousands=True)
    places = axis_ticks(range(len(workers)), [*map(str, workers)])
    upright = axis("worker", (len(workers) - 0.5, -0.5), **places)
    layout = {"margin": MARGIN, "xaxis": time | outside_ticks(), "yaxis": upright}
    rows = [[str(w), str(trace.worker.count(w)), str(_percent(busy(_spans(trace, w)), end))] for w in workers]
    table = TextTable(f"Subtasks by worker, run {escape_controls(trace.run)}", ["worker", "subtasks", "busy (%)"], rows)
    return Plot(
        f"Subtasks by worker over time, {title}. {words}", [_bars(trace, workers)], layout, title, note=words,
        details=[Details("This trace as a table", [table])], reach=end or 1, size="large",
    )  # fmt: skip


def _bars(trace: TaskTrace, workers: Sequence[int]) -> dict[str, Any]:
    rows = {worker: row for row, worker in enumerate(workers)}
    length = [float(f"{b - a:.6g}") for a, b in zip(trace.start_us, trace.end_us, strict=True)]
    start = [float(f"{a:.6g}") for a in trace.start_us]
    # Of each subtask, how many its worker began before.
    begun, order = dict.fromkeys(trace.worker, 0), [0] * len(trace.worker)
    for i in sorted(range(len(order)), key=lambda i: trace.start_us[i]):
        order[i] = begun[trace.worker[i]]
        begun[trace.worker[i]] += 1
    color = [mix_color("line-0", 0.6) if nth % 2 else "line-0" for nth in order]
    hover_texts = [
        f"worker {worker}, its subtask {nth + 1}: {significant(took)} {MICRO} from {significant(at)} {MICRO} on"
        for worker, nth, took, at in zip(trace.worker, order, length, start, strict=True)
    ]
    return {
        "type": "bar", "orientation": "h", "base": start, "x": length, "y": [rows[worker] for worker in trace.worker],
        "width": 0.8, "marker": {"color": color, "line": {"width": 0}}, "hoverinfo": "text", "hovertext": hover_texts,
        "textposition": "none",
    }  # fmt: skip


def _spans(trace: TaskTrace, worker: int) -> list[tuple[float, float]]:
    return [(a, b) for a, b, who in zip(trace.start_us, trace.end_us, trace.worker, strict=True) if who == worker]


def _percent(part: float, whole: float) -> int:
    return round(100 * part / whole) if whole > 0 else 0


def describe_trace(trace: TaskTrace) -> str:
    """Describe a trace for readers who do not see it.

    >>> describe_trace(TaskTrace(run="r", configuration={}, start_us=[0, 0, 6], end_us=[5, 10, 9], worker=[0, 1, 0]))
    '3 subtasks of 6.00 µs on average by 2 workers, who were busy for 90% of the 10.0 µs until the last one ended.'
    """
    n, end, workers = len(trace.worker), max(trace.end_us), set(trace.worker)
    mean = math.fsum(b - a for a, b in zip(trace.start_us, trace.end_us, strict=True)) / n
    share = _percent(sum(busy(_spans(trace, worker)) for worker in workers), end * len(workers))
    who = f"{len(workers)} workers, who were" if len(workers) > 1 else "1 worker, who was"
    first = f" Only the first {n} are recorded." if n == MOST_SUBTASKS else ""
    subtasks = f"{n} subtask{'s' if n > 1 else ''} of {significant(mean)} {MICRO} on average"
    return f"{subtasks} by {who} busy for {share}% of the {significant(end)} {MICRO} until the last one ended.{first}"


def busy(spans: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of spans.

    >>> busy([(0, 4), (1, 2), (3, 6), (8, 9)])
    7
    """
    ordered = sorted(spans)
    reached = [ordered[0][0]]
    for _, end in ordered:
        reached.append(max(reached[-1], end))
    return sum(max(0, b - max(a, start)) for (a, b), (start, _) in zip(pairwise(reached), ordered, strict=True))


def payload(findings: Findings, drawn: Sequence[Figure | Overlay] = ()) -> dict[str, Any]:
    """Return all that charts, raw samples and the download need; `drawn` is what the questions draw."""
    overlays = [item for item in drawn if isinstance(item, Overlay)]
    factors = Factors(findings, by_ratio=[item.factor for item in overlays])
    samples = Samples(factors)
    curves = families(findings, factors, samples, overlays)
    responses = {r.name: escape_controls(r.unit) for r in findings.study.responses}
    responses |= {name: "" for row in samples.rows for name in row.scores if name not in responses}
    logged = samples.take(findings.log) if findings.log else {}
    return {
        "study": escape_controls(findings.study.name),
        "before": [item for item in drawn if isinstance(item, Figure)],
        "families": curves,
        "after": [
            *explanation_chart.figures(findings), *figures(findings, factors),
            *timeline_chart.figures(findings, factors),
        ],
        "untimed": timeline_chart.missing_timeline(findings),
        "samples": samples.columns(responses) | logged,
        "responses": [[name, escape_controls(name), unit] for name, unit in responses.items()],
        "factors": {
            f.name: {"title": f.title, "unit": f.unit, "levels": f.texts(),
                     "raw": [escape_controls(x) if isinstance(x, str) else x for x in f.levels]}
            for f in factors.known.values()
        },
    }  # fmt: skip
