"""Effective CPUs before people: the sentence, the figures side by side, and the levels that were measured."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratio import ratio
from scalograph.findings.curves import estimated
from scalograph.findings.names import setting, title, varying
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import (
    Cell,
    Column,
    EffectiveCpus,
    Level,
    TableDoc,
)
from scalograph.text.format import estimate

# Shares below this are no part of the histogram in print.
SHOWN = 0.005
# Steps of the time that a sentence has room for.
NAMED = 8
_NOTE = (
    "CPUs that help: the least beyond which all further ones together gain less than 2 % (5 % without a model); used: "
    "CPU seconds over wall seconds; at once: tasks on a CPU over the whole run"
)

Taken = Mapping[tuple[Level, ...], Sample]


def effective_sentences(table: Table, taken: Taken, found: Sequence[EffectiveCpus]) -> list[str]:
    """For each group: how many help, and what limits it."""
    return [_sentence(table, taken, one) for one in found]


def effective_tables(table: Table, taken: Taken, found: Sequence[EffectiveCpus]) -> list[TableDoc]:
    """The figures of every group side by side, and for each group the levels that were measured."""
    if not found:
        return []
    return [_figures(table, found), *(_levels(table, taken, one, index) for index, one in enumerate(found))]


def _sentence(table: Table, taken: Taken, one: EffectiveCpus) -> str:
    where = _where(table, one)
    if one.k_eff is None or not one.decided:
        return f"{where}{_capital(one.sentence, where)}."
    helping = f"{_helping(table, one)} ({_sure(one)})"
    used = f", {_used(one)} CPUs are used" if one.used and one.used.value is not None else ""
    return f"{where}{_capital(helping, where)}{used}. The limit: {one.sentence}.{_steps(table, taken, one)}"


def _capital(text: str, before: str) -> str:
    return text if before else f"{text[:1].upper()}{text[1:]}"


def _where(table: Table, one: EffectiveCpus) -> str:
    named = setting(table, varying(table, one.group))
    return f"{named}: " if named else ""


def _helping(table: Table, one: EffectiveCpus) -> str:
    """How many of what the levels count."""
    if table.study.factors[one.factor].control == "cpus":
        return "1 CPU helps" if one.k_eff == 1 else f"{one.k_eff} CPUs help"
    what = title(table, one.factor)
    if table.study.work == "total":
        return f"{what}: no more than {one.k_eff} help"
    return f"{what} work one at a time" if one.k_eff == 1 else f"{one.k_eff} {what} work at once"


def _sure(one: EffectiveCpus) -> str:
    if not one.with_model:
        return "found without a model, within 5 %"
    return f"probability {100 * one.posterior.get(one.k_eff or 0, 0.0):.0f} %"


def _steps(table: Table, taken: Taken, one: EffectiveCpus) -> str:
    """Of workers that each do the same: when the time rises, up to twice as many as run at once."""
    if table.study.factors[one.factor].control == "cpus" or table.study.work != "per-worker":
        return ""
    members = _members(taken, one)
    cells = [
        f"{cell.value:.2f} at {level}"
        for level in sorted(members)
        if 1 < level <= 2 * max(2, one.k_eff or 0) and (cell := _over_first(table, members, level)).value is not None
    ]
    if len(cells) > NAMED:
        cells = [*cells[: NAMED - 1], f"... {cells[-1]}"]
    return f" The time over that of {min(members)} is {', '.join(cells)}." if cells else ""


def _members(taken: Taken, one: EffectiveCpus) -> dict[int, Sample]:
    """The samples of a group by level, as far as they were measured."""
    found = [s for s in taken.values() if s.every and s.treatment.items() >= one.group.items()]
    return {int(sample.treatment[one.factor]): sample for sample in found}


def _over_first(table: Table, members: Mapping[int, Sample], level: int) -> Estimate:
    """Time at a level over that at the lowest; of a rate, the other way round."""
    name, confidence, first = primary(table), table.study.protocol.confidence, min(members)
    ours, theirs = members[level].scores(name), members[first].scores(name)
    if level == first:
        return Estimate(1.0, 1.0, 1.0, confidence, len(ours), "1 by definition")
    if table.study.responses[name].better == "higher":
        ours, theirs = theirs, ours
    return ratio(ours, theirs, confidence)


def _levels(table: Table, taken: Taken, one: EffectiveCpus, index: int) -> TableDoc:
    members, name = _members(taken, one), primary(table)
    factor, response = table.study.factors[one.factor], table.study.responses[name]
    columns = [
        Column(name=title(table, one.factor), unit=factor.unit, kind="label"),
        Column(name=title(table, name), unit=response.unit, kind="estimate"),
        Column(name=f"time over that of {min(members, default=1)}", kind="estimate"),
        Column(name="probability that no further helps", unit="%"),
        Column(name="runs"),
        Column(name="failed"),
    ]
    rows: list[list[Cell]] = [
        [
            level,
            estimated(table, sample, name),
            _over_first(table, members, level),
            round(100 * one.posterior.get(level, 0.0), 1) if one.posterior else None,
            len(sample.every),
            sample.n_failed,
        ]
        for level, sample in sorted(members.items())
    ]
    where = _where(table, one).removesuffix(": ")
    heading = "Levels that were measured" + (f", {where}" if where else "")
    return TableDoc(id=f"effective-levels-{index}", title=heading, columns=columns, rows=rows)


def _figures(table: Table, found: Sequence[EffectiveCpus]) -> TableDoc:
    heads = [_where(table, one).removesuffix(": ") or "here" for one in found]
    columns = [Column(name="figure", kind="label"), *(Column(name=head, kind="text") for head in heads)]
    names = ("help", "used", "at once", "may be used", "quota", "believed in", "told to use", "limit")
    lines = [_lines(one) for one in found]
    rows: list[list[Cell]] = [[name, *(line[name] for line in lines)] for name in names]
    return TableDoc(id="effective-cpus", title="Effective CPUs", note=_NOTE, columns=columns, rows=rows)


def _lines(one: EffectiveCpus) -> dict[str, str]:
    """Each figure in print."""
    shares = ", ".join(f"{n}: {100 * share:.0f} %" for n, share in enumerate(one.at_once) if share >= SHOWN)
    return {
        "help": "not known" if one.k_eff is None else f"{one.k_eff} ({_sure(one)})",
        "used": _used(one),
        "at once": shares or "not measured",
        "may be used": "not known" if one.mask is None else f"{one.mask} (mask)",
        "quota": "none" if one.quota is None else f"{one.quota:g} CPUs",
        "believed in": "it does not say" if one.believed is None else str(one.believed),
        "told to use": "nothing" if one.workers is None else str(one.workers),
        "limit": one.limit,
    }


def _used(one: EffectiveCpus) -> str:
    return str(estimate(one.used)) if one.used and one.used.value is not None else "not measured"
