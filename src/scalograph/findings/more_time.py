"""What more time would do to the interval of a study's leading value, where precision is what limits the answer."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median

from scalograph.analysis.stopping import narrow
from scalograph.findings.leading_estimate import leading_estimate
from scalograph.findings.row import Key, Row
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.text.cell_numbers import round_up
from scalograph.text.quantities import plus_minus
from scalograph.text.units import format_duration
from scalograph.text.warning_catalog import Caveat

# The time that is offered, and less where the interval is halved before.
OFFER_S = 300.0
HALVED = 3  # times the blocks that were made
# A half-width below which nobody asks for more, and a gain that is not worth the time.
NARROW, WORTHWHILE = 0.02, 0.8
# Fewer blocks do not tell how much runs differ.
LEAST_BLOCKS = 3


def more_time(table: Table, samples: Sequence[Sample], error: float) -> list[Caveat]:
    """Return what more time would do to the interval of the leading value, such as "±4% to about ±2%".

    Empty where precision is not what limits: the interval is narrow, as narrow as requested, or no wider than the
    systematic error, a share; or where it includes disturbed runs, which more of them would not mend.
    """
    leading = leading_estimate(table, {sample.key: sample for sample in samples})
    if leading is None or leading.falls_back or leading.n_blocks < LEAST_BLOCKS or leading.half_width is None:
        return []
    precision, half, n = table.study.protocol.precision, leading.half_width, leading.n_blocks
    if half <= max(error, NARROW if precision is None else precision):
        return []
    block_s = seconds_per_counted_block(table.rows, n)
    if not block_s:
        return []
    more_s = min(OFFER_S, HALVED * n * block_s)
    reached = narrow(half, n, more_s / block_s)
    if reached > WORTHWHILE * half:
        return []
    n_runs = table.study.protocol.runs + math.ceil(more_s / block_s)
    runs = n_runs if precision is None and table.end_reason == "complete" else None
    at = leading.levels if len(samples) > 2 else ""
    shown = round_up(100 * half)  # as in the cells of the answer
    values = {"time": _offer(more_s), "runs": runs, "half": shown, "at": at, "reached": plus_minus(reached)}
    return [Caveat("more time", values)]


def seconds_per_counted_block(rows: Sequence[Row], n_blocks: int) -> float:
    """Return the seconds that one of `n_blocks` blocks took whose runs count, without waiting; 0 if unknown.

    What disturbed or repeated runs took is in it. A wait for a quiet machine, or a pause between two sessions, lies
    between two runs: the median time from a run to the next, of each configuration, leaves it out.
    """
    each = _seconds_per_run(rows)
    counts: dict[Key, int] = {}
    for row in rows:
        counts[row.key] = counts.get(row.key, 0) + (not row.warmup)
    usual = fmean(each.values()) if each else 0.0
    return sum(n * each.get(key, usual) for key, n in counts.items()) / n_blocks


def _seconds_per_run(rows: Iterable[Row]) -> Mapping[Key, float]:
    gaps: dict[Key, list[float]] = {}
    for row, after in pairwise(rows):
        if row.start_s is not None and after.start_s is not None and after.start_s > row.start_s:
            gaps.setdefault(row.key, []).append(after.start_s - row.start_s)
    return {key: median(values) for key, values in gaps.items()}


def _offer(seconds: float) -> str:
    """Format a time that is offered: minutes in full, seconds by fives."""
    return format_duration(60 * math.ceil(seconds / 60) if seconds > 60 else 5 * math.ceil(seconds / 5))
