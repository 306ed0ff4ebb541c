"""Traces of subtasks as figures take them: bars of each worker, and what they show in words."""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.report.axis import Factors
from scalograph.text.escape import visible
from scalograph.text.format import significant
from scalograph.text.scale import MICRO

MOST_SUBTASKS = 512


def traces(findings: Findings, factors: Factors) -> list[dict[str, Any]]:
    """Every trace whose lists agree."""
    return [_trace(one, factors) for one in findings.traces if _is_whole(one)]


def _is_whole(one: TaskTrace) -> bool:
    agree = 0 < len(one.start_us) == len(one.end_us) == len(one.worker)
    return agree and all(0 <= a <= b for a, b in zip(one.start_us, one.end_us, strict=True))


def _trace(one: TaskTrace, factors: Factors) -> dict[str, Any]:
    workers = sorted(set(one.worker))
    rows = {worker: row for row, worker in enumerate(workers)}
    end = max(one.end_us)
    return {
        "title": factors.treatment(one.treatment) or visible(one.run),
        "run": visible(one.run),
        "unit": MICRO,
        "end": end,
        "start": [float(f"{x:.6g}") for x in one.start_us],
        "length": [float(f"{b - a:.6g}") for a, b in zip(one.start_us, one.end_us, strict=True)],
        "row": [rows[worker] for worker in one.worker],
        "workers": [str(worker) for worker in workers],
        "busy": [_percent(busy(_spans(one, worker)), end) for worker in workers],
        "words": in_words(one),
    }


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
