"""Every treatment of two results, in a table."""

from scalograph.exchange.compare.compare_claim import noun
from scalograph.protocol.compared_results import ResultComparison, ResultComparisons, ordered
from scalograph.protocol.findings import Cell, Column, TableDoc

_NOTE = (
    "ratio: the second over the first, Welch t on log scores; its intervals hold for all configurations at once; those "
    "of the figures beside it are of each alone"
)


def compare_tables(found: ResultComparisons) -> list[TableDoc]:
    """Return one table for each result, and one of what differs around the runs."""
    tables = [_table(r, f"ratios-{i}" if i else "ratios") for i, r in enumerate(found.results) if r.treatments]
    tables += _lost(found)
    rows: list[list[Cell]] = [
        [one.other, d.what, d.reference, d.other] for one in found.results for d in one.differences
    ]
    columns = [Column(name=name, kind="text") for name in ("result", "what", found.results[0].reference, "there")]
    tables += [TableDoc(id="differences", title="What differs", columns=columns, rows=rows)] if rows else []
    return tables + _laws(found)


def _lost(found: ResultComparisons) -> list[TableDoc]:
    rows: list[list[Cell]] = [
        [r.other, one.name, one.why, one.n_failed, one.n_runs, "yes" if one.allowed else "no"]
        for r in found.results
        for one in r.lost
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "configuration", "is")]
    columns += [Column(name="failed"), Column(name="runs"), Column(name="allowed", kind="label")]
    title = f"Failed or missing, and measured in {found.results[0].reference}"
    return [TableDoc(id="lost", title=title, columns=columns, rows=rows)] if rows else []


def _laws(found: ResultComparisons) -> list[TableDoc]:
    """Coefficients of the scaling law that changed; no table where none did."""
    rows: list[list[Cell]] = [
        [one.other, ", ".join(f"{k} {v}" for k, v in law.group.items()), law.coefficient, law.reference, law.other]
        for one in found.results
        for law in one.laws
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "curve", "coefficient")]
    columns += [Column(name=name, kind="estimate") for name in (found.results[0].reference, "there")]
    title = "Coefficients of the scaling law whose intervals do not touch"
    return [TableDoc(id="laws", title=title, columns=columns, rows=rows)] if rows else []


def _table(found: ResultComparison, name: str) -> TableDoc:
    factors = list(found.treatments[0].levels)
    columns = [Column(name=found.titles.get(n, n), unit=found.units.get(n, ""), kind="label") for n in factors]
    columns += [Column(name=who, unit=found.unit, kind="estimate") for who in (found.reference, found.other)]
    columns += [Column(name="ratio", kind="estimate"), Column(name="is", kind="text")]
    rows: list[list[Cell]] = [
        [*(one.levels[n] for n in factors), one.reference, one.other, one.ratio, one.doubt or one.shown]
        for one in ordered(found)
    ]
    title = f"{noun(found)}: {found.other} beside {found.reference}"
    return TableDoc(id=name, title=title, note=_NOTE, columns=columns, rows=rows)
