"""Which claim stands first: that of the question, or of the first reading that has one to make."""

from collections.abc import Sequence

from scalograph.findings.answer import Answer
from scalograph.protocol.claim import Claim

NOTHING = "Cannot be said: the study has no result yet."
MOST_SENTENCES = 3


def first_claim(answers: Sequence[Answer], told: Sequence[str]) -> Claim:
    """Choose the claim of a study: one that answers stands before one that says why it cannot be said.

    Args:
        answers: that of the question first, then of the readings in the order in which they are told.
        told: sentences of all of them, which stand where none makes a claim.

    >>> first_claim([], []).sentences
    ['Cannot be said: the study has no result yet.']
    """
    claims = [said.claim for said in answers if said.claim is not None]
    answering = [claim for claim in claims if claim.answered]
    if claims:
        return (answering or claims)[0]
    return Claim(sentences=list(told[:MOST_SENTENCES]) or [NOTHING], answered=bool(told))
