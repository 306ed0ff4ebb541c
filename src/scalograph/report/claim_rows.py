"""Published claims as a page tells them: what became of each in a sign and a word, its sentence, its picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from scalograph.protocol.published_claim import DecidedClaim
from scalograph.report.claim_picture import claim_picture
from scalograph.text.claim_words import SIGNS, claim_scale, figure_words, span


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim; `style` names its decision, `words` say what the picture shows."""

    claim: DecidedClaim
    sign: str
    style: str
    borne_out: str
    picture: Markup
    words: str


def claim_rows(claims: Sequence[DecidedClaim]) -> list[ClaimRow]:
    """Lay out claims in their order, for `claims` of `page/claims.html`."""
    return [_row(claim) for claim in claims]


def _row(claim: DecidedClaim) -> ClaimRow:
    is_bounded = claim.low is not None or claim.high is not None
    borne_out = f"holds: {span(claim.low, claim.high, claim_scale(claim))}" if is_bounded else ""
    svg = Markup(claim_picture(claim))  # noqa: S704  drawn here, texts escaped
    words = f"{claim.id}: {'; '.join(figure_words(claim))}"
    return ClaimRow(claim, SIGNS[claim.decision], claim.decision.replace(" ", "-"), borne_out, svg, words)
