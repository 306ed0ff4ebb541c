"""Whole-run times for curves on which a configuration reaches no steady state.

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
from scalograph.findings.sample import Sample, other_levels
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.model import Study
from scalograph.study.responses import WHOLE

WARNING = "time of the whole run, start-up and warm-up included: no steady state on this curve"
UNLIKE = "refused: a whole-run time and the median of iterations are not of one kind"

Key = tuple[Level, ...]


def comparable_samples(table: Table) -> dict[Key, Sample]:
    """Return the sample of each configuration, with whole-run times on curves without steady state.

    With think time between iterations a whole run measures its pauses: there iterations are all there is.
    """
    samples, factor = sample.samples_by_configuration(table), curve_factor(table)
    if table.study.protocol.think_s:
        return samples
    unsteady = {other_levels(s.configuration, factor) for s in samples.values() if is_unsteady(s)}
    return {
        key: _use_whole_runs(table.study, s) if other_levels(s.configuration, factor) in unsteady else s
        for key, s in samples.items()
    }


def is_unsteady(sample: Sample) -> bool:
    """Return whether most counted runs have no steady state."""
    return 2 * count_unsteady(sample) > len(sample.counted)


def count_unsteady(sample: Sample) -> int:
    """Count the counted runs without a steady state."""
    return sample.course_counts["no steady state"]


def _use_whole_runs(study: Study, sample: Sample) -> Sample:
    fields = {name: WHOLE[r.source] for name, r in study.responses.items() if r.source in WHOLE}
    rescored = {row.run: _replace_scores(row, fields) for row in sample.succeeded}
    every, counted = (tuple(rescored[row.run] for row in rows) for rows in (sample.succeeded, sample.counted))
    return replace(sample, succeeded=every, counted=counted, whole=frozenset(fields))


def _replace_scores(row: Row, fields: Mapping[str, str]) -> Row:
    whole = {name: getattr(row, field) for name, field in fields.items()}
    kept = {name: score for name, score in row.scores.items() if name not in fields}
    return structs.replace(row, scores={**kept, **{name: score for name, score in whole.items() if score is not None}})


def iteration_flags(study: Study, sample: Sample) -> list[Flag]:
    """Return flags about the iterations of a configuration."""
    return [*_flag_unsteady(sample), *_flag_late(study, sample), *_flag_slowdown(sample)]


def is_late(study: Study, sample: Sample) -> bool:
    """Return whether most runs are still warming up when they begin to count."""
    return 2 * len(_late_starts(study, sample)) > len(sample.counted) > 0


def _flag_unsteady(sample: Sample) -> Iterable[Flag]:
    if n := count_unsteady(sample):
        stands = "the time of the whole run is given" if sample.whole else "the median iteration stands for none"
        yield Flag("no steady state", f"no steady state in {n} of {len(sample.counted)} runs: {stands}", n)
    elif sample.whole:
        text = "the time of the whole run is given, because another point of this curve has no steady state"
        yield Flag("whole run", text)


def _flag_late(study: Study, sample: Sample) -> Iterable[Flag]:
    if late := _late_starts(study, sample):
        typical = round(median(late))
        text = f"still warming up in {len(late)} of {len(sample.counted)} runs: steady from iteration {typical} on"
        yield Flag("warming up", text, len(late))


def _late_starts(study: Study, sample: Sample) -> list[int]:
    """Return first steady iterations that would move the median: past warm-up and a tenth of the rest."""
    if not any(map(sample.course_counts.get, ("warm-up", "slowdown"))):
        return []
    first, counted = study.protocol.warmup, study.protocol.iterations - study.protocol.warmup
    settled = [row.settled for row in sample.counted if row.course in ("warm-up", "slowdown")]
    return [n for n in settled if n is not None and n > first + counted / 10]


def _flag_slowdown(sample: Sample) -> Iterable[Flag]:
    if n := sample.course_counts["slowdown"]:
        yield Flag("slowdown", f"becomes slower in {n} of {len(sample.counted)} runs before it is steady", n)
