"""State how many CPUs a program can use, what limits it, and its times around the answer."""

from collections.abc import Sequence

from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.effective_cpus.document import EffectiveCpus
from scalograph.questions.effective_cpus.model_programs import cpus_used, levels_of
from scalograph.text.cell_numbers import capitalize, cell_number
from scalograph.text.quantities import cpus

# Columns that a terminal has room for.
COLUMNS = 6


def effective_claim(table: Table, samples: SampleMap, group: EffectiveCpus) -> Claim:
    """State how many CPUs, or workers at once, help; or why that is open."""
    matrix = _matrix(table, samples, group)
    if not group.decided:
        return Claim(sentences=[f"Cannot be said: {group.sentence}."], answered=False, matrix=matrix)
    return Claim(sentences=[capitalize(f"{_use_text(table, group)}."), f"The limit: {group.sentence}."], matrix=matrix)


def effective_sentences(table: Table, groups: Sequence[EffectiveCpus]) -> list[str]:
    """State the answers of a study that did not ask: groups with the same answer share a sentence."""
    groups_by_text: dict[str, list[str]] = {}
    for group in groups:
        if group.decided:
            name = table.view.group_prefix(group.group).removesuffix(": ")
            groups_by_text.setdefault(_use_text(table, group), []).append(name)
    texts = ((", ".join(filter(None, names)), text) for text, names in groups_by_text.items())
    return [capitalize(f"{names}: {text}.".removeprefix(": ")) for names, text in texts]


def _use_text(table: Table, group: EffectiveCpus) -> str:
    n, factor, what = group.k_eff or 0, table.study.factors[group.factor], table.view.title(group.factor)
    most = max(int(configuration[group.factor]) for configuration in table.configurations)
    if factor.control == "cpus":
        it = f"it uses all {cpus(most)}" if n == most else f"it uses {n} of {cpus(most)}"
    elif table.study.work == "total":
        it = f"of {most} {what}, {n} {'helps' if n == 1 else 'help'}"
    else:
        return f"{what} work one at a time ({group.sure})" if n == 1 else f"{n} {what} work at once ({group.sure})"
    less = "fewer cost more" if n == most else f"from {n + 1} on it gains less"
    return f"{it}: {less} than {group.margin} ({group.sure})"


def _matrix(table: Table, samples: SampleMap, group: EffectiveCpus) -> Matrix | None:
    members, name = levels_of(samples, group.group, group.factor), table.view.primary
    if not members:
        return None
    response = table.view.response
    ends, best = (min(members), max(members)), group.k_eff or 0
    near = sorted(members, key=lambda level: (level not in ends, abs(level - best)))
    shown = sorted(near[:COLUMNS])
    times = [MatrixCell(estimate=estimate_response(table, members[level], name)) for level in shown]
    used = [MatrixCell(text=cell_number(cpus_used(table.study, members[level]))) for level in shown]
    return Matrix(
        title=f"{table.view.primary_title} and CPUs in use, by {table.view.title(group.factor)}",
        unit=response.unit, better=response.better or "none", columns=[str(level) for level in shown],
        rows=[MatrixRow(label=table.view.primary_title, cells=times), MatrixRow(label="CPUs used", cells=used)],
    )  # fmt: skip
