"""What the page's script reads: figures as plain numbers and texts that are already formatted."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from scalograph.protocol.figure import Details, Figure, Overlay, Plot, TextTable, View
from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.report import timeline_figure
from scalograph.report.families import families
from scalograph.report.samples import Samples
from scalograph.text.axes import Factors, Levels
from scalograph.text.escape import visible
from scalograph.text.format import significant
from scalograph.text.plots import MARGIN, at, axis, mixed, outside
from scalograph.text.scale import MICRO

MOST_SUBTASKS = 512
KEY = "One shot of the run nearest the median. Each bar: a subtask."


def figures(findings: Findings, factors: Factors) -> list[Figure]:
    """Draw every trace whose lists agree, side by side."""
    plots = [_plot(one, factors) for one in findings.traces if _is_whole(one)]
    return [Figure("traces", "Which worker did which subtask", KEY, [View(plots)])] if plots else []


def _is_whole(one: TaskTrace) -> bool:
    agree = 0 < len(one.start_us) == len(one.end_us) == len(one.worker)
    return agree and all(0 <= a <= b for a, b in zip(one.start_us, one.end_us, strict=True))


def _plot(one: TaskTrace, factors: Factors) -> Plot:
    title, words = factors.treatment(one.treatment) or visible(one.run), in_words(one)
    end, workers = max(one.end_us), sorted(set(one.worker))
    time = axis(f"time since the shot began ({MICRO})", (0, end), nticks=6, showgrid=True, separatethousands=True)
    places = at(range(len(workers)), [*map(str, workers)])
    layout = {
        "margin": MARGIN, "xaxis": time | outside(), "yaxis": axis("worker", (len(workers) - 0.5, -0.5), **places),
    }  # fmt: skip
    return Plot(
        f"Subtasks by worker over time, {title}. {words}", [_bars(one, workers)], layout, title, note=words,
        details=[_table(one, workers)], reach=end or 1, size="large",
    )  # fmt: skip


def _bars(one: TaskTrace, workers: Sequence[int]) -> dict[str, Any]:
    rows = {worker: row for row, worker in enumerate(workers)}
    length = [float(f"{b - a:.6g}") for a, b in zip(one.start_us, one.end_us, strict=True)]
    start = [float(f"{a:.6g}") for a in one.start_us]
    order = _order(one)
    color = [mixed("line-0", 0.6) if nth % 2 else "line-0" for nth in order]
    told = [
        f"worker {worker}, its subtask {nth + 1}: {significant(took)} {MICRO} from {significant(begun)} {MICRO} on"
        for worker, nth, took, begun in zip(one.worker, order, length, start, strict=True)
    ]
    return {
        "type": "bar", "orientation": "h", "base": start, "x": length, "y": [rows[worker] for worker in one.worker],
        "width": 0.8, "marker": {"color": color, "line": {"width": 0}}, "hoverinfo": "text", "hovertext": told,
        "textposition": "none",
    }  # fmt: skip


def _order(one: TaskTrace) -> list[int]:
    """Of each subtask, how many its worker began before."""
    begun, nth = dict.fromkeys(one.worker, 0), [0] * len(one.worker)
    for i in sorted(range(len(nth)), key=lambda i: one.start_us[i]):
        nth[i] = begun[one.worker[i]]
        begun[one.worker[i]] += 1
    return nth


def _table(one: TaskTrace, workers: Sequence[int]) -> Details:
    end = max(one.end_us)
    share = [_percent(busy(_spans(one, worker)), end) for worker in workers]
    rows = [[str(w), str(one.worker.count(w)), str(n)] for w, n in zip(workers, share, strict=True)]
    title = f"Subtasks by worker, run {visible(one.run)}"
    return Details("This trace as a table", [TextTable(title, ["worker", "subtasks", "busy (%)"], rows)])


def _spans(one: TaskTrace, worker: int) -> list[tuple[float, float]]:
    return [(a, b) for a, b, who in zip(one.start_us, one.end_us, one.worker, strict=True) if who == worker]


def _percent(part: float, whole: float) -> int:
    return round(100 * part / whole) if whole > 0 else 0


def in_words(one: TaskTrace) -> str:
    """What a trace shows, for who does not see it.

    >>> in_words(TaskTrace(run="r", treatment={}, start_us=[0, 0, 6], end_us=[5, 10, 9], worker=[0, 1, 0]))
    '3 subtasks of 6.00 µs on average by 2 workers, who were busy for 90 % of the 10.0 µs until the last one ended.'
    """
    n, end, workers = len(one.worker), max(one.end_us), set(one.worker)
    mean = math.fsum(b - a for a, b in zip(one.start_us, one.end_us, strict=True)) / n
    share = _percent(sum(busy(_spans(one, worker)) for worker in workers), end * len(workers))
    who = f"{len(workers)} workers, who were" if len(workers) > 1 else "1 worker, who was"
    first = f" Only the first {n} are recorded." if n == MOST_SUBTASKS else ""
    subtasks = f"{n} subtask{'s' if n > 1 else ''} of {significant(mean)} {MICRO} on average"
    return f"{subtasks} by {who} busy for {share} % of the {significant(end)} {MICRO} until the last one ended.{first}"


def busy(spans: Iterable[tuple[float, float]]) -> float:
    """Time within any of these spans; what two of them share counts once.

    >>> busy([(0, 4), (1, 2), (3, 6), (8, 9)])
    7
    """
    ordered = sorted(spans)
    reached = [ordered[0][0]]
    for _, end in ordered:
        reached.append(max(reached[-1], end))
    return sum(max(0, b - max(a, start)) for (a, b), (start, _) in zip(pairwise(reached), ordered, strict=True))


def payload(findings: Findings, drawn: Sequence[Figure | Overlay] = ()) -> dict[str, Any]:
    """Everything the figures, the raw samples and the download need, and nothing else.

    Args:
        findings: as they are written.
        drawn: what the questions make of them: figures of their own, and what stands over curves.
    """
    overlays = [one for one in drawn if isinstance(one, Overlay)]
    factors = Factors(findings, by_ratio=[one.factor for one in overlays])
    samples = Samples(factors)
    curves = families(findings, factors, samples, overlays)
    responses = {r.name: visible(r.unit) for r in findings.study.responses}
    responses |= {name: "" for row in samples.rows for name in row.scores if name not in responses}
    logged = samples.take(findings.log) if findings.log else {}
    return {
        "study": visible(findings.study.name),
        "before": [one for one in drawn if isinstance(one, Figure)],
        "families": curves,
        "after": [*figures(findings, factors), *timeline_figure.figures(findings, factors)],
        "untimed": timeline_figure.untimed(findings),
        "samples": samples.columns(responses) | logged,
        "responses": [[name, visible(name), unit] for name, unit in responses.items()],
        "factors": {f.name: _factor(f) for f in factors.known.values()},
    }


def _factor(one: Levels) -> dict[str, Any]:
    """A factor as it is shown, and its levels as they are, for the download."""
    raw = [visible(x) if isinstance(x, str) else x for x in one.levels]
    return {"title": one.title, "unit": one.unit, "levels": one.texts(), "raw": raw}
