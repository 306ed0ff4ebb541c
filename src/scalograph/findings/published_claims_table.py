"""The claims of a paper as a table: a row for each figure, published beside measured."""

from collections.abc import Iterator, Sequence
from typing import Any

from scalograph.protocol.findings import Column, TableDoc
from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim
from scalograph.text.claim_words import decided, span
from scalograph.text.scale import scale_for_label

CLAIMS = "published-claims"
COLUMNS = [
    Column(name="claim", kind="label"),
    Column(name="figure", kind="label"),
    Column(name="published"),
    Column(name="here", kind="estimate"),
    Column(name="decision", kind="text"),
    Column(name="bears it out", kind="text"),
    Column(name="what is claimed", kind="text"),
    Column(name="why", kind="text"),
]
NOTE = (
    "A figure holds where its whole interval lies in the range that bears the claim out, and does not hold where the "
    "interval lies outside; a claim of several figures holds where each does."
)


def claims_table(claims: Sequence[DecidedClaim]) -> TableDoc | None:
    """Make the table `published-claims`; None where a study declares no claims.

    Args:
        claims: decided. Their figures are told in the units of the findings, which stand beside each label.
    """
    if not claims:
        return None
    rows = [row for claim in claims for row in _rows(claim)]
    kept = [i for i, column in enumerate(COLUMNS) if column.name != "why" or any(row[i] for row in rows)]
    return TableDoc(
        id=CLAIMS, title="Published claims, each figure beside the measured one", note=NOTE,
        columns=[COLUMNS[i] for i in kept], rows=[[row[i] for i in kept] for row in rows],
    )  # fmt: skip


def _rows(claim: DecidedClaim) -> Iterator[list[Any]]:
    """The claim as a whole, then its figures; both in one row where there is one figure, or none."""
    beside = "; ".join(part for part in (claim.place, claim.said and f"published: {claim.said}") if part)
    sentence = f"{claim.sentence.rstrip('.')} ({beside})" if beside else claim.sentence
    is_bounded = claim.low is not None or claim.high is not None
    held = span(claim.low, claim.high, scale_for_label(claim.unit)) if is_bounded else ""
    whole = [claim.decision, held, sentence, claim.why]
    if len(claim.figures) < 2:
        yield [claim.id, *_figure(claim, *claim.figures), *whole]
        return
    yield [claim.id, "", None, None, *whole]
    for figure in claim.figures:
        yield [claim.id, *_figure(claim, figure), figure.decision if decided(claim) else "", "", "", ""]


def _figure(claim: DecidedClaim, figure: ClaimFigure | None = None) -> list[Any]:
    """Of what it is, with the unit, and both numbers."""
    if figure is None:
        return ["", None, None]
    unit = scale_for_label(claim.unit).unit
    label = f"{figure.label} ({unit})" if unit else figure.label
    return [label.strip(), figure.published, figure.here]
