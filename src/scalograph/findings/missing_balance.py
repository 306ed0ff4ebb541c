"""Whether treatments lost runs alike: what the table of excluded runs says of it, and when it is a doubt."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.missing_runs import Attempt, Fairness, fairness
from scalograph.findings.answer import Doubt
from scalograph.findings.curves import estimated
from scalograph.findings.names import short, title, varied
from scalograph.findings.row import Row, keys
from scalograph.findings.sample import Sample, cpu_times
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level
from scalograph.text.quantities import counted
from scalograph.verdict.cause import REPEATED

# Chance brings about less than this once in a hundred studies; and shares this far apart change a comparison.
RARE, APART = 0.01, 0.10

Key = tuple[Level, ...]


def shares(table: Table, taken: Iterable[Sample]) -> Fairness | None:
    """Disturbed runs of each treatment against chance, among the runs that the design asked for.

    Further runs are left out: a treatment that was disturbed more often has more of them. None where none was lost, and
    where the study is about CPU time and counts disturbed runs.
    """
    if primary(table) in cpu_times(table.study):
        return None
    made = table.counted()
    attempts = [
        Attempt(row.block, key, row.verdict in REPEATED)
        for key, row in zip(keys(made), made, strict=True)
        if row.is_planned
    ]
    length = {sample.every[0].key: _length(sample.every) for sample in taken if sample.every}
    return fairness(attempts, length, table.study.seed % 2**32)


def _length(rows: Sequence[Row]) -> float:
    """Seconds of a run, of the clean ones where there are any: what disturbs a run makes it longer."""
    clean = [row.wall_s for row in rows if row.wall_s is not None and row.verdict not in REPEATED]
    return median(clean or [row.wall_s for row in rows if row.wall_s is not None] or [0.0])


def sentence(found: Fairness) -> str:
    """What became of the shares, in one sentence."""
    low, high = found.spread
    if low == high:
        return f"each configuration lost {100 * low:.0f} % of its runs"
    text = f"configurations lost {100 * low:.0f} % to {100 * high:.0f} % of their runs"
    if found.p_trend < RARE:
        return f"{text}, and it depends on how long they run: {_lengths(found)} (p = {found.p_trend:.2g})"
    if found.p_equal < RARE:
        return f"{text}, which is more than chance (p = {found.p_equal:.2g})"
    if found.p_least >= RARE:
        return f"{text}: too few outside of busy blocks to tell whether they lost them alike"
    return f"{text}, no more unlike than chance makes them (p = {min(1.0, 2 * min(found.p_equal, found.p_trend)):.2g})"


def doubt(table: Table, found: Fairness | None) -> Iterable[Doubt]:
    """Where runs were lost unfairly: neither chance nor a small difference."""
    if found is None:
        return
    (short, long), (low, high) = found.by_length, found.spread
    if found.p_trend < RARE and abs(long - short) > APART:
        longer = "longer" if long > short else "shorter"
        least, most = sorted((short, long))
        lost = f"{longer} runs were lost more often ({100 * most:.0f} % against {100 * least:.0f} %)"
        at = _worst(table)[0]
        yield Doubt(lost, f"read those at {at} as optimistic" if at else "")
    elif found.p_equal < RARE and high - low > APART:
        at, share, overall = _worst(table)
        if not at:
            return
        lost = f"runs at {at} were lost most often ({100 * share:.0f} % against {100 * overall:.0f} % of all)"
        yield Doubt(lost, "read them as optimistic")


def _worst(table: Table) -> tuple[str, float, float]:
    """The level at which the share of lost runs stands out most, for its number of runs; its share, and that of all.

    A configuration with fewer than two clean runs rests on its disturbed ones: it is not what is left, the faster part.
    """
    made, lost = Counter[Key](), Counter[Key]()
    counted = table.counted()
    for key, row in zip(keys(counted), counted, strict=True):
        made[key] += 1
        lost[key] += row.verdict in REPEATED
    overall, names = lost.total() / made.total(), list(table.study.factors)
    made = Counter({key: n for key, n in made.items() if n - lost[key] >= 2})
    if not made:
        return "", 0.0, overall
    places = {(name, key[names.index(name)]) for name in varied(table) for key in made}
    shares = {}
    for name, level in places:
        of = [key for key in made if key[names.index(name)] == level]
        shares[name, level] = sum(lost[key] for key in of) / (n := sum(made[key] for key in of)), n
    name, level = max(sorted(shares, key=str), key=lambda at: (shares[at][0] - overall) * shares[at][1] ** 0.5)
    return short(table, {name: level}), shares[name, level][0], overall


def _lengths(found: Fairness) -> str:
    short, long = found.by_length
    return f"{100 * short:.0f} % of the third that runs shortest, {100 * long:.0f} % of the one that runs longest"


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
