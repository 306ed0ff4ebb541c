"""Results with and without the disturbed runs: what leaving them out did to each configuration."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.missing_runs import Fairness
from scalograph.findings.curves import estimated
from scalograph.findings.missing_balance import sentence
from scalograph.findings.names import title, varied
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.text.quantities import counted

MAX_ROWS = 200


@dataclass(frozen=True)
class Change:
    """One treatment: its sample, the runs left out, and its estimate without and with them."""

    sample: Sample
    lost: Sequence[Row]
    without: Estimate
    with_all: Estimate

    @property
    def percent(self) -> float | None:
        """What the disturbed runs would change; None where one of the estimates is missing."""
        if not self.without.value or self.with_all.value is None:
            return None
        return round(100 * (self.with_all.value / self.without.value - 1), 2)

    @property
    def beyond(self) -> str:
        """Whether the estimate with all runs lies outside the interval without the disturbed ones."""
        value, low, high = self.with_all.value, self.without.low, self.without.high
        if value is None or low is None or high is None:
            return "not known"
        return "no" if low <= value <= high else "yes"


def excluded_table(table: Table, taken: Sequence[Sample], fair: Fairness | None) -> TableDoc | None:
    """A row for each configuration that has runs left out, the most moved first; None where no run was left out."""
    response = primary(table)
    changes = [change for sample in taken if (change := _change(table, sample, response))]
    if not changes:
        return None
    changes.sort(key=lambda change: -abs(change.percent or 0.0))
    shown = varied(table)
    columns = [Column(name=title(table, n), unit=table.study.factors[n].unit, kind="label") for n in shown]
    columns += [Column(name="runs counted"), Column(name="left out, by cause", kind="text")]
    unit = table.study.responses[response].unit
    columns += [
        Column(name=f"{title(table, response)} {n}", unit=unit, kind="estimate")
        for n in ("without them", "of all runs")
    ]
    columns += [Column(name="change", unit="%"), Column(name="beyond the interval", kind="text")]
    rows = [_row(change, shown, response) for change in changes[:MAX_ROWS]]
    heading = "With and without the disturbed runs"
    return TableDoc(id="excluded", title=heading, note=_note(changes, fair), columns=columns, rows=rows)


def _change(table: Table, sample: Sample, response: str) -> Change | None:
    counted = {row.run for row in sample.rows(response)}
    lost = [row for row in sample.every if response in row.scores and row.run not in counted]
    if not lost:
        return None
    without, with_all = estimated(table, sample, response), estimated(table, sample.undivided(), response)
    return Change(sample, lost, without, with_all)


def _row(change: Change, shown: Sequence[str], response: str) -> list[Cell]:
    causes = Counter(_cause(row) for row in change.lost)
    told = ", ".join(f"{name} {n}" for name, n in causes.most_common())
    labels = [change.sample.treatment[name] for name in shown]
    estimates = [change.without, change.with_all]
    return [*labels, len(change.sample.rows(response)), told, *estimates, change.percent, change.beyond]


def _cause(row: Row) -> str:
    """The first cause of a run: one run is counted once."""
    return row.causes[0].cause if row.causes else row.verdict


def _note(changes: Sequence[Change], fair: Fairness | None) -> str:
    n = sum(change.beyond == "yes" for change in changes)
    with_them = f"with them, {n} of {counted(len(changes), 'configuration')} would leave the interval"
    parts = [f"all other tables are without these runs; {with_them}"]
    if left := changes[MAX_ROWS:]:
        more = f"{len(left)} more configuration{'s change' if len(left) > 1 else ' changes'}"
        parts.append(f"{more} by at most {abs(left[0].percent or 0.0):.2g} %")
    return "; ".join([*parts, *([sentence(fair)] if fair else [])])
