"""The claim of a parallel build: which number of jobs is the fastest, or cannot be told apart, and what it costs."""

from collections.abc import Sequence
from statistics import median

from scalograph.analysis.contenders import Contender
from scalograph.findings.answer import Samples
from scalograph.findings.curves import estimate_response
from scalograph.findings.names import short_levels, title, varying_levels
from scalograph.findings.speedup_rule import primary_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
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


def build_claim(table: Table, taken: Samples, factor: str) -> Claim | None:
    """Say it of the groups of the most CPUs, for there jobs run side by side; None where less is not better."""
    every = sorted(groups(table, taken, factor), key=lambda group: -_n_cpus(group))
    if not every or table.study.responses[primary_response(table)].better != "lower":
        return None
    by_group = [compare_with_best(table, group, len(every)) for group in every]
    lead, contenders = every[0], by_group[0]
    where, cost = _conditions(table, every, by_group), _cost(table, factor, lead)
    matrix, figure = _matrix(table, taken, factor, lead, contenders), f"response {primary_response(table)}"
    if rests_on_disturbed(lead, primary_response(table)):
        rows = [row for sample in taken.values() for row in sample.succeeded]
        n = sum(sample.n_disturbed for sample in taken.values())
        sentences = [
            f"Cannot be said: {n} of {len(rows)} runs were disturbed.",
            *_best_guess(table, factor, contenders, where),
        ]
        return Claim(sentences=[*sentences, *cost], answered=False, matrix=matrix, figure=figure)
    named = [_level_name(table, factor, c.level) for c in contenders if c.may_be_best]
    if not named or len(named) == len(contenders):
        return Claim(
            sentences=[_inconclusive_sentence(table, factor, contenders, where), *cost],
            answered=False,
            matrix=matrix,
            figure=figure,
        )
    text = f"{_build(named)}{where}{', and cannot be told apart' * (len(named) > 1)}."
    return Claim(
        sentences=[text, *cost, *_exceptions(table, factor, every, by_group)][:3], matrix=matrix, figure=figure
    )


def _n_cpus(group: Group) -> int:
    return max(row.n_cpus for sample in group.samples.values() for row in sample.succeeded)


def _level_name(table: Table, factor: str, level: float) -> str:
    return short_setting(title(table, factor), int(level), table.study.factors[factor].unit)


def _conditions(table: Table, every: Sequence[Group], by_group: Sequence[Sequence[Contender]]) -> str:
    """The CPUs of the first group; its whole setting where another one of as many CPUs says otherwise."""
    n, first = _n_cpus(every[0]), primary_response(table)
    alike = [
        (rests_on_disturbed(g, first), _best_levels(c)) for g, c in zip(every, by_group, strict=True) if _n_cpus(g) == n
    ]
    if len(set(alike)) > 1:
        return f" with {short_levels(table, varying_levels(table, every[0].fixed))}"
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
        return f"Cannot be said: fewer than two blocks have a clean run of every {title(table, factor)}."
    least = median(c.visible for c in contenders)
    missed = f"; differences below {percent(least)} would be missed" if least < MISSED else ""
    return f"Cannot be said: no {title(table, factor)} can be told from the fastest{where}{missed}."


def _cost(table: Table, factor: str, group: Group) -> list[str]:
    """User time of the most jobs over that of the fewest, where it is shown to differ, or to be the same."""
    response, ratios = user_time(table), inflation(table, group)
    if not ratios or table.study.responses[response].source not in USER:
        return []
    level, last = list(ratios.items())[-1]
    first = next(iter(group.samples))
    if last.label == "not shown" or rests_on_disturbed(group, response, first, level):
        return []
    noun, reference = title(table, response).partition(",")[0], _level_name(table, factor, float(first))
    if last.label == "equivalent":
        return [
            f"{_level_name(table, factor, float(level))} takes the same {noun} as {reference}, within {percent(MARGIN)}."
        ]
    if (how := change(last.ratio, noun, reference)) == NOT_RESOLVED:
        how = f"{'more' if (last.ratio.value or 0) > 1 else 'less'} {noun} than {reference} (by how much is {NOT_RESOLVED})"
    return [f"{_level_name(table, factor, float(level))} takes {how}."]


def _exceptions(
    table: Table, factor: str, every: Sequence[Group], by_group: Sequence[Sequence[Contender]]
) -> list[str]:
    """Another setting of as many CPUs, and the one of the fewest, where they say something else."""
    most = _n_cpus(every[0])
    fewer = [i for i, group in enumerate(every) if _n_cpus(group) < most][-1:]
    alike = [
        i
        for i, group in enumerate(every)
        if _n_cpus(group) == most and _best_levels(by_group[i]) != _best_levels(by_group[0])
    ][:1]
    names = {i: f"With {short_levels(table, varying_levels(table, every[i].fixed))}," for i in alike}
    names |= {i: f"On {cpus(_n_cpus(every[i]))}" for i in fewer}
    differing = [
        i
        for i in names
        if not rests_on_disturbed(every[i], primary_response(table))
        and _best_levels(by_group[i]) != _best_levels(by_group[0])
    ]
    return [f"{names[i]} {text}." for i in differing if (text := _fastest(table, factor, by_group[i]))]


def _fastest(table: Table, factor: str, contenders: Sequence[Contender]) -> str:
    named = [_level_name(table, factor, level) for level in _best_levels(contenders)]
    if named and len(named) == len(contenders):
        return f"no {title(table, factor)} can be told from the fastest"
    return _build(named) if named else ""


def _build(named: Sequence[str]) -> str:
    return f"{join_names(named)} build{'s' * (len(named) == 1)} fastest"


def _matrix(table: Table, taken: Samples, factor: str, group: Group, contenders: Sequence[Contender]) -> Matrix:
    """Times of every level of the lead, with those that may be the best."""
    first, user = primary_response(table), user_time(table)
    unit = table.study.responses[first].unit
    names = [first, *([user] if user != first and table.study.responses[user].unit == unit else [])]
    may_be = {c.level: "yes" if c.may_be_best else "no" for c in contenders if not rests_on_disturbed(group, first)}
    rows = [
        MatrixRow(
            label=str(level),
            cells=[
                *(_cell(table, group, name, level) for name in names),
                *([MatrixCell(text=may_be.get(float(level), "not resolved"))] if may_be else []),
            ],
        )
        for level in list(group.samples)[:MOST_ROWS]
    ]
    where = short_levels(table, varying_levels(table, group.fixed))
    heads = [title(table, name).partition(",")[0] for name in names]
    return Matrix(
        title=f"time of one build{f' with {where}' if where else ''}", unit=unit, better="lower",
        rows_are=title(table, factor), columns=[*heads, *(["may be fastest"] if may_be else [])], rows=rows,
    )  # fmt: skip


def _cell(table: Table, group: Group, response: str, level: Level) -> MatrixCell:
    doubt = "disturbed runs only" if rests_on_disturbed(group, response, level) else ""
    return MatrixCell(estimate=estimate_response(table, group.samples[level], response), doubt=doubt)
