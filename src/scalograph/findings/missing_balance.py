"""Balance of missing runs: whether configurations lost runs alike, and the table of excluded runs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.missing_runs import Attempt, Fairness, fairness
from scalograph.findings.curves import estimate_response
from scalograph.findings.row import Key, Row, row_keys
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.text.warning_catalog import Caveat, warning_text
from scalograph.verdict.cause import REPEATED

# Chance brings about less than this once in a hundred studies; and shares this far apart change a comparison.
RARE, APART = 0.01, 0.10


def compare_losses(table: Table, samples: Iterable[Sample]) -> Fairness | None:
    """Compare the share of disturbed runs between configurations with chance, over planned runs only.

    Repeats are excluded: a disturbed configuration has more of them. None if no run was lost, and
    for studies by CPU time, which count disturbed runs.
    """
    if table.view.primary in table.view.cpu_responses:
        return None
    rows = table.successful_rows()
    keyed = zip(row_keys(rows), rows, strict=True)
    attempts = [Attempt(row.block, key, row.verdict in REPEATED) for key, row in keyed if row.is_planned]
    length = {sample.succeeded[0].key: _typical_seconds(sample.succeeded) for sample in samples if sample.succeeded}
    return fairness(attempts, length, table.study.seed % 2**32)


def _typical_seconds(rows: Sequence[Row]) -> float:
    """Take the clean runs if there are any: disturbance makes a run longer."""
    clean = [row.wall_s for row in rows if row.wall_s is not None and row.verdict not in REPEATED]
    return median(clean or [row.wall_s for row in rows if row.wall_s is not None] or [0.0])


def balance_sentence(fair: Fairness) -> str:
    """Describe how evenly runs were lost, in one sentence."""
    (low, high), (short, long) = fair.spread, fair.by_length
    by_length, uneven, few = fair.p_trend < RARE, fair.p_equal < RARE, fair.p_least >= RARE
    rules = (("even", low == high), ("by length", by_length), ("uneven", uneven), ("few", few), ("chance", True))
    code = next(code for code, holds in rules if holds)
    p = {"by length": fair.p_trend, "uneven": fair.p_equal}.get(code, min(1.0, 2 * min(fair.p_equal, fair.p_trend)))
    return warning_text(code, low=low, high=high, short=short, long=long, p=p)


def imbalance_caveats(table: Table, fair: Fairness | None) -> Iterable[Caveat]:
    """Yield a caveat if runs were lost unevenly, beyond chance and by more than a small difference."""
    if fair is None:
        return
    (short, long), (low, high) = fair.by_length, fair.spread
    at, share, overall = _worst_level(table)
    if fair.p_trend < RARE and abs(long - short) > APART:
        which = "Longer" if long > short else "Shorter"
        yield Caveat("length excluded", {"which": which, "most": max(short, long), "least": min(short, long), "at": at})
    elif fair.p_equal < RARE and high - low > APART and at and share > overall:
        yield Caveat("level excluded", {"at": at, "share": share, "overall": overall})


def _worst_level(table: Table) -> tuple[str, float, float]:
    """Find the level whose share of lost runs stands out most; return it, its share, and that of all.

    A configuration with fewer than two clean runs rests on its disturbed ones: it is not what is left, the faster part.
    """
    n_runs, lost = Counter[Key](), Counter[Key]()
    counted = table.successful_rows()
    for key, row in zip(row_keys(counted), counted, strict=True):
        n_runs[key] += 1
        lost[key] += row.verdict in REPEATED
    overall, names = lost.total() / n_runs.total(), list(table.study.factors)
    n_runs = Counter({key: n for key, n in n_runs.items() if n - lost[key] >= 2})
    if not n_runs:
        return "", 0.0, overall
    levels = {(name, key[names.index(name)]) for name in table.view.varying for key in n_runs}
    shares = {}
    for name, level in levels:
        of = [key for key in n_runs if key[names.index(name)] == level]
        shares[name, level] = sum(lost[key] for key in of) / (n := sum(n_runs[key] for key in of)), n
    name, level = max(sorted(shares, key=str), key=lambda at: (shares[at][0] - overall) * shares[at][1] ** 0.5)
    return table.view.short_levels({name: level}), shares[name, level][0], overall


MAX_ROWS = 200


@dataclass(frozen=True)
class ExclusionEffect:
    """Effect of the excluded runs on the estimate of one configuration."""

    sample: Sample
    lost: Sequence[Row]
    without: Estimate
    with_all: Estimate

    @property
    def percent(self) -> float | None:
        """Return the change by the disturbed runs, in percent; None without both estimates."""
        if not self.without.value or self.with_all.value is None:
            return None
        return round(100 * (self.with_all.value / self.without.value - 1), 2)

    @property
    def outside_interval(self) -> str:
        """Return whether the estimate of all runs lies outside the interval without the disturbed ones."""
        value, low, high = self.with_all.value, self.without.low, self.without.high
        if value is None or low is None or high is None:
            return "not known"
        return "no" if low <= value <= high else "yes"


def exclusion_table(table: Table, samples: Sequence[Sample], fair: Fairness | None) -> TableDoc | None:
    """Make the table of configurations with excluded runs, largest change first; None if there are none."""
    response = table.view.primary
    changes = [change for sample in samples if (change := _exclusion_effect(table, sample, response))]
    if not changes:
        return None
    changes.sort(key=lambda change: -abs(change.percent or 0.0))
    shown = table.view.varying
    columns = table.view.factor_columns(shown)
    columns += [Column(name="runs counted"), Column(name="excluded, by cause", kind="text")]
    unit = table.view.response.unit
    names = (f"{table.view.title(response)} {runs}" for runs in ("without them", "of all runs"))
    columns += [Column(name=name, unit=unit, kind="estimate") for name in names]
    columns += [Column(name="change", unit="%"), Column(name="beyond the interval", kind="text")]
    rows: list[list[Cell]] = []
    for change in changes[:MAX_ROWS]:
        causes = Counter(row.main_cause for row in change.lost).most_common()
        labels, n = [change.sample.configuration[name] for name in shown], len(change.sample.rows(response))
        effect = [change.without, change.with_all, change.percent, change.outside_interval]
        rows.append([*labels, n, ", ".join(f"{name} {k}" for name, k in causes), *effect])
    heading = "With and without the disturbed runs"
    return TableDoc(id="excluded", title=heading, note=_table_note(changes, fair), columns=columns, rows=rows)


def _exclusion_effect(table: Table, sample: Sample, response: str) -> ExclusionEffect | None:
    counted = {row.run for row in sample.rows(response)}
    lost = [row for row in sample.succeeded if response in row.scores and row.run not in counted]
    if not lost:
        return None
    without, with_all = (estimate_response(table, s, response) for s in (sample, sample.ignore_disturbance()))
    return ExclusionEffect(sample, lost, without, with_all)


def _table_note(changes: Sequence[ExclusionEffect], fair: Fairness | None) -> str:
    n = sum(change.outside_interval == "yes" for change in changes)
    parts = ["All other tables exclude these runs", f"Including them moves {n} of {len(changes)} beyond the interval"]
    if left := changes[MAX_ROWS:]:
        parts.append(f"Configurations not listed: {len(left)}, changed by at most {abs(left[0].percent or 0.0):.2g}%")
    return ". ".join([*parts, *([balance_sentence(fair)] if fair else [])])
