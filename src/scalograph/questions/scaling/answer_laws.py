"""The answer of curves: each with the law that it follows, and what lies beyond it."""

from collections.abc import Sequence

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.usl import N_PARAMETERS, Usl, fit_usl
from scalograph.analysis.usl_predict import Boundary
from scalograph.findings.answer import Answer, Taken
from scalograph.findings.names import curve_factor
from scalograph.findings.sample import Sample, grouped
from scalograph.findings.speedup_rule import Gain, gain
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, LawDoc
from scalograph.protocol.plain import is_number
from scalograph.questions.scaling.answer_neighbors import swept
from scalograph.questions.scaling.answer_next import beyond
from scalograph.questions.scaling.claim import claim
from scalograph.questions.scaling.model_boundaries import boundaries
from scalograph.questions.scaling.model_lines import law_doc
from scalograph.questions.scaling.sentences import neighbor_sentences
from scalograph.questions.scaling.tables import laws_table


def laws_answered(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell what each curve does, with the law that it follows where there is one."""
    found = with_laws(table, taken, curves)
    laws = laws_table(table, found)
    levels = swept(table, taken, found)
    return Answer(
        document=levels,
        claim=claim(table, taken, found),
        sentences=[*neighbor_sentences(table, levels)],
        below=[laws] if laws else [],
        curves=found,
    )


def with_laws(table: Table, taken: Taken, curves: Sequence[Curve]) -> list[Curve]:
    """The curves, each with its law and what lies beyond it, as far as speedup has a meaning and sizes suffice."""
    factor = curve_factor(table)
    how = gain(table, factor)
    if how is None:
        return list(curves)
    groups = grouped(taken.values(), factor)
    return [_with_law(table, how, curve, groups[tuple(curve.group.items())]) for curve in curves]


def _with_law(table: Table, how: Gain, curve: Curve, members: Sequence[Sample]) -> Curve:
    fit = fitted(how, curve.factor, members, table.study.protocol.confidence)
    limits = boundaries(table, curve.factor, curve.group, most_cpus(members))
    law = _law(table, how, curve, members, fit, limits) if fit else None
    return curve.model_copy(update={"law": law, **beyond(curve, fit, limits)})


def _law(
    table: Table, how: Gain, curve: Curve, members: Sequence[Sample], fit: Usl, limits: Sequence[Boundary]
) -> LawDoc:
    smallest = min(_size(sample, curve.factor) for sample in members if sample.values(how.response).size)
    return law_doc(fit, smallest, float(table.study.baseline[curve.factor]), limits)


def most_cpus(members: Sequence[Sample]) -> int | None:
    """CPUs that the runs of a curve could use."""
    return max((row.n_cpus for sample in members for row in sample.every), default=None)


def fitted(how: Gain, factor: str, members: Sequence[Sample], confidence: float = 0.95) -> Usl | None:
    """The law of one curve; None where it has too few sizes, or figures of two kinds (decision 0008)."""
    if len({how.response in sample.whole for sample in members}) > 1:
        return None
    known = [(_size(sample, factor), values) for sample in members if (values := sample.values(how.response)).size]
    if len({size for size, _ in known}) < N_PARAMETERS or min(float(values.min()) for _, values in known) <= 0:
        return None
    sizes = np.concatenate([np.full(values.size, size) for size, values in known])
    scores = np.concatenate([values for _, values in known])
    try:
        return fit_usl(sizes, _throughput(how, sizes, scores), confidence=confidence)
    except ValueError:  # points on no such curve at all
        return None


def _throughput(how: Gain, sizes: FloatArray, scores: FloatArray) -> FloatArray:
    """Work per time of each run: of an elapsed time its inverse; times the workers where each does the same."""
    with np.errstate(over="ignore"):  # what no float can hold is no point of a curve
        each = scores if how.kind == "rate" else 1 / scores
        return each * sizes if how.per_worker else each


def _size(sample: Sample, factor: str) -> float:
    level = sample.treatment[factor]
    return float(level) if is_number(level) else 0.0
