"""Whether the runs of a treatment reached a steady state within the warm-up that the study declares."""

from collections.abc import Iterable, Sequence
from statistics import median

from scalograph.analysis.flag import Flag
from scalograph.findings.sample import Sample
from scalograph.findings.whole_run import is_unsteady, n_unsteady
from scalograph.study.model import Study


def flags(study: Study, sample: Sample) -> list[Flag]:
    """What a reader must know of the iterations of one treatment; nothing where they are too few to tell."""
    return [*_unsteady(sample), *_late(study, sample), *_slowed(sample)]


def doubts(study: Study, samples: Sequence[Sample]) -> Iterable[str]:
    """Treatments whose iterations stand for no state: in most of their runs there was none, or it came too late."""
    if n := sum(is_unsteady(s) for s in samples):
        told = f"{n} of {len(samples)} treatments reach no steady state in most of their runs"
        curves = ": whole-run times stand for them and for all of their curves, start-up and warm-up included"
        yield told + (curves if any(s.whole for s in samples) else "")
    if n := sum(_most(s, len(_settled_late(study, s))) for s in samples):
        yield f"{n} of {len(samples)} treatments warm up for more iterations than the {study.protocol.warmup} left out"


def _most(sample: Sample, n: int) -> bool:
    return 2 * n > len(sample.counted) > 0


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
    first, counted = study.protocol.warmup, study.protocol.iterations - study.protocol.warmup
    settled = [row.settled for row in sample.counted if row.course in ("warm-up", "slowdown")]
    return [n for n in settled if n is not None and n > first + counted / 10]


def _slowed(sample: Sample) -> Iterable[Flag]:
    if n := sum(row.course == "slowdown" for row in sample.counted):
        yield Flag("slowdown", f"becomes slower in {n} of {len(sample.counted)} runs before it is steady", n)
