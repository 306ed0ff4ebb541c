"""State which number of jobs builds fastest, and what it costs."""

from collections.abc import Sequence
from statistics import median

from scalograph.analysis.contenders import Contender
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.parallel_build.model_equivalence import (
    MARGIN,
    USER,
    Group,
    compare_with_best,
    groups,
    inflation,
    rests_on_disturbed,
    user_time,
)
from scalograph.text.cell_numbers import NOT_RESOLVED
from scalograph.text.quantities import change, cpus, percent
from scalograph.text.short_names import join_names, short_setting

MOST_ROWS = 24
MISSED = 1.0  # share from which a difference that would be missed is no number worth a word


def build_claim(table: Table, taken: SampleMap, factor: str) -> Claim | None:
    """State the claim for the groups with the most CPUs, where jobs run in parallel; None where less is not better."""
    every = sorted(groups(table, taken, factor), key=lambda group: -_n_cpus(group))
    if not every or table.view.response.better != "lower":
        return None
    by_group = [compare_with_best(table, group, len(every)) for group in every]
    lead, contenders = every[0], by_group[0]
    where, cost = _conditions(table, every, by_group), _cost(table, factor, lead)
    matrix, figure = _matrix(table, taken, factor, lead, contenders), f"response {table.view.primary}"
    if rests_on_disturbed(lead, table.view.primary):
        rows = [row for sample in taken.values() for row in sample.succeeded]
        n = sum(sample.n_disturbed for sample in taken.values())
        guess = _best_guess(table, factor, contenders, where)
        sentences = [f"Cannot be said: {n} of {len(rows)} runs were disturbed.", *guess, *cost]
        return Claim(sentences=sentences, answered=False, matrix=matrix, figure=figure)
    names = [_level_name(table, factor, level) for level in _best_levels(contenders)]
    if not names or len(names) == len(contenders):
        sentences = [_inconclusive_sentence(table, factor, contenders, where), *cost]
        return Claim(sentences=sentences, answered=False, matrix=matrix, figure=figure)
    text = f"{_build(names)}{where}{', and cannot be told apart' * (len(names) > 1)}."
    exceptions = _exceptions(table, factor, every, by_group)
    return Claim(sentences=[text, *cost, *exceptions][:3], matrix=matrix, figure=figure)


def _n_cpus(group: Group) -> int:
    return max(row.n_cpus for sample in group.samples.values() for row in sample.succeeded)


def _level_name(table: Table, factor: str, level: float) -> str:
    return short_setting(table.view.title(factor), int(level), table.view.unit(factor))


def _conditions(table: Table, every: Sequence[Group], by_group: Sequence[Sequence[Contender]]) -> str:
    n, first = _n_cpus(every[0]), table.view.primary
    pairs = [(g, contenders) for g, contenders in zip(every, by_group, strict=True) if _n_cpus(g) == n]
    alike = [(rests_on_disturbed(g, first), _best_levels(contenders)) for g, contenders in pairs]
    if len(set(alike)) > 1:
        return f" with {table.view.short_levels(table.view.varying_levels(every[0].fixed))}"
    return f" on {cpus(n)}" if len(alike) < len(every) else ""


def _best_levels(contenders: Sequence[Contender]) -> tuple[float, ...]:
    return tuple(c.level for c in contenders if c.may_be_best)


def _best_guess(table: Table, factor: str, contenders: Sequence[Contender], where: str) -> list[str]:
    compared = [c for c in contenders if c.over_best.value is not None]
    if not compared:
        return []
    lowest = min(compared, key=lambda c: c.over_best.value or 0)
    return [f"{_level_name(table, factor, lowest.level)} looks best{where} (not resolved)."]


def _inconclusive_sentence(table: Table, factor: str, contenders: Sequence[Contender], where: str) -> str:
    if not contenders:
        return f"Cannot be said: fewer than two blocks have a clean run of every {table.view.title(factor)}."
    least = median(c.visible for c in contenders)
    missed = f"; differences below {percent(least)} would be missed" if least < MISSED else ""
    return f"Cannot be said: no {table.view.title(factor)} can be told from the fastest{where}{missed}."


def _cost(table: Table, factor: str, group: Group) -> list[str]:
    response, ratios = user_time(table), inflation(table, group)
    if not ratios or table.study.responses[response].source not in USER:
        return []
    level, last = list(ratios.items())[-1]
    first = next(iter(group.samples))
    if last.label == "not shown" or rests_on_disturbed(group, response, first, level):
        return []
    noun = table.view.title(response).partition(",")[0]
    reference, who = (_level_name(table, factor, float(x)) for x in (first, level))
    if last.label == "equivalent":
        return [f"{who} takes the same {noun} as {reference}, within {percent(MARGIN)}."]
    if (how := change(last.ratio, noun, reference)) == NOT_RESOLVED:
        more = "more" if (last.ratio.value or 0) > 1 else "less"
        how = f"{more} {noun} than {reference} (by how much is {NOT_RESOLVED})"
    return [f"{who} takes {how}."]


def _exceptions(
    table: Table, factor: str, every: Sequence[Group], by_group: Sequence[Sequence[Contender]]
) -> list[str]:
    levels, counts = [_best_levels(contenders) for contenders in by_group], [_n_cpus(group) for group in every]
    differing = [i for i in range(len(every)) if levels[i] != levels[0]]
    fewer = [i for i, n in enumerate(counts) if n < counts[0]][-1:]
    alike = [i for i in differing if counts[i] == counts[0]][:1]
    names = {i: f"With {table.view.short_levels(table.view.varying_levels(every[i].fixed))}," for i in alike}
    names |= {i: f"On {cpus(counts[i])}" for i in fewer if i in differing}
    clear = [i for i in names if not rests_on_disturbed(every[i], table.view.primary)]
    return [f"{names[i]} {text}." for i in clear if (text := _fastest(table, factor, by_group[i]))]


def _fastest(table: Table, factor: str, contenders: Sequence[Contender]) -> str:
    names = [_level_name(table, factor, level) for level in _best_levels(contenders)]
    if names and len(names) == len(contenders):
        return f"no {table.view.title(factor)} can be told from the fastest"
    return _build(names) if names else ""


def _build(names: Sequence[str]) -> str:
    return f"{join_names(names)} build{'s' * (len(names) == 1)} fastest"


def _matrix(table: Table, taken: SampleMap, factor: str, group: Group, contenders: Sequence[Contender]) -> Matrix:
    first, user = table.view.primary, user_time(table)
    unit = table.study.responses[first].unit
    names = [first, *([user] if user != first and table.study.responses[user].unit == unit else [])]
    may_be = {c.level: "yes" if c.may_be_best else "no" for c in contenders if not rests_on_disturbed(group, first)}
    rows = []
    for level in list(group.samples)[:MOST_ROWS]:
        doubts = {name: "disturbed runs only" * rests_on_disturbed(group, name, level) for name in names}
        estimates = {name: estimate_response(table, group.samples[level], name) for name in names}
        cells = [MatrixCell(estimate=estimates[name], doubt=doubts[name]) for name in names]
        cells += [MatrixCell(text=may_be.get(float(level), "not resolved"))] if may_be else []
        rows.append(MatrixRow(label=str(level), cells=cells))
    where = table.view.short_levels(table.view.varying_levels(group.fixed))
    heads = [table.view.title(name).partition(",")[0] for name in names]
    return Matrix(
        title=f"time of one build{f' with {where}' if where else ''}", unit=unit, better="lower",
        rows_are=table.view.title(factor), columns=[*heads, *(["may be fastest"] if may_be else [])], rows=rows,
    )  # fmt: skip
