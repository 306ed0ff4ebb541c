"""State how many CPUs a program can use, what limits it, and its times around the answer: cases and their values."""

from collections.abc import Mapping, Sequence

from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import state
from scalograph.questions.effective_cpus.document import EffectiveCpus
from scalograph.questions.effective_cpus.model_programs import cpus_used, levels_of
from scalograph.text.answer_form import fill
from scalograph.text.cell_numbers import cell_number
from scalograph.text.quantities import probability

LIMITS = {
    "quota": "a quota of {quota} CPUs (less capacity, not fewer CPUs)",
    "mask": "the {k} CPUs that it may run on",
    "none": "nothing on this machine",
    "more CPUs than work": "its number of workers ({workers}); there are more CPUs than work",
    "believes in another number": "the number of CPUs that it believes in ({k})",
    "lock or serial share": "a lock, a serial part, or sharing between CPUs",
    "busy without help": "a lock, or work that grows; CPUs are busy that do not help",
    "pool of fixed size": "a pool of fixed size; the other CPUs stay idle",
    "unknown": "unknown; no measurement explains it",
}
REASONS = {
    "open": "{n} runs do not decide whether {k} of {all} CPUs are enough",
    "improbable": "{k} of {all} CPUs have a probability of only {probability:chance}[[; {low} to {high} have 95%]]",
    "implausible": "the speedup from {low} to {k} CPUs is more than the CPUs in use can give",
}
_SURE = "[[ ({probability:chance} probability)]]."
FORMS = {
    "all": "The program uses all {all} {what} effectively" + _SURE,
    "some": "The program uses {k} of {all} {what} effectively" + _SURE,
    "at once": "{k} of {all} {what} run at once" + _SURE,
    "one at a time": "Only {k} of {all} {what} runs at a time" + _SURE,
    **{limit: f"The limit is {text}." for limit, text in LIMITS.items()},
    "none": "No limit was found on this machine.",
    **{reason: f"Inconclusive: {text}. Add runs." for reason, text in REASONS.items()},
    "implausible": f"Inconclusive: {REASONS['implausible']}. Rerun on a quiet machine.",
    "too few": "No answer: too few runs; {lost} of {n} were disturbed or failed.",
}
# As documents name the limit.
LIMIT_NAMES = {limit: limit for limit in LIMITS} | {"busy without help": "lock or serial share"}
NOTE = (
    "effective: all others together gain less than {margin}[[; serial share: {serial}]][[; tasks seen: {tasks}]]"
    "[[; waiting for a CPU: {waited:percent} of the time]][[; it believes in {believed} CPUs, which does not decide]]"
)
# Columns that a terminal has room for.
COLUMNS = 6


def limit_text(case: AnswerCase) -> str:
    """Return the limit, or the reason why there is no answer, outside its sentence."""
    prefixes = {**LIMITS, **REASONS, "too few": FORMS["too few"].removeprefix("No answer: ").removesuffix(".")}
    return fill(prefixes[case.case], case.values)


def effective_claim(table: Table, samples: SampleMap, group: EffectiveCpus, limit: AnswerCase) -> Claim:
    """State how many CPUs, or workers at once, help; or why that is inconclusive.

    `limit`: the case of the limit, or of the reason why there is no answer.
    """
    cases = [_use(table, samples, group), limit] if group.decided else [limit]
    return state(FORMS, cases, _matrix(table, samples, group, limit.values))


def effective_sentences(table: Table, samples: SampleMap, groups: Sequence[EffectiveCpus]) -> list[str]:
    """State the answers of a study that did not ask: groups with the same answer share a sentence."""
    names_by_text: dict[str, list[str]] = {}
    for group in (group for group in groups if group.decided):
        case, name = _use(table, samples, group), table.view.group_prefix(group.group).removesuffix(": ")
        names_by_text.setdefault(fill(FORMS[case.case], case.values), []).append(name)
    return [": ".join(filter(None, (", ".join(filter(None, names)), text))) for text, names in names_by_text.items()]


def _use(table: Table, samples: SampleMap, group: EffectiveCpus) -> AnswerCase:
    k, factor = group.k_eff or 0, table.study.factors[group.factor]
    most, is_cpus = max(levels_of(samples, group.group, group.factor), default=k), factor.control == "cpus"
    probability = group.posterior.get(k, 0.0) if group.with_model else None
    what = "CPUs" if is_cpus else table.view.title(group.factor)
    case = "all" if k == most else "some"
    if not is_cpus and table.study.work != "total":
        case = "one at a time" if k == 1 else "at once"
    return AnswerCase(case=case, values={"k": k, "all": most, "what": what, "probability": probability})


def _matrix(table: Table, samples: SampleMap, group: EffectiveCpus, evidence: Mapping[str, object]) -> Matrix | None:
    members, name = levels_of(samples, group.group, group.factor), table.view.primary
    if not members:
        return None
    response = table.view.response
    ends, best = (min(members), max(members)), group.k_eff or 0
    near = sorted(members, key=lambda level: (level not in ends, abs(level - best)))
    shown = sorted(near[:COLUMNS])
    times = [MatrixCell(estimate=estimate_response(table, members[level], name)) for level in shown]
    used = [MatrixCell(text=cell_number(cpus_used(table.study, members[level]))) for level in shown]
    sure = [MatrixCell(text=probability(group.posterior.get(level, 0.0))) for level in shown]
    rows = [MatrixRow(label=table.view.primary_title, cells=times), MatrixRow(label="CPUs used", cells=used)]
    rows += [MatrixRow(label="probability", cells=sure)] if group.posterior else []
    return Matrix(
        title=f"{table.view.primary_title} and CPUs in use, by {table.view.title(group.factor)}",
        unit=response.unit, better=response.better or "none", columns=[str(level) for level in shown], rows=rows,
        note=fill(NOTE, {"margin": group.margin.replace(" %", "%"), **evidence})
    )  # fmt: skip
