"""What the scores of a configuration look like, where a mean with an interval does not say it all."""

from collections.abc import Iterable, Iterator

from scalograph.analysis.center import FloatArray
from scalograph.analysis.flag import Flag
from scalograph.analysis.modes import Modes, modes
from scalograph.findings.reason import Doubt
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.text.format import significant
from scalograph.text.quantities import counted, percent
from scalograph.text.scale import scale_for

TWO_MODES = "two modes"
# So many runs with one and the same time are no chance, unless the clock is coarse.
ALIKE_RUNS = 3


def score_flags(table: Table, sample: Sample, name: str) -> list[Flag]:
    """Return what a reader must know of the scores of a response."""
    found = modes(sample.values(name))
    return [Flag(TWO_MODES, _told(found, table, name), 100 * (found.high / found.low - 1))] if found else []


def two_modes(table: Table, sample: Sample, name: str) -> str:
    """Name the modes with their shares; empty where there are no two."""
    return next((flag.text for flag in score_flags(table, sample, name)), "")


def identical_doubt(samples: Iterable[Sample], name: str) -> Iterator[Doubt]:
    """Say how many configurations have identical scores: their intervals have no width, and that is no precision."""
    read = [scores for sample in samples if len(scores := sample.values(name)) >= ALIKE_RUNS]
    if n := sum(map(_is_identical, read)):
        why = f"all runs of {n} of {counted(len(read), 'configuration')} have one score"
        yield Doubt(why, "the clock may be too coarse", whole=2 * n >= len(read))


def _is_identical(scores: FloatArray) -> bool:
    return len(scores) >= ALIKE_RUNS and bool(scores.min() == scores.max() != 0)


def _told(found: Modes, table: Table, name: str) -> str:
    """The larger one first."""
    scale = scale_for(table.study.responses[name].unit, [found.low, found.high])
    parts = sorted([(1 - found.share_low, found.high), (found.share_low, found.low)], reverse=True)
    shown = (f"{percent(share)} near {significant(at * scale.factor)} {scale.unit}".strip() for share, at in parts)
    return f"two modes: {', '.join(shown)}"
