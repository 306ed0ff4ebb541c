"""From the runs of an A/A study to the noise floor: how much they differ, and why some were left out."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median, stdev

from scalograph.analysis.ratios import paired_ratio
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.machine.floor.spread import detectable, spread
from scalograph.protocol.noise_floor import (
    Floor,
    FloorDifference,
    FloorPart,
    Reference,
)
from scalograph.verdict.cause import COUNTED

STUDY, RESPONSE = "noise-floor", "wall"
# A second look before a study takes so many runs; the kept ones are cut into stretches as long.
STRETCH = 10
# Fewer stretches than this say too little of how their medians differ.
MIN_STRETCHES = 3
# Two A/A differences are looked at each time: at 95 % every tenth machine would be suspected for nothing.
AA_CONFIDENCE = 0.99
# Fewer runs that count make a floor that nothing can be held against.
MIN_RUNS = 20


def floor(table: Table) -> Floor:
    """The noise floor that the runs of the study `noise-floor` show.

    Only runs count that succeeded and were not disturbed by a measured cause; none is left out for its value.
    """
    rows = [row for row in table.rows if not row.warmup]
    levels = sorted({int(row.treatment["cpus"]) for row in rows})
    parts = tuple(part([row for row in rows if row.treatment["cpus"] == level], level) for level in levels)
    return Floor(parts=parts, warnings=tuple(text for part in parts for text in _objections(part)))


def part(rows: Sequence[Row], n_cpus: int) -> FloorPart:
    """The floor on so many CPUs, from its runs in the order in which they were made."""
    counted = [row for row in rows if row.status == "ok" and row.verdict in COUNTED and RESPONSE in row.scores]
    failed = [row for row in rows if row.status != "ok"]
    causes, worst = _disturbed([row for row in rows if row.status == "ok" and row.verdict not in COUNTED])
    scores = [row.scores[RESPONSE] for row in counted]
    found = spread(list(_by_label(counted).values()))
    return FloorPart(
        n_cpus=n_cpus, n=len(counted), n_failed=len(failed), n_disturbed=len(rows) - len(counted) - len(failed),
        causes=causes, worst=worst, median_s=median(scores) if scores else None, spread=found,
        detectable_percent=detectable(found.sd_log_percent) if found else {},
        difference=difference(counted), reference=reference(scores),
    )  # fmt: skip


def is_kept(part: FloorPart) -> bool:
    """Whether the floor of a part is one: most of its runs count, and enough of them."""
    return part.n >= MIN_RUNS and 2 * part.n >= part.n_runs and part.spread is not None


def _by_label(rows: Sequence[Row]) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {}
    for row in rows:
        groups.setdefault(str(row.treatment["label"]), []).append(row.scores[RESPONSE])
    return groups


def difference(rows: Sequence[Row]) -> FloorDifference | None:
    """A over B, paired by block, so that a drift of the machine cancels; None below two blocks with both."""
    blocks: dict[int, dict[str, float]] = {}
    for row in rows:
        blocks.setdefault(row.block, {})[str(row.treatment["label"])] = row.scores[RESPONSE]
    pairs = [pair for pair in blocks.values() if {"A", "B"} <= pair.keys()]
    if len(pairs) < 2:
        return None
    found = paired_ratio([pair["A"] for pair in pairs], [pair["B"] for pair in pairs], AA_CONFIDENCE)
    ends = (None if x is None else 100 * (x - 1) for x in (found.value, found.low, found.high))
    percent, low, high = ends
    return FloorDifference(percent=percent, low=low, high=high, confidence=AA_CONFIDENCE, n=found.n)


def reference(scores: Sequence[float], runs: int = STRETCH) -> Reference | None:
    """What so many runs on end show; None where there are too few stretches, or nothing varies.

    Args:
        scores: seconds, in the order in which the runs were made.
        runs: in a stretch.
    """
    stretches = [scores[i : i + runs] for i in range(0, len(scores) - runs + 1, runs)]
    within = spread(stretches) if len(stretches) >= MIN_STRETCHES else None
    if within is None:
        return None
    medians = [math.log(median(stretch)) for stretch in stretches]
    return Reference(
        runs=runs, spread=within, median_s=math.exp(fmean(medians)),
        between_log_percent=100 * stdev(medians), n=len(stretches),
    )  # fmt: skip


def _disturbed(rows: Sequence[Row]) -> tuple[dict[str, int], str | None]:
    """Causes with the runs that each disturbed, most first, and the largest in words."""
    causes = [cause for row in rows for cause in row.causes]
    counts = Counter(name for row in rows for name in {cause.cause for cause in row.causes})
    worst = max(causes, key=lambda cause: cause.amount or 0.0, default=None)
    return dict(counts.most_common()), None if worst is None else worst.text


def _objections(part: FloorPart) -> list[str]:
    where = f"on {part.n_cpus} CPU{'s' * (part.n_cpus > 1)}"
    found = []
    if part.n < MIN_RUNS:
        found.append(f"{where} only {part.n} of {part.n_runs} runs count: too few for a floor")
    elif 2 * part.n < part.n_runs:
        found.append(f"{where} only {part.n} of {part.n_runs} runs count: a busy machine, not its floor")
    if part.difference and part.difference.is_false:
        d = part.difference
        found.append(
            f"{where} A differs from B by {d.percent:.2g} % [{d.low:.2g} .. {d.high:.2g}], and they are the same work: "
            "the machine drifts, or the method is wrong"
        )
    return found
