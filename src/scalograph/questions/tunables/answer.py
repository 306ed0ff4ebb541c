"""Answer which settings matter: the search replayed from its runs, and all settings in one fit."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import expm1, log

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.row import Row
from scalograph.findings.sample import replay_events
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.claims import case, state, why_unanswerable
from scalograph.questions.tunables.claim import FORMS, tunables_claim
from scalograph.questions.tunables.document import (
    Combination,
    FactorEffect,
    GroupContrast,
    GroupEffect,
    SettingEffect,
    Tunables,
)
from scalograph.questions.tunables.model_array import failures
from scalograph.questions.tunables.model_fit import LARGEST, SettingFit, confirm_gain, factorial
from scalograph.questions.tunables.model_groups import (
    GroupSpread,
    Rank,
    group_ratio,
    labels,
    null_bands,
    plain_ratio,
    ranks,
    sensitivity,
    sensitivity_ranks,
)
from scalograph.questions.tunables.search_state import NOTHING_TO_COMPARE, TunablesState, begin
from scalograph.questions.tunables.tables import tunables_sentences, tunables_tables
from scalograph.study.model import Study
from scalograph.study.responses import CPU_TIMES
from scalograph.text.warning_catalog import Caveat


def compare_groups(
    study: Study, names: Sequence[str], fit: SettingFit | None, n_runs: int
) -> tuple[list[GroupEffect], list[GroupContrast]]:
    """Estimate how much each group changes the performance, and its ratio to each later one."""
    if fit is None:
        return [], []
    groups = _group_factors(study, names, fit)
    spreads = {group: GroupSpread(fit, factors) for group, factors in groups.items()}
    effects = [_effect(group, [names[j] for j in groups[group]], spread) for group, spread in spreads.items()]
    pairs = [*combinations(spreads, 2)]
    # The intervals of all contrasts hold together (Bonferroni).
    confidence = 1 - (1 - fit.confidence) / max(1, len(pairs))
    contrasts = []
    for first, second in pairs:
        both = spreads[first], spreads[second]
        (plain, noise), ratio = plain_ratio(*both), group_ratio(*both, confidence, n_runs)
        contrasts.append(GroupContrast(first=first, second=second, ratio=ratio, plain=plain, plain_noise=noise))
    return effects, contrasts


def _group_factors(study: Study, names: Sequence[str], fit: SettingFit) -> dict[str, list[int]]:
    by_group: dict[str, list[int]] = {}
    for j in sorted({j for j, _ in fit.names}):
        if group := study.factors[names[j]].group:
            by_group.setdefault(group, []).append(j)
    return by_group


def _effect(group: str, factors: list[str], spread: GroupSpread) -> GroupEffect:
    total = spread.sensitivity
    return GroupEffect(
        group=group, factors=factors, sensitivity=total.value, sensitivity_noise=total.most,
        plain=total.plain, plain_noise=total.noise,
    )  # fmt: skip


# Other responses that are looked at, and the share of the runs that have a figure above 0 of each.
MOST_WATCHED, NEARLY_ALL = 12, 0.9


def answer(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Answer:
    search = begin(table.study, table.configurations)
    rows = list(replay_events(search, table))
    search.state.end()
    document = tunables(table, search.state, rows)
    reason = why_unanswerable(table, taken)
    unanswered = state(FORMS, [case("no answer", reason=reason or NOTHING_TO_COMPARE)])
    return Answer(
        document=document, decided=document.decided,
        claim=unanswered if search.state.default_fails else tunables_claim(table, document, reason),
        sentences=tunables_sentences(table, document), tables=tunables_tables(table, document),
        doubts=_flags(search.state, document),
    )  # fmt: skip


def _flags(state: TunablesState, document: Tunables) -> list[Caveat]:
    if document.decided:
        return []
    if state.default_fails:
        return [Caveat("undecided", {"reason": NOTHING_TO_COMPARE})]
    if document.half_width is None:
        return [Caveat("few settings")]
    if document.half_width > state.target:
        return [Caveat("wide settings", {"wide": document.half_width, "target": state.target})]
    unmade = "what they found is confirmed" if state.candidates else "the planned blocks are complete"
    return [Caveat("early end", {"unmade": unmade})]


def tunables(table: Table, state: TunablesState, rows: Sequence[Row]) -> Tunables:
    fit, fits = state.fit_settings(), _fit_other_responses(table, state, rows)
    screening = state.screening
    best_of_noise, worst_of_noise = null_bands(fit) if fit else (None, None)
    groups, contrasts = compare_groups(table.study, state.space.names, fit, len(screening))
    n = len(state.space.names)
    places = sensitivity_ranks(fit, n) if fit else None
    return Tunables(
        plan=state.plan, response=table.view.primary, decided=state.is_complete, margin=state.margin,
        noise_percent=100 * fit.sd if fit else None, half_width=expm1(min(state.widest(fit), LARGEST)) if fit else None,
        n_runs=len(screening), n_default=sum(run.settings == state.space.default for run in screening),
        n_failed=sum(run.failed for run in screening),
        n_fresh=len(state.observations) - len(screening), blocks=state.n_blocks, blocks_needed=state.blocks_needed(fit),
        factors=[_factor(state, fit, j, places) for j in range(n)],
        settings=_settings(table, state, fit, fits), watched=list(fits), combinations=_combinations(state),
        best_of_noise=best_of_noise, worst_of_noise=worst_of_noise,
        groups=groups, contrasts=contrasts,
    )  # fmt: skip


def _factor(state: TunablesState, fit: SettingFit | None, j: int, places: Sequence[Rank] | None) -> FactorEffect:
    space, fields = state.space, {}
    if fit is not None and places is not None:
        moved = sensitivity(fit, j)
        fields = {
            "sensitivity": moved.value, "sensitivity_noise": moved.most, "plain": moved.plain,
            "plain_noise": moved.noise, "sensitivity_rank": places[j],
        }  # fmt: skip
    p = state.screening_result.p[j] if state.screening_result else None
    return FactorEffect(factor=space.names[j], default=space.levels[j][0], matters=j in state.selected, p=p, **fields)


def _settings(
    table: Table, state: TunablesState, fit: SettingFit | None, fits: Mapping[str, SettingFit]
) -> list[SettingEffect]:
    space, runs, out = state.space, state.screening, state.left_out
    places = {setting: k for k, setting in enumerate(fit.names)} if fit else {}
    all_labels, all_ranks = (labels(fit, state.margin), ranks(fit)) if fit else ([], [])
    cpu = next((name for name, response in table.study.responses.items() if response.source in CPU_TIMES), "")
    effects = []
    for j, level in space.settings:
        # Failures that another setting is why of say nothing of this one.
        fair = [run for run in runs if not any((i, x) in out - {(j, level)} for i, x in enumerate(run.settings))]
        failed = [run.failed for run in fair]
        failures_ = failures([run.settings for run in fair], failed, j, level, state.confidence)
        # The other responses with this setting, over those of the default.
        over = {name: x.gain(x.names.index((j, level))) for name, x in fits.items() if (j, level) in x.names}
        k, fields = places.get((j, level)), {}
        if fit is not None and k is not None:
            fields = {"gain": fit.gain(k), "label": all_labels[k], "rank": all_ranks[k]}
        effects.append(SettingEffect(
            factor=space.names[j], level=space.levels[j][level], alone=_alone(state, (j, level)),
            cpu_time=over.get(cpu), moved=_significant_changes(over, state.margin), n=failures_.n,
            n_failed=failures_.n_failed, fails=failures_.share, fails_p=failures_.p,
            left_out=(j, level) in state.left_out, **fields,
        ))  # fmt: skip
    return effects


def _alone(state: TunablesState, setting: tuple[int, int]) -> Estimate | None:
    if setting not in state.candidates:
        return None
    gain = confirm_gain(state.pairs, state.space.alone(*setting), state.confidence)
    return gain if gain.low is not None else None


def _combinations(state: TunablesState) -> list[Combination]:
    space, combined = state.space, []
    for settings in factorial(state.candidates, len(space.names)) if state.candidates else ():
        gain = confirm_gain(state.pairs, settings, state.confidence)
        levels = {space.names[j]: space.levels[j][level] for j, level in enumerate(settings) if level}
        combined += [Combination(levels=levels, gain=gain)] if gain.low is not None else []  # else it is no gain
    return combined


def _fit_other_responses(table: Table, state: TunablesState, rows: Sequence[Row]) -> dict[str, SettingFit]:
    n_ok = sum(row.status == "ok" for row in rows)
    names, logs = [name for name in table.study.responses if name != table.view.primary][:MOST_WATCHED], {}
    for name in names:
        logs[name] = {i: log(row.scores[name]) for i, row in enumerate(rows) if row.scores.get(name, 0.0) > 0}
    usable = {name: each for name, each in logs.items() if len(each) >= NEARLY_ALL * n_ok}
    fits = {name: state.fit_response(each, len(usable)) for name, each in usable.items()}
    return {name: fit for name, fit in fits.items() if fit is not None}


def _significant_changes(over: Mapping[str, Estimate], margin: float) -> dict[str, Estimate]:
    return {
        name: e for name, e in over.items()
        if e.low is not None and e.high is not None and not (e.low <= 1 + margin and e.high >= 1 - margin)
    }  # fmt: skip
