"""Run-to-run noise, the minimum detectable effect, and tails of iterations."""

import math
from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.analysis.estimate import MOST_LOG
from scalograph.analysis.interval import summarize
from scalograph.analysis.quantiles import chi_square_median, merge_histograms
from scalograph.findings.answer import SampleMap
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, StudyNoise, TableDoc
from scalograph.text.warning_catalog import Caveat, warning_text

BLIND = 50.0  # percent: a study that cannot see smaller effects has little to compare


def estimate_noise(table: Table, samples: Iterable[Sample], name: str | None = None) -> StudyNoise | None:
    """Return the median standard deviation of log scores of a response; None if no configuration has two runs.

    The median, because a few contended configurations may vary a hundred times as much. The median of a sample variance
    is below its mean, by that of chi-square over its n - 1 degrees of freedom: corrected.
    """
    name = name or table.view.primary
    groups = [np.log(s) for s in (sample.values(name) for sample in samples) if len(s) > 1 and s.min() > 0]
    if not groups:
        return None
    freedom = [len(group) - 1 for group in groups]
    corrections = [math.sqrt(chi_square_median(n) / n) for n in freedom]
    sd = median(float(group.std(ddof=1) / by) for group, by in zip(groups, corrections, strict=True))
    n = int(median(len(group) for group in groups))
    detectable = minimum_detectable_effect(sd, n, confidence=table.view.confidence)
    if detectable is None:
        return None
    least = 100 * math.expm1(min(detectable, MOST_LOG))
    return StudyNoise(sd_log_percent=100 * sd, minimum_detectable_percent=least, n=n)


def detectable_percent(noise: StudyNoise, n_configurations: int, confidence: float) -> float:
    """Return the smallest effect (percent) that is found among so many configurations, four times in five.

    As a claim does, it allows for all comparisons with a baseline (Bonferroni).

    >>> noise = StudyNoise(sd_log_percent=1.0, minimum_detectable_percent=2.0, n=5)
    >>> [round(detectable_percent(noise, n, 0.95), 1) for n in (2, 40)]
    [2.0, 3.7]
    """
    confidence = 1 - (1 - confidence) / max(n_configurations - 1, 1)
    effect = minimum_detectable_effect(noise.sd_log_percent / 100, noise.n, confidence=confidence) or 0.0
    return 100 * math.expm1(min(effect, MOST_LOG))


class EffectNotes:
    """Add the smallest detectable difference to the notes of tables, each text once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._added: set[str] = set()

    def add_note(self, doc: TableDoc, samples: Iterable[Sample], response: str | None = None) -> TableDoc:
        """Add the smallest effect that these samples can show to the note of a table."""
        if not any(column.kind == "estimate" for column in doc.columns):
            return doc
        sentence = self._sentence(list(samples), response or self._table.view.primary)
        if not sentence or sentence in self._added:
            return doc
        self._added.add(sentence)
        return doc.model_copy(update={"note": ". ".join(part for part in (doc.note.rstrip(" ."), sentence) if part)})

    def _sentence(self, samples: Sequence[Sample], response: str) -> str:
        # A search weighs all its runs together: those of one level are too few to show anything.
        if self._table.view.is_search or len(samples) < 2:
            return ""
        floor = estimate_noise(self._table, samples, response)
        # Values that never differ, such as a nice value that was set, have no noise to compare an effect with.
        if floor is None or floor.sd_log_percent == 0:
            return ""
        if floor.minimum_detectable_percent >= BLIND:
            return Caveat("noisy", {"sd": floor.sd_log_percent}).text
        percent = detectable_percent(floor, len(samples), self._table.view.confidence)
        return warning_text("detectable", response=self._table.view.title(response), percent=percent, n=floor.n)


# A quantile needs so many iterations beyond it: of fewer it is the slowest by another name.
MIN_BEYOND = 10
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


def tails_table(table: Table, samples: SampleMap) -> list[TableDoc]:
    """Make a table of tail quantiles; empty if no run has enough iterations.

    Quantiles per run get an interval between runs; the last columns pool the iterations of all runs.
    """
    kept = [(sample, [row for row in sample.counted if row.tail]) for sample in samples.values()]
    if not any(rows for _, rows in kept):
        return []
    name = table.view.primary
    response, shown = table.view.response, table.view.varying
    columns = table.view.factor_columns(shown)
    columns += [Column(name=f"{q} of a run", unit=response.unit, kind="estimate") for q in QUANTILES]
    columns += [Column(name=f"{q} of all", unit=response.unit) for q in ("p99", "p99.9")]
    columns += [Column(name="slowest", unit=response.unit), Column(name="iterations")]
    rows = [_row(table, sample, shown) for sample, rows in kept if rows]
    heading = f"Tails: {table.view.title(name)} of single iterations"
    note = "quantiles of runs have intervals between runs; those of all are of the iterations of all runs together"
    return [TableDoc(id="tails", title=heading, note=note, columns=columns, rows=rows)]


def _row(table: Table, sample: Sample, shown: Sequence[str]) -> list[Cell]:
    parts = [row.tail for row in sample.counted if row.tail]
    whole = merge_histograms(parts)
    assert whole is not None  # each part has a value
    estimates: list[Cell] = []
    for share in QUANTILES.values():
        quantiles = [part.quantile(share) for part in parts if part.n * (1 - share) >= MIN_BEYOND - 1e-9]
        estimates.append(summarize(quantiles, table.view.confidence))
    is_enough = [(share, whole.n * (1 - share) >= MIN_BEYOND - 1e-9) for share in (0.99, 0.999)]
    ends = [float(f"{whole.quantile(share):.4g}") if enough else None for share, enough in is_enough]
    return [*(sample.configuration[n] for n in shown), *estimates, *ends, whole.largest, whole.n]
