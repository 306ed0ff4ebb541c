"""The scaling law of each curve: what limits it, where it is largest, and how far the curve may be believed."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.usl import N_PARAMETERS, Usl, fit_usl
from scalograph.analysis.usl_predict import REACH, predict
from scalograph.answer.curves import curve_factor, docs
from scalograph.answer.gains import Gain, gain
from scalograph.answer.names import title, varied
from scalograph.answer.sample import Sample
from scalograph.findings import Cell, Column, Level, TableDoc
from scalograph.table import Table

_NOTE = (
    "universal scalability law, throughput = gamma n / (1 + sigma (n - 1) + kappa n (n - 1)), fitted to the runs of "
    "each curve with relative errors; intervals from the profile likelihood; twice as far: a bracket over gamma"
)


def laws_table(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> TableDoc | None:
    """One row for each curve with enough sizes; None where speedup has no meaning or no curve has them."""
    factor = curve_factor(table)
    how = gain(table, factor)
    if how is None:
        return None
    shown = [name for name in varied(table) if name != factor]
    groups: dict[tuple[Level, ...], list[Sample]] = {}
    for sample in taken.values():
        groups.setdefault(tuple(sample.treatment[name] for name in shown), []).append(sample)
    fits = {group: fitted(how, factor, members, table.study.protocol.confidence) for group, members in groups.items()}
    rows = [_row(table, group, fit, groups[group]) for group, fit in fits.items() if fit]
    if not rows:
        return None
    columns = [Column(name=title(table, name), kind="label") for name in shown]
    columns += [Column(name=name, kind="estimate") for name in ("serial share sigma", "coherency kappa")]
    columns += [Column(name=name, kind="estimate") for name in ("largest at", "twice as far")]
    columns.append(Column(name="flags", kind="text"))
    return TableDoc(id="laws", title="Scaling laws", note=_NOTE, columns=columns, rows=rows)


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


def _row(table: Table, group: tuple[Level, ...], fit: Usl, members: Sequence[Sample]) -> list[Cell]:
    cells: list[Cell] = [*group]
    for part in (fit.sigma, fit.kappa, fit.optimum, _twice(table, fit, members)):
        cells.append(docs(part).model_dump())
    return [*cells, "; ".join(fit.flags)]


def _twice(table: Table, fit: Usl, members: Sequence[Sample]) -> Estimate:
    """Speedup over one that twice the largest size would give; refused where the CPUs end before."""
    cpus = max((row.n_cpus for sample in members for row in sample.every), default=None)
    largest = fit.law.largest
    boundaries = (cpus,) if cpus and table.study.factors[curve_factor(table)].control is None else ()
    made = predict(fit, REACH * largest, boundaries, fit.sigma.confidence)
    gamma = fit.gamma.value
    return made.scaled(1 / gamma) if gamma else made
