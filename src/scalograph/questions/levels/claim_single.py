"""What a study of one configuration says: how long it takes, unless its runs have two modes."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.findings.curves import estimated
from scalograph.findings.names import title
from scalograph.findings.sample import Sample
from scalograph.findings.score_flags import two_modes
from scalograph.findings.speedup_rule import kind, primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.text.format import estimate, significant
from scalograph.text.quantities import counted
from scalograph.text.scale import Scale, scale_for
from scalograph.text.spoken import is_resolved

_FIGURES: Mapping[str, Callable[[Sequence[float]], float]] = {"median": median, "least": min, "most": max}


def single_claim(table: Table, sample: Sample) -> Claim:
    """Tell the primary response of all its runs, one or more."""
    name, scores = primary(table), sample.scores(primary(table))
    response, found = table.study.responses[name], estimated(table, sample, name)
    scale, modes = scale_for(response.unit, scores), two_modes(table, sample, name)
    is_time, called = kind(response) == "time", title(table, name).capitalize()
    if found.low is None or is_resolved(found):
        shown = f"{estimate(found, scale)} {scale.unit}".rstrip()
        text = f"A run takes {shown}." if is_time else f"{called}: {shown}."
    else:
        text = f"{_all(scores, scale, 'took' if is_time else 'had')}: what is typical is not resolved."
        text = text if is_time else f"{called}: {text}"
    figures = [found, *(Estimate(float(figure(scores))) for figure in _FIGURES.values())]
    matrix = Matrix(
        title=f"{title(table, name)} of {len(scores)} run{'s' * (len(scores) != 1)}",
        unit=response.unit, better=response.better, columns=["typical", *_FIGURES],
        rows=[MatrixRow(label="", cells=[MatrixCell(estimate=x) for x in figures])],
    )  # fmt: skip
    sentences = [f"Runs have {modes}: none takes what is typical of all."] if modes else [text]
    return Claim(sentences=sentences, matrix=matrix)


def _all(scores: Sequence[float], scale: Scale, verb: str) -> str:
    """The range of all runs: "2 runs took 761 to 863 µs"."""
    least, most = (significant(x * scale.factor) for x in (min(scores), max(scores)))
    return f"{counted(len(scores), 'run')} {verb} {least} to {most} {scale.unit}".rstrip()
