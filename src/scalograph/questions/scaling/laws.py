"""The scaling law of each curve: what limits it, where it is largest, and how far the curve may be believed."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.usl import N_PARAMETERS, Usl, fit_usl
from scalograph.findings.curves import curve_factor
from scalograph.findings.names import title, varied
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import Gain, gain
from scalograph.findings.table import Table
from scalograph.protocol.findings import (
    Cell,
    Column,
    Curve,
    LawDoc,
    Level,
    TableDoc,
)
from scalograph.questions.scaling.boundaries import boundaries
from scalograph.questions.scaling.law_lines import law_doc

_NOTE = (
    "universal scalability law, throughput = gamma n / (1 + sigma (n - 1) + kappa n (n - 1)), fitted to the runs of "
    "each curve with relative errors; intervals from the profile likelihood; twice as far: speedup at twice the "
    "largest size, a bracket, on further CPUs of the kind that was measured; refused where they would be of another; "
    "if the same law goes on: a limit that was not reached yet is not in it"
)


def with_laws(table: Table, taken: Mapping[tuple[Level, ...], Sample], curves: Sequence[Curve]) -> list[Curve]:
    """The curves, each with its law; without where speedup has no meaning or a curve has too few sizes."""
    factor = curve_factor(table)
    how = gain(table, factor)
    if how is None:
        return list(curves)
    groups: dict[tuple[Level, ...], list[Sample]] = {}
    for sample in taken.values():
        groups.setdefault(_others(sample.treatment, factor), []).append(sample)
    return [curve.model_copy(update={"law": _law(table, how, curve, groups)}) for curve in curves]


def _others(treatment: Mapping[str, Level], factor: str) -> tuple[Level, ...]:
    return tuple(level for name, level in treatment.items() if name != factor)


def _law(table: Table, how: Gain, curve: Curve, groups: Mapping[tuple[Level, ...], Sequence[Sample]]) -> LawDoc | None:
    members = groups[tuple(curve.group.values())]
    fit = fitted(how, curve.factor, members, table.study.protocol.confidence)
    if fit is None:
        return None
    smallest = min(_size(sample, curve.factor) for sample in members if sample.scores(how.response))
    limits = boundaries(table, curve.factor, curve.group, most_cpus(members))
    return law_doc(fit, smallest, float(table.study.baseline[curve.factor]), limits)


def most_cpus(members: Sequence[Sample]) -> int | None:
    """CPUs that the runs of a curve could use."""
    return max((row.n_cpus for sample in members for row in sample.every), default=None)


def laws_table(table: Table, curves: Sequence[Curve]) -> TableDoc | None:
    """One row for each curve with a law; None where none has."""
    shown = [name for name in varied(table) if name != curve_factor(table)]
    rows = [_row([curve.group[name] for name in shown], curve.law) for curve in curves if curve.law]
    if not rows:
        return None
    columns = [Column(name=title(table, name), kind="label") for name in shown]
    columns += [Column(name=name, kind="estimate") for name in ("serial share sigma", "coherency kappa")]
    columns += [Column(name=name, kind="estimate") for name in ("largest at", "twice as far")]
    columns.append(Column(name="flags", kind="text"))
    return TableDoc(id="laws", title="Scaling laws", note=_NOTE, columns=columns, rows=rows)


def _row(labels: list[Cell], law: LawDoc) -> list[Cell]:
    return [*labels, law.sigma, law.kappa, law.optimum, law.twice, "; ".join(law.flags)]


def fitted(how: Gain, factor: str, members: Sequence[Sample], confidence: float = 0.95) -> Usl | None:
    """The law of one curve; None where it has too few sizes, or figures of two kinds (decision 0008)."""
    if len({how.response in sample.whole for sample in members}) > 1:
        return None
    points = [(_size(sample, factor), score) for sample in members for score in sample.scores(how.response)]
    if len({size for size, _ in points}) < N_PARAMETERS or min(score for _, score in points) <= 0:
        return None
    rates = [throughput(how, size, score) for size, score in points]
    try:
        return fit_usl([size for size, _ in points], rates, confidence=confidence)
    except ValueError:  # points on no such curve at all
        return None


def throughput(how: Gain, size: float, score: float) -> float:
    """Work per time of a run: of an elapsed time its inverse; times the workers where each does the same."""
    each = score if how.kind == "rate" else 1 / score
    return each * size if how.per_worker else each


def _size(sample: Sample, factor: str) -> float:
    level = sample.treatment[factor]
    return float(level) if isinstance(level, int | float) else 0.0
