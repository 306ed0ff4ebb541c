"""The claim: how many CPUs a program can use, what limits it, and its times at the counts that carry the answer."""

from collections.abc import Sequence

from scalograph.findings.answer import Taken
from scalograph.findings.curves import estimated
from scalograph.findings.names import title, where
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.effective_cpus.document import EffectiveCpus
from scalograph.questions.effective_cpus.model_programs import cpus_used, levels_of
from scalograph.text.cell_numbers import compact
from scalograph.text.quantities import cpus

# Columns that a terminal has room for.
COLUMNS = 6


def effective_claim(table: Table, taken: Taken, one: EffectiveCpus) -> Claim:
    """Say how many CPUs, or workers at once, help; or why that cannot be said."""
    matrix = _matrix(table, taken, one)
    if not one.decided:
        return Claim(sentences=[f"Cannot be said: {one.sentence}."], answered=False, matrix=matrix)
    return Claim(sentences=[_sentence(_uses(table, one)), f"The limit: {one.sentence}."], matrix=matrix)


def effective_sentences(table: Table, found: Sequence[EffectiveCpus]) -> list[str]:
    """What a study says of it that did not ask: settings with the same answer share a sentence."""
    said: dict[str, list[str]] = {}
    for one in found:
        if one.decided:
            said.setdefault(_uses(table, one), []).append(where(table, one.group).removesuffix(": "))
    return [_sentence(f"{', '.join(filter(None, places))}: {text}".removeprefix(": ")) for text, places in said.items()]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _uses(table: Table, one: EffectiveCpus) -> str:
    """How many of what the levels count, and what further ones would bring."""
    n, factor, what = one.k_eff or 0, table.study.factors[one.factor], title(table, one.factor)
    most = max(int(treatment[one.factor]) for treatment in table.treatments)
    if factor.control == "cpus":
        it = f"it uses all {cpus(most)}" if n == most else f"it uses {n} of {cpus(most)}"
    elif table.study.work == "total":
        it = f"of {most} {what}, {n} {'helps' if n == 1 else 'help'}"
    else:
        return f"{what} work one at a time ({one.sure})" if n == 1 else f"{n} {what} work at once ({one.sure})"
    less = "fewer cost more" if n == most else f"from {n + 1} on it gains less"
    return f"{it}: {less} than {one.margin} ({one.sure})"


def _matrix(table: Table, taken: Taken, one: EffectiveCpus) -> Matrix | None:
    """Times, and CPUs in use, around the answer and at both ends."""
    members, name = levels_of(taken, one.group, one.factor), primary(table)
    if not members:
        return None
    response = table.study.responses[name]
    near = sorted(members, key=lambda level: (level not in (min(members), max(members)), abs(level - (one.k_eff or 0))))
    shown = sorted(near[:COLUMNS])
    times = [MatrixCell(estimate=estimated(table, members[level], name)) for level in shown]
    used = [MatrixCell(text=compact(cpus_used(table.study, members[level]))) for level in shown]
    return Matrix(
        title=f"{title(table, name)} and CPUs in use, by {title(table, one.factor)}",
        unit=response.unit,
        better=response.better or "none",
        columns=[str(level) for level in shown],
        rows=[MatrixRow(label=title(table, name), cells=times), MatrixRow(label="CPUs used", cells=used)],
    )
