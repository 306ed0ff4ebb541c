"""What a study of one configuration says: how long it takes, unless its runs have two modes."""

from collections.abc import Sequence

import numpy as np

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, Taken
from scalograph.findings.curves import estimated
from scalograph.findings.names import title
from scalograph.findings.score_flags import two_modes
from scalograph.findings.speedup_rule import kind, primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.findings import Curve
from scalograph.questions.registry import basis
from scalograph.text.format import estimate
from scalograph.text.scale import scale_for

_FIGURES = ("typical run", "median", "least", "most")


def applies(table: Table) -> str | None:
    """Say why it is no study of one configuration; None where it is."""
    is_one = basis(table.study.question) == "treatments" and len(table.treatments) == 1
    return None if is_one else "it has several configurations"


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell the primary response of all its runs."""
    name, (sample,) = primary(table), taken.values()
    scores, response = sample.scores(name), table.study.responses[name]
    if not scores:
        return Answer()
    found, scale = estimated(table, sample, name), scale_for(response.unit, scores)
    modes, shown = two_modes(table, sample, name), f"{estimate(found, scale)} {scale.unit}".rstrip()
    text = f"A run takes {shown}." if kind(response) == "time" else f"{title(table, name).capitalize()}: {shown}."
    figures = [found, *(Estimate(float(f(scores))) for f in (np.median, np.min, np.max))]
    row = MatrixRow(label=title(table, name), cells=[MatrixCell(estimate=x) for x in figures])
    shape = Matrix(
        title=f"of {len(scores)} run{'s' * (len(scores) != 1)}", unit=response.unit, better=response.better,
        columns=list(_FIGURES), rows=[row],
    )  # fmt: skip
    sentences = [f"Runs have {modes}: none is typical."] if modes else [text]
    return Answer(claim=Claim(sentences=sentences, matrix=shape))
