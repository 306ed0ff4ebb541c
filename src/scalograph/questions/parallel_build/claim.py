"""The claim of a parallel build: which number of jobs is the fastest, or cannot be told apart, and what it costs."""

from collections.abc import Sequence
from statistics import median

from scalograph.analysis.contenders import Contender
from scalograph.findings.answer import Taken
from scalograph.findings.curves import estimated
from scalograph.findings.names import short, title, varying
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.model_equivalence import (
    MARGIN,
    USER,
    Group,
    best,
    disturbed,
    groups,
    inflation,
    user_time,
)
from scalograph.text.cell_numbers import NOT_RESOLVED
from scalograph.text.quantities import change, cpus, percent
from scalograph.text.short_names import listed, short_setting

MOST_ROWS = 24
MISSED = 1.0  # share from which a difference that would be missed is no number worth a word


def build_claim(table: Table, taken: Taken, factor: str) -> Claim | None:
    """Say it of the groups of the most CPUs, for there jobs run side by side; None where less is not better."""
    every = sorted(groups(table, taken, factor), key=lambda group: -_n_cpus(group))
    if not every or table.study.responses[primary(table)].better != "lower":
        return None
    found = [best(table, group, len(every)) for group in every]
    lead, contenders = every[0], found[0]
    where, cost = _where(table, every, found), _cost(table, factor, lead)
    matrix, figure = _matrix(table, taken, factor, lead, contenders), f"response {primary(table)}"
    if disturbed(lead, primary(table)):
        rows = [row for sample in taken.values() for row in sample.every]
        n = sum(sample.n_disturbed for sample in taken.values())
        told = [f"Cannot be said: {n} of {len(rows)} runs were disturbed.", *_looks(table, factor, contenders, where)]
        return Claim(sentences=[*told, *cost], answered=False, matrix=matrix, figure=figure)
    named = [_named(table, factor, c.level) for c in contenders if c.may_be_best]
    if not named or len(named) == len(contenders):
        return Claim(
            sentences=[_unsaid(table, factor, contenders, where), *cost], answered=False, matrix=matrix, figure=figure
        )
    text = f"{_build(named)}{where}{', and cannot be told apart' * (len(named) > 1)}."
    return Claim(sentences=[text, *cost, *_elsewhere(table, factor, every, found)][:3], matrix=matrix, figure=figure)


def _n_cpus(group: Group) -> int:
    return max(row.n_cpus for sample in group.samples.values() for row in sample.every)


def _named(table: Table, factor: str, level: float) -> str:
    return short_setting(title(table, factor), int(level), table.study.factors[factor].unit)


def _where(table: Table, every: Sequence[Group], found: Sequence[Sequence[Contender]]) -> str:
    """The CPUs of the first group; its whole setting where another one of as many CPUs says otherwise."""
    n, first = _n_cpus(every[0]), primary(table)
    alike = [(disturbed(g, first), _set(c)) for g, c in zip(every, found, strict=True) if _n_cpus(g) == n]
    if len(set(alike)) > 1:
        return f" with {short(table, varying(table, every[0].fixed))}"
    return f" on {cpus(n)}" if len(alike) < len(every) else ""


def _set(found: Sequence[Contender]) -> tuple[float, ...]:
    return tuple(c.level for c in found if c.may_be_best)


def _looks(table: Table, factor: str, found: Sequence[Contender], where: str) -> list[str]:
    known = [c for c in found if c.over_best.value is not None]
    if not known:
        return []
    lowest = min(known, key=lambda c: c.over_best.value or 0)
    return [f"{_named(table, factor, lowest.level)} looks best{where} (not resolved)."]


def _unsaid(table: Table, factor: str, found: Sequence[Contender], where: str) -> str:
    if not found:
        return f"Cannot be said: fewer than two blocks have a clean run of every {title(table, factor)}."
    least = median(c.visible for c in found)
    missed = f"; differences below {percent(least)} would be missed" if least < MISSED else ""
    return f"Cannot be said: no {title(table, factor)} can be told from the fastest{where}{missed}."


def _cost(table: Table, factor: str, group: Group) -> list[str]:
    """User time of the most jobs over that of the fewest, where it is shown to differ, or to be the same."""
    response, found = user_time(table), inflation(table, group)
    if not found or table.study.responses[response].source not in USER:
        return []
    level, last = list(found.items())[-1]
    first = next(iter(group.samples))
    if last.label == "not shown" or disturbed(group, response, first, level):
        return []
    noun, one = title(table, response).partition(",")[0], _named(table, factor, float(first))
    if last.label == "equivalent":
        return [f"{_named(table, factor, float(level))} takes the same {noun} as {one}, within {percent(MARGIN)}."]
    if (how := change(last.ratio, noun, one)) == NOT_RESOLVED:
        how = f"{'more' if (last.ratio.value or 0) > 1 else 'less'} {noun} than {one} (by how much is {NOT_RESOLVED})"
    return [f"{_named(table, factor, float(level))} takes {how}."]


def _elsewhere(table: Table, factor: str, every: Sequence[Group], found: Sequence[Sequence[Contender]]) -> list[str]:
    """Another setting of as many CPUs, and the one of the fewest, where they say something else."""
    most = _n_cpus(every[0])
    fewer = [i for i, group in enumerate(every) if _n_cpus(group) < most][-1:]
    alike = [i for i, group in enumerate(every) if _n_cpus(group) == most and _set(found[i]) != _set(found[0])][:1]
    names = {i: f"With {short(table, varying(table, every[i].fixed))}," for i in alike}
    names |= {i: f"On {cpus(_n_cpus(every[i]))}" for i in fewer}
    known = [i for i in names if not disturbed(every[i], primary(table)) and _set(found[i]) != _set(found[0])]
    return [f"{names[i]} {text}." for i in known if (text := _fastest(table, factor, found[i]))]


def _fastest(table: Table, factor: str, found: Sequence[Contender]) -> str:
    named = [_named(table, factor, level) for level in _set(found)]
    if named and len(named) == len(found):
        return f"no {title(table, factor)} can be told from the fastest"
    return _build(named) if named else ""


def _build(named: Sequence[str]) -> str:
    return f"{listed(named)} build{'s' * (len(named) == 1)} fastest"


def _matrix(table: Table, taken: Taken, factor: str, group: Group, found: Sequence[Contender]) -> Matrix:
    """Times of every level of the lead, with those that may be the best."""
    first, user = primary(table), user_time(table)
    unit = table.study.responses[first].unit
    names = [first, *([user] if user != first and table.study.responses[user].unit == unit else [])]
    may_be = {c.level: "yes" if c.may_be_best else "no" for c in found if not disturbed(group, first)}
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
    where = short(table, varying(table, group.fixed))
    heads = [title(table, name).partition(",")[0] for name in names]
    return Matrix(
        title=f"time of one build{f' with {where}' if where else ''}", unit=unit, better="lower",
        rows_are=title(table, factor), columns=[*heads, *(["may be fastest"] if may_be else [])], rows=rows,
    )  # fmt: skip


def _cell(table: Table, group: Group, response: str, level: Level) -> MatrixCell:
    doubt = "disturbed runs only" if disturbed(group, response, level) else ""
    return MatrixCell(estimate=estimated(table, group.samples[level], response), doubt=doubt)
