"""The answer on the terminal, and as one document for machines."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean, median
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.cli.adhoc.answer import Along, Step
from scalograph.cli.adhoc.law_note import unused
from scalograph.cli.adhoc.plot import Mark, plot
from scalograph.findings.curves import curve_factor, estimated
from scalograph.findings.names import title, varied
from scalograph.findings.table import Table
from scalograph.protocol.findings import (
    Cell,
    Column,
    Findings,
    TableDoc,
)
from scalograph.study.responses import primary

_NOTE = "scaling over the smallest; gain over the row before, in throughput; intervals of {:g} %"


def shown(table: Table) -> list[str]:
    """Responses of the table, the one that the study is about first; CPUs used have a column of their own."""
    first = primary(table.study)
    return [first, *(n for n in table.study.responses if n not in (first, "cpu", "cpu_percent", "wall"))]


def steps_table(table: Table, found: Sequence[Along]) -> TableDoc:
    """A row for each level."""
    factor, groups = curve_factor(table), [name for name in varied(table) if name != curve_factor(table)]
    every = [step for along in found for step in along.steps]
    names = shown(table)
    labels = [*groups, factor] if len(every) > 1 else [factor]
    columns = [Column(name=title(table, n), unit=table.study.factors[n].unit, kind="label") for n in labels]
    columns += [Column(name=title(table, n), unit=table.study.responses[n].unit, kind="estimate") for n in names]
    further: list[tuple[Column, Any]] = [
        (Column(name="speedup", kind="estimate"), lambda s: s.speedup),
        (Column(name="CPUs used", kind="estimate"), lambda s: s.cpus),
        (Column(name="gain", unit="%", kind="estimate"), lambda s: s.gain and s.gain.scaled(100)),
        (Column(name="gain per cost", unit="%", kind="estimate"), lambda s: s.per_cost),
    ]
    kept = [(column, of) for column, of in further if any(of(step) for step in every)]
    rows = [
        [*(along.group[n] for n in labels[:-1]), *_row(table, step, names, [of for _, of in kept])]
        for along in found
        for step in along.steps
    ]
    columns += [*(column for column, _ in kept), Column(name="runs", kind="text")]
    note = _NOTE.format(100 * table.study.protocol.confidence) if table.study.baseline else ""
    return TableDoc(id="steps", title=table.study.title, note=note, columns=columns, rows=rows)


def _row(table: Table, step: Step, names: Sequence[str], further: Sequence[Any]) -> list[Cell]:
    return [step.level, *_cells(table, step, names), *(_doc(of(step)) for of in further), _runs(step)]


def _cells(table: Table, step: Step, names: Sequence[str]) -> list[Cell]:
    return [_doc(estimated(table, step.sample, n)) for n in names]


def _doc(estimate: Estimate | None) -> Cell:
    return estimate or Estimate()


def _runs(step: Step) -> str:
    n, failed = len(step.sample.every), step.sample.n_failed
    return f"{n}, {failed} failed" if failed else str(n)


def _mark(size: float, speedup: Estimate) -> Mark:
    value = speedup.value or 0.0
    return Mark(size, value, value if speedup.low is None else speedup.low, speedup.high or value)


def spread(table: Table, along: Along) -> str:
    """Of a command alone: mean, median, least and largest."""
    name = primary(table.study)
    scores, unit = along.steps[0].sample.scores(name), table.study.responses[name].unit
    if not scores:
        return ""
    figures = {"mean": fmean(scores), "median": median(scores), "min": min(scores), "max": max(scores)}
    return f"{title(table, name)}: " + ", ".join(f"{what} {x:.5g} {unit}".strip() for what, x in figures.items())


def figure(along: Along) -> list[str]:
    """The curve in text."""
    marks = [_mark(float(step.level), step.speedup) for step in along.steps if step.speedup and step.speedup.value]
    law = along.law
    if law is None or not marks:
        return plot(marks)
    base = law.throughput(marks[0].size)
    return plot(marks, lambda size: law.throughput(size) / base)


def document(table: Table, found: Sequence[Along], said: Sequence[str], findings: Findings) -> dict[str, Any]:
    """One document: of the first curve its largest level and its law by themselves, of all curves every step."""
    first = found[0]
    law = first.law
    estimates: Mapping[str, Estimate | None] = {
        "speedup": first.steps[-1].speedup,
        "sigma": law.sigma if law else None,
        "kappa": law.kappa if law else None,
        "gamma": law.gamma if law else None,
        "serial_share": first.serial,
    }
    return {
        "verdict": findings.trust.level,
        "sentence": findings.trust.sentence,
        "answer": list(said),
        **{name: asdict(estimate) if estimate else None for name, estimate in estimates.items()},
        "runs": findings.runs.model_dump(mode="json"),
        "curves": [_curve(table, along) for along in found],
    }


def _curve(table: Table, along: Along) -> dict[str, Any]:
    law = along.law
    return {
        "group": dict(along.group),
        "factor": curve_factor(table),
        "law": {name: asdict(getattr(law, name)) for name in ("sigma", "kappa", "gamma", "optimum")} if law else None,
        "flags": [*(law.flags if law else ()), *filter(None, [unused(table, along)])],
        "next": {"size": along.next_size, **asdict(along.next)} if along.next else None,
        "steps": [_step(table, step) for step in along.steps],
    }


def _step(table: Table, step: Step) -> dict[str, Any]:
    parts = {"speedup": step.speedup, "efficiency": step.efficiency, "cpus_used": step.cpus, "gain": step.gain,
             "gain_percent_per_cost": step.per_cost}  # fmt: skip
    found = {name: estimated(table, step.sample, name) for name in table.study.responses}
    return {
        "level": step.level,
        "n_failed": step.sample.n_failed,
        **{name: asdict(estimate) if estimate else None for name, estimate in parts.items()},
        "responses": {name: {"scores": step.sample.scores(name), **asdict(one)} for name, one in found.items()},
    }
