"""The slowest iterations of each treatment: quantiles of all its runs together, and how much they differ by run."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.interval import summarize
from scalograph.analysis.tail import merged
from scalograph.findings.names import title, varied
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level

# A quantile is told where so many iterations lie beyond it: of fewer it is the slowest by another name.
BEYOND = 10
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


def tails_table(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> list[TableDoc]:
    """A row for each treatment whose runs have enough iterations; nothing where none has.

    A quantile is estimated like any score: its value in each run, the typical run, and an interval between runs. The
    last columns take the iterations of all runs together.
    """
    kept = [(sample, [row for row in sample.counted if row.tail]) for sample in taken.values()]
    if not any(rows for _, rows in kept):
        return []
    name = primary(table)
    response, shown = table.study.responses[name], varied(table)
    columns = [Column(name=title(table, n), unit=table.study.factors[n].unit, kind="label") for n in shown]
    columns += [Column(name=f"{q} of a run", unit=response.unit, kind="estimate") for q in QUANTILES]
    columns += [Column(name=f"{q} of all", unit=response.unit) for q in ("p99", "p99.9")]
    columns += [Column(name="slowest", unit=response.unit), Column(name="iterations")]
    rows = [_row(table, sample, shown) for sample, rows in kept if rows]
    heading = f"Tails: {title(table, name)} of single iterations"
    note = "quantiles of runs have intervals between runs; those of all are of the iterations of all runs together"
    return [TableDoc(id="tails", title=heading, note=note, columns=columns, rows=rows)]


def _row(table: Table, sample: Sample, shown: Sequence[str]) -> list[Cell]:
    parts = [row.tail for row in sample.counted if row.tail]
    whole = merged(parts)
    assert whole is not None  # each part has a value
    confidence = table.study.protocol.confidence
    estimates: list[Cell] = []
    for share in QUANTILES.values():
        known = [part.quantile(share) for part in parts if part.n * (1 - share) >= BEYOND - 1e-9]
        estimates.append(summarize(known, confidence))
    ends = [
        float(f"{whole.quantile(share):.4g}") if whole.n * (1 - share) >= BEYOND - 1e-9 else None
        for share in (0.99, 0.999)
    ]
    return [*(sample.treatment[n] for n in shown), *estimates, *ends, whole.largest, whole.n]
