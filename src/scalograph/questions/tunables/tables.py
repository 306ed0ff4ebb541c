"""Tables of settings and factors, each value beside what noise alone would show."""

from scalograph.analysis.estimate import Estimate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.tunables.document import SettingEffect, Tunables
from scalograph.text.format import level_text, significant
from scalograph.text.quantities import response_ratio, two_digits
from scalograph.text.short_names import join_first

_GROUPS = "means over the factors of a group, as the table of factors has them; settings without a run are in none"
_CONTRASTS = (
    "how many times as much a factor of one group changes the performance, on average, as one of another; intervals "
    "hold together; plain: with the noise, as one-at-a-time studies have it; plain of noise alone: what that is if no "
    "setting has an effect, 95 times in 100: not 1 where the factors of one group have more settings"
)
# Factors that a row names; of more, how many there are.
MOST_NAMED = 6


def _groups(table: Table, part: Tunables) -> TableDoc:
    columns = [
        Column(name="group", kind="label"), Column(name="factors", kind="text"), Column(name="sensitivity", unit="%"),
        Column(name="at most by noise", unit="%"), Column(name="plain", unit="%"),
        Column(name="typical of noise", unit="%"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            group.group, join_first([table.view.title(name) for name in group.factors], MOST_NAMED),
            *(round(x, 2) for x in (group.sensitivity, group.sensitivity_noise, group.plain, group.plain_noise)),
        ]
        for group in part.groups
    ]  # fmt: skip
    return TableDoc(id="tunables-groups", title="Groups of factors", note=_GROUPS, columns=columns, rows=rows)


def _contrasts(part: Tunables) -> TableDoc:
    columns = [
        Column(name="group", kind="label"), Column(name="over", kind="label"), Column(name="times", kind="estimate"),
        Column(name="plain"), Column(name="plain of noise alone", kind="text"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [x.first, x.second, x.ratio, round(x.plain, 2), "{1:.2f} [{0:.2f}, {2:.2f}]".format(*x.plain_noise)]
        for x in part.contrasts
    ]
    heading = "How many times as much as another group"
    return TableDoc(id="tunables-contrasts", title=heading, note=_CONTRASTS, columns=columns, rows=rows)


_FACTORS = (
    "sensitivity: standard deviation of a factor's levels, the noise taken away; at most by noise: what a factor "
    "without effect shows as that, 95 times in 100; plain: with the noise, as one-at-a-time studies print it; typical "
    "of noise: what a factor without effect shows as that: more levels, more of it; rank: 1 the "
    "most, in brackets all that it may have"
)


def tunables_tables(table: Table, part: Tunables) -> list[TableDoc]:
    """Tabulate settings, factors, groups, and what was confirmed."""
    if part.half_width is None:
        return []
    confirmed = [_combinations(table, part)] if part.combinations else []
    groups = [_groups(table, part)] if part.groups else []
    contrasts = [_contrasts(part)] if part.contrasts else []
    return [*confirmed, _settings(table, part), _factors(table, part), *groups, *contrasts]


def _settings(table: Table, part: Tunables) -> TableDoc:
    columns = [
        Column(name="setting", kind="label"), Column(name="over the default", kind="estimate"),
        Column(name="label", kind="text"), Column(name="alone, fresh runs", kind="estimate"),
        Column(name="CPU time", kind="estimate"), Column(name="also changes", kind="text"),
        Column(name="rank", kind="text"), Column(name="runs"), Column(name="failed"),
        Column(name="share that fails", kind="estimate"), Column(name="p of failures"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            table.view.short_levels({s.factor: s.level}), _ratio(table, s.gain), s.label if s.gain else "not known",
            _ratio(table, s.alone),
            s.cpu_time, _changes_cell(table, s), _rank(s.rank), s.n, s.n_failed, s.fails, _round(s.fails_p),
        ]
        for s in part.settings
    ]  # fmt: skip
    note = f"{table.view.title(part.response)} over the default, simultaneous intervals"
    note += f"; equivalent: within {two_digits(100 * part.margin)}%"
    if part.best_of_noise and part.worst_of_noise:
        bands = (part.best_of_noise, part.worst_of_noise)
        best, worst = (f"{two_digits(low)} to {two_digits(high)}" for low, _, high in bands)
        note += f"; if none had an effect, the best would gain {best}%, the worst {worst}%; rank 1 is the worst"
    return TableDoc(id="tunables-settings", title="Settings against the default", note=note, columns=columns, rows=rows)


def _ratio(table: Table, gain: Estimate | None) -> Estimate | None:
    return response_ratio(gain, table.view.response.better) if gain else None


def _changes_cell(table: Table, s: SettingEffect) -> str:
    changes = (f"{table.view.title(name)} {significant(e.value or 1.0, 2)}×" for name, e in s.moved.items())
    return ", ".join(changes) or "nothing"


def _rank(rank: tuple[int, int, int] | None) -> str:
    return "" if rank is None else f"{rank[1]} [{rank[0]}, {rank[2]}]"


def _round(x: float | None, digits: int = 3) -> float | None:
    return None if x is None else round(x, digits)


def _factors(table: Table, part: Tunables) -> TableDoc:
    columns = [
        Column(name="factor", kind="label"), Column(name="default", kind="text"), Column(name="matters", kind="text"),
        Column(name="p"), Column(name="sensitivity", unit="%"), Column(name="at most by noise", unit="%"),
        Column(name="plain", unit="%"), Column(name="typical of noise", unit="%"), Column(name="rank", kind="text"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            table.view.title(f.factor), level_text(f.default, table.view.unit(f.factor)),
            "yes" if f.matters else "not seen", _round(f.p, 4),
            *(_round(x, 2) for x in (f.sensitivity, f.sensitivity_noise, f.plain, f.plain_noise)),
            _rank(f.sensitivity_rank),
        ]
        for f in sorted(part.factors, key=lambda f: -(f.sensitivity or 0.0))
    ]  # fmt: skip
    return TableDoc(id="tunables-factors", title="Which factors matter", note=_FACTORS, columns=columns, rows=rows)


def _combinations(table: Table, part: Tunables) -> TableDoc:
    columns = [Column(name="settings", kind="label"), Column(name="over the default", kind="estimate")]
    columns.append(Column(name="pairs"))
    rows: list[list[Cell]] = [
        [table.view.short_levels(x.levels), _ratio(table, x.gain), x.gain.n] for x in part.combinations
    ]
    note = "fresh runs, each paired with one of the default; all other factors at their defaults"
    return TableDoc(id="tunables-confirmed", title="What fresh runs confirm", note=note, columns=columns, rows=rows)
