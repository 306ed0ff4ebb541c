"""Whole-run times where iterations stand for nothing: curves on which a treatment reaches no steady state.

docs/decisions/0008-no-steady-state.md says why a curve has one kind of time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import median

from msgspec import structs

from scalograph.analysis.estimate import Flag
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


def flags(study: Study, sample: Sample) -> list[Flag]:
    """What a reader must know of the iterations of one treatment; nothing where they are too few to tell."""
    return [*_unsteady(sample), *_late(study, sample), *_slowed(sample)]


def is_late(study: Study, sample: Sample) -> bool:
    """Whether most of its runs are still warming up when they begin to count."""
    return 2 * len(_settled_late(study, sample)) > len(sample.counted) > 0


def _unsteady(sample: Sample) -> Iterable[Flag]:
    if n := n_unsteady(sample):
        stands = "the time of the whole run is given" if sample.whole else "the median iteration stands for none"
        yield Flag("no steady state", f"no steady state in {n} of {len(sample.counted)} runs: {stands}", n)
    elif sample.whole:
        text = "the time of the whole run is given, because another point of this curve has no steady state"
        yield Flag("whole run", text)


def _late(study: Study, sample: Sample) -> Iterable[Flag]:
    if late := _settled_late(study, sample):
        typical = round(median(late))
        text = f"still warming up in {len(late)} of {len(sample.counted)} runs: steady from iteration {typical} on"
        yield Flag("warming up", text, len(late))


def _settled_late(study: Study, sample: Sample) -> list[int]:
    """First steady iterations that lie past the warm-up and would move the median: past a tenth of what counts."""
    if not any(map(sample.courses.get, ("warm-up", "slowdown"))):
        return []
    first, counted = study.protocol.warmup, study.protocol.iterations - study.protocol.warmup
    settled = [row.settled for row in sample.counted if row.course in ("warm-up", "slowdown")]
    return [n for n in settled if n is not None and n > first + counted / 10]


def _slowed(sample: Sample) -> Iterable[Flag]:
    if n := sample.courses["slowdown"]:
        yield Flag("slowdown", f"becomes slower in {n} of {len(sample.counted)} runs before it is steady", n)
