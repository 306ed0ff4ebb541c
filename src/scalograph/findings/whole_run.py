"""Whole-run times where iterations stand for nothing: curves on which a treatment reaches no steady state.

docs/decisions/0008-no-steady-state.md says why a curve has one kind of time.
"""

from collections.abc import Mapping
from dataclasses import replace

from msgspec import structs

from scalograph.findings import sample
from scalograph.findings.names import curve_factor
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample, others
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.model import Study
from scalograph.study.responses import WHOLE

WARNING = "time of the whole run, start-up and warm-up included: no steady state on this curve"
UNLIKE = "refused: a whole-run time and the median of iterations are not of one kind"

Key = tuple[Level, ...]


def samples(table: Table) -> dict[Key, Sample]:
    """The sample of each planned treatment, whole runs where no steady state is reached.

    A whole run that thinks between its iterations stands for its pauses: there single iterations are all there is.
    """
    taken, factor = sample.samples(table), curve_factor(table)
    if table.study.protocol.think_s:
        return taken
    unsteady = {others(s.treatment, factor) for s in taken.values() if is_unsteady(s)}
    return {key: _whole(table.study, s) if others(s.treatment, factor) in unsteady else s for key, s in taken.items()}


def is_unsteady(sample: Sample) -> bool:
    """Whether most of its runs have no steady state."""
    return 2 * n_unsteady(sample) > len(sample.counted)


def n_unsteady(sample: Sample) -> int:
    """Runs that count and have no steady state."""
    return sample.courses["no steady state"]


def _whole(study: Study, sample: Sample) -> Sample:
    """The sample with whole-run times for all responses that read a window's time."""
    fields = {name: WHOLE[r.source] for name, r in study.responses.items() if r.source in WHOLE}
    made = {row.run: _rescored(row, fields) for row in sample.every}
    every, counted = (tuple(made[row.run] for row in rows) for rows in (sample.every, sample.counted))
    return replace(sample, every=every, counted=counted, whole=frozenset(fields))


def _rescored(row: Row, fields: Mapping[str, str]) -> Row:
    whole = {name: getattr(row, field) for name, field in fields.items()}
    kept = {name: score for name, score in row.scores.items() if name not in fields}
    return structs.replace(row, scores={**kept, **{name: score for name, score in whole.items() if score is not None}})
