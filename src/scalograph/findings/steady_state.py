"""Whether the runs of a treatment reached a steady state within the warm-up that the study declares."""

from collections.abc import Iterable
from statistics import median

from scalograph.analysis.flag import Flag
from scalograph.findings.sample import Sample
from scalograph.findings.whole_run import n_unsteady
from scalograph.study.model import Study


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
