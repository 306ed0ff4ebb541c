"""Tables of settings and factors, each value beside what noise alone would show; and sentences beside the claim."""

from collections.abc import Iterator

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import TableDoc
from scalograph.questions.tunables.document import SettingEffect, Tunables
from scalograph.text.format import estimate, level_text, significant
from scalograph.text.quantities import count_noun, excess_memory, response_ratio, two_digits
from scalograph.text.short_names import join_first, join_names

_GROUPS = "means over the factors of a group, as the table of factors has them; settings without a run are in none"
_CONTRASTS = (
    "how many times as much a factor of one group changes the performance, on average, as one of another; intervals "
    "hold together; plain: with the noise, as one-at-a-time studies have it; plain of noise alone: what that is if no "
    "setting has an effect, 95 times in 100: not 1 where the factors of one group have more settings"
)
# Factors that a row names; of more, how many there are.
MOST_NAMED = 6


def _groups(table: Table, part: Tunables) -> TableDoc:
    return tabulate("tunables-groups", "Groups of factors", part.groups, [
        ("group", "label", lambda x: x.group),
        ("factors", "text", lambda x: join_first([table.view.title(name) for name in x.factors], MOST_NAMED)),
        ("sensitivity", "number", lambda x: round(x.sensitivity, 2), "%"),
        ("at most by noise", "number", lambda x: round(x.sensitivity_noise, 2), "%"),
        ("plain", "number", lambda x: round(x.plain, 2), "%"),
        ("typical of noise", "number", lambda x: round(x.plain_noise, 2), "%"),
    ], _GROUPS)  # fmt: skip


def _contrasts(part: Tunables) -> TableDoc:
    return tabulate("tunables-contrasts", "How many times as much as another group", part.contrasts, [
        ("group", "label", lambda x: x.first), ("over", "label", lambda x: x.second),
        ("times", "estimate", lambda x: x.ratio), ("plain", "number", lambda x: round(x.plain, 2)),
        ("plain of noise alone", "text", lambda x: "{1:.2f} [{0:.2f}, {2:.2f}]".format(*x.plain_noise)),
    ], _CONTRASTS)  # fmt: skip


_FACTORS = (
    "sensitivity: standard deviation of a factor's levels, the noise taken away; at most by noise: what a factor "
    "without effect shows as that, 95 times in 100; plain: with the noise, as one-at-a-time studies print it; typical "
    "of noise: what a factor without effect shows as that: more levels, more of it; rank: 1 the "
    "most, in brackets all that it may have"
)


def tunables_tables(table: Table, part: Tunables) -> list[TableDoc]:
    if part.half_width is None:
        return []
    confirmed = [_combinations(table, part)] if part.combinations else []
    groups = [_groups(table, part)] if part.groups else []
    contrasts = [_contrasts(part)] if part.contrasts else []
    return [*confirmed, _settings(table, part), _factors(table, part), *groups, *contrasts]


def _settings(table: Table, part: Tunables) -> TableDoc:
    note = f"{table.view.title(part.response)} over the default, simultaneous intervals"
    note += f"; equivalent: within {two_digits(100 * part.margin)}%"
    if part.best_of_noise and part.worst_of_noise:
        bands = (part.best_of_noise, part.worst_of_noise)
        best, worst = (f"{two_digits(low)} to {two_digits(high)}" for low, _, high in bands)
        note += f"; if none had an effect, the best would gain {best}%, the worst {worst}%; rank 1 is the worst"
    return tabulate("tunables-settings", "Settings against the default", part.settings, [
        ("setting", "label", lambda s: table.view.short_levels(s.levels)),
        ("over the default", "estimate", lambda s: _ratio(table, s.gain)),
        ("label", "text", lambda s: s.label if s.gain else "not known"),
        ("alone, fresh runs", "estimate", lambda s: _ratio(table, s.alone)),
        ("CPU time", "estimate", lambda s: s.cpu_time), ("also changes", "text", lambda s: _changes_cell(table, s)),
        ("rank", "text", lambda s: _rank(s.rank)), ("runs", "number", lambda s: s.n),
        ("failed", "number", lambda s: s.n_failed), ("share that fails", "estimate", lambda s: s.fails),
        ("p of failures", "number", lambda s: _round(s.fails_p, 3)),
    ], note)  # fmt: skip


def _ratio(table: Table, gain: Estimate | None) -> Estimate | None:
    return response_ratio(gain, table.view.response.better) if gain else None


def _changes_cell(table: Table, s: SettingEffect) -> str:
    changes = (f"{table.view.title(name)} {significant(e.value or 1.0, 2)}×" for name, e in s.moved.items())
    return ", ".join(changes) or "nothing"


def _rank(rank: tuple[int, int, int] | None) -> str:
    return "" if rank is None else f"{rank[1]} [{rank[0]}, {rank[2]}]"


def _round(x: float | None, digits: int = 2) -> float | None:
    return None if x is None else round(x, digits)


def _factors(table: Table, part: Tunables) -> TableDoc:
    ordered = sorted(part.factors, key=lambda f: -(f.sensitivity or 0.0))
    return tabulate("tunables-factors", "Which factors matter", ordered, [
        ("factor", "label", lambda f: table.view.title(f.factor)),
        ("default", "text", lambda f: level_text(f.default, table.view.unit(f.factor))),
        ("matters", "text", lambda f: "yes" if f.matters else "not seen"), ("p", "number", lambda f: _round(f.p, 4)),
        ("sensitivity", "number", lambda f: _round(f.sensitivity), "%"),
        ("at most by noise", "number", lambda f: _round(f.sensitivity_noise), "%"),
        ("plain", "number", lambda f: _round(f.plain), "%"),
        ("typical of noise", "number", lambda f: _round(f.plain_noise), "%"),
        ("rank", "text", lambda f: _rank(f.sensitivity_rank)),
    ], _FACTORS)  # fmt: skip


def _combinations(table: Table, part: Tunables) -> TableDoc:
    note = "fresh runs, each paired with one of the default; all other factors at their defaults"
    return tabulate("tunables-confirmed", "What fresh runs confirm", part.combinations, [
        ("settings", "label", lambda x: table.view.short_levels(x.levels)),
        ("over the default", "estimate", lambda x: _ratio(table, x.gain)), ("pairs", "number", lambda x: x.gain.n),
    ], note)  # fmt: skip


# Settings that a sentence names, and contrasts; of more settings, how many there are.
MOST_SAID = 4


def tunables_sentences(table: Table, part: Tunables) -> list[str]:
    return [
        *_contrast_sentences(table, part), *_noise_sentences(table, part),
        *_no_change_sentences(table, part), *_untestable_sentences(table), *_count_sentences(part),
    ]  # fmt: skip


def _contrast_sentences(table: Table, part: Tunables) -> Iterator[str]:
    for contrast in part.contrasts[:MOST_SAID]:
        low, _, high = contrast.ratio
        is_open = (low or 0.0) <= 1 and (high is None or high >= 1)
        begin, shown = "Inconclusive: on" if is_open else "On", estimate(contrast.ratio)
        times = f"{shown.value}× as much as one of {contrast.second} {shown.interval}".rstrip()
        yield f"{begin} average a factor of {contrast.first} changes the {table.view.title(part.response)} {times}."


def _noise_sentences(table: Table, part: Tunables) -> Iterator[str]:
    measured = [setting for setting in part.settings if setting.gain and setting.gain.value]
    if len(measured) < 2 or part.best_of_noise is None or part.worst_of_noise is None:
        return
    best = max(measured, key=lambda setting: setting.gain.value if setting.gain and setting.gain.value else 0.0)
    seen = 100 * ((best.gain.value if best.gain else None) or 1.0) - 100
    _, middle, most = part.best_of_noise
    looks = f"looks {two_digits(seen)}% better" if seen > 0 else "looks no better than the default"
    who = f"The best of {len(measured)} settings, {table.view.short_levels(best.levels)},"
    by_noise = f"the best would look {two_digits(middle)}% better, at most {two_digits(most)}%"
    yield f"{who} {looks}; if none had an effect, {by_noise}."


def _no_change_sentences(table: Table, part: Tunables) -> Iterator[str]:
    """Name the settings that change nothing observed: whether they were in effect is not known."""
    idle = [s for s in part.settings if s.gain and s.label in ("equivalent", "uncertain") and not s.moved]
    if part.watched and idle:
        responses = join_names([table.view.title(name) for name in (part.response, *part.watched)])
        names = join_first([table.view.short_levels(setting.levels) for setting in idle], MOST_SAID)
        yield f"No change of {responses} is seen with {names}."


def _untestable_sentences(table: Table) -> Iterator[str]:
    """Name the factors whose settings cannot act on a machine with that much memory; none of them was run."""
    memory = table.machine.get("memory_bytes")
    by_reason: dict[str, list[str]] = {}
    for name, factor in table.study.factors.items():
        if reason := excess_memory(factor.most_gib, memory):
            by_reason.setdefault(reason, []).append(table.view.title(name))
    for reason, names in by_reason.items():
        yield f"Not testable here: {join_names(names)}: {reason}."


def _count_sentences(part: Tunables) -> Iterator[str]:
    if part.noise_percent is not None:
        fresh = f", {part.n_fresh} fresh ones test the gains" if part.n_fresh else ""
        runs = f"{count_noun(part.n_runs, 'run')} compare settings ({part.n_default} of the default){fresh}"
        yield f"{runs}; runs of one setting differ by {two_digits(part.noise_percent)}%."
