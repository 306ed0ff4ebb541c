"""The claims of a paper as a table: a row for each figure, published beside measured."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Column, TableDoc
from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim
from scalograph.text.claim_words import claim_scale, decided, span, telling

CLAIMS = "published-claims"
MOST_FIGURES = 64  # of one claim
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
        claims: decided. Figures are told in the unit in which those of their claim read best, named by the label.
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
    held = span(claim.low, claim.high, claim_scale(claim)) if is_bounded else ""
    whole = [claim.decision, held, sentence, "; ".join(filter(None, [claim.why, claim.doubt]))]
    if len(claim.figures) < 2:
        yield [claim.id, *_figure(claim, *claim.figures), *whole]
        return
    yield [claim.id, "", None, None, *whole]
    for figure in telling(claim.figures, MOST_FIGURES):
        yield [claim.id, *_figure(claim, figure), figure.decision if decided(claim) else "", "", "", figure.doubt]
    if len(claim.figures) > MOST_FIGURES:
        yield [claim.id, f"{len(claim.figures) - MOST_FIGURES} more", None, None, "", "", "", ""]


def _figure(claim: DecidedClaim, figure: ClaimFigure | None = None) -> list[Any]:
    """Of what it is, with the unit, and both numbers."""
    if figure is None:
        return ["", None, None]
    scale = claim_scale(claim)
    label = f"{figure.label} ({scale.unit})" if scale.unit else figure.label
    published = None if figure.published is None else figure.published * scale.factor
    here = Estimate(warnings=(figure.none,)) if figure.none and figure.here is None else figure.here
    return [label.strip(), published, here and _scaled(here, scale.factor)]


def _scaled(here: Estimate, factor: float) -> Estimate:
    value, low, high = (None if x is None else x * factor for x in (here.value, here.low, here.high))
    return replace(here, value=value, low=low, high=high)
