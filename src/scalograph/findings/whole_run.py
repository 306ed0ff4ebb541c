"""Whole-run times for curves on which a configuration reaches no steady state.

docs/decisions/0008-no-steady-state.md says why a curve has one kind of time.
"""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from msgspec import structs

from scalograph.analysis.estimate import Flag
from scalograph.findings import sample
from scalograph.findings.row import Key
from scalograph.findings.sample import Sample, other_levels
from scalograph.findings.table import Table
from scalograph.study.model import Study
from scalograph.study.responses import WHOLE

WARNING = "time of the whole run, start-up and warm-up included: no steady state on this curve"
UNLIKE = "refused: a whole-run time and the median of iterations are not of one kind"


def comparable_samples(table: Table) -> dict[Key, Sample]:
    """Return the sample of each configuration, with whole-run times on curves without steady state.

    With think time between iterations a whole run measures its pauses: there iterations are all there is.
    """
    samples, factor = sample.samples_by_configuration(table), table.view.curve_factor
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
    rescored = {}
    for row in sample.succeeded:
        scores = {name: score for name, score in row.scores.items() if name not in fields}
        whole = {name: getattr(row, field) for name, field in fields.items()}
        scores |= {name: score for name, score in whole.items() if score is not None}
        rescored[row.run] = structs.replace(row, scores=scores)
    every, counted = (tuple(rescored[row.run] for row in rows) for rows in (sample.succeeded, sample.counted))
    return replace(sample, succeeded=every, counted=counted, whole=frozenset(fields))


def iteration_flags(study: Study, sample: Sample) -> Iterator[Flag]:
    """Yield flags about the iterations of a configuration."""
    of = f"of {len(sample.counted)} runs"
    if n := count_unsteady(sample):
        stands = "the time of the whole run is given" if sample.whole else "the median iteration represents none"
        yield Flag("no steady state", f"no steady state in {n} {of}: {stands}", n)
    elif sample.whole:
        text = "the time of the whole run is given, because another point of this curve has no steady state"
        yield Flag("whole run", text)
    if late := _late_starts(study, sample):
        text = f"still warming up in {len(late)} {of}: steady from iteration {round(median(late))} on"
        yield Flag("warming up", text, len(late))
    if n := sample.course_counts["slowdown"]:
        yield Flag("slowdown", f"becomes slower in {n} {of} before it is steady", n)


def is_late(study: Study, sample: Sample) -> bool:
    """Return whether most runs are still warming up when they begin to count."""
    return 2 * len(_late_starts(study, sample)) > len(sample.counted) > 0


def _late_starts(study: Study, sample: Sample) -> list[int]:
    """Return first steady iterations that would move the median: past warm-up and a tenth of the rest."""
    if not any(map(sample.course_counts.get, ("warm-up", "slowdown"))):
        return []
    first, counted = study.protocol.warmup, study.protocol.iterations - study.protocol.warmup
    settled = [row.settled for row in sample.counted if row.course in ("warm-up", "slowdown")]
    return [n for n in settled if n is not None and n > first + counted / 10]
