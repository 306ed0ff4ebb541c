"""A published claim in words and numbers: what became of it, which figures bear it out, published beside measured."""

from collections.abc import Sequence

from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim, Decision
from scalograph.text.format import estimate, number
from scalograph.text.scale import Scale, scale_for

MOST_TOLD = 16  # figures of a claim in one picture, and in words
# What stands before a decision; the word always follows, so that neither color nor sign alone says it.
SIGNS: dict[Decision, str] = {
    "holds": "\N{CHECK MARK}",
    "does not hold": "\N{MULTIPLICATION X}",
    "not resolved": "?",
    "cannot be seen here": "\N{EN DASH}",
    "not comparable": "\N{EN DASH}",
    "not measured": "\N{EN DASH}",
}


def decided(claim: DecidedClaim) -> bool:
    """Tell whether the figures of a claim say something of it: not where it cannot be seen or compared."""
    return claim.decision in ("holds", "does not hold", "not resolved")


def telling(figures: Sequence[ClaimFigure], most: int) -> list[ClaimFigure]:
    """Choose so many figures, in their order: those that do not hold before the rest."""
    ranked = sorted(range(len(figures)), key=lambda i: (figures[i].decision == "holds", i))
    return [figures[i] for i in sorted(ranked[:most])]


def claim_scale(claim: DecidedClaim) -> Scale:
    """Return the unit in which the figures of a claim read best."""
    here = [figure.here.value for figure in claim.figures if figure.here]
    return scale_for(claim.unit, [*here, *(figure.published for figure in claim.figures)])


def span(low: float | None, high: float | None, scale: Scale) -> str:
    """Format the range that bears a claim out.

    >>> plain = Scale(1.0, "")
    >>> span(0.95, 1.05, plain), span(1.0, None, plain), span(None, None, plain)
    ('0.95 to 1.05', 'at least 1', 'any')
    >>> span(None, 0.02, Scale(1e3, "ms"))
    'at most 20 ms'
    """
    unit = f" {scale.unit}" if scale.unit else ""
    if low is None:
        return "any" if high is None else f"at most {number(high, scale)}{unit}"
    return (
        f"at least {number(low, scale)}{unit}"
        if high is None
        else f"{number(low, scale)} to {number(high, scale)}{unit}"
    )


def published_text(figure: ClaimFigure, scale: Scale) -> str:
    """Format what the paper has, empty where it has no number.

    >>> one = ClaimFigure(label="", published=1.81, published_low=1.8, published_high=1.82, decision="holds")
    >>> published_text(one, Scale(1.0, ""))
    '1.81'
    """
    return "" if figure.published is None else number(figure.published, scale)


def figure_words(claim: DecidedClaim) -> list[str]:
    """Say each figure of a claim: of what, published, measured here, what follows.

    >>> one = ClaimFigure(label="512 threads", published=0.53, decision="not measured")
    >>> figure_words(DecidedClaim(id="a", sentence="b", quantity="c", figures=[one], decision="not measured"))
    ['512 threads: published 0.53, not measured']
    """
    scale, shown = claim_scale(claim), telling(claim.figures, MOST_TOLD)
    more = [f"and {len(claim.figures) - len(shown)} more"] if len(shown) < len(claim.figures) else []
    return [*(_figure(figure, scale, decided(claim)) for figure in shown), *more]


def _figure(figure: ClaimFigure, scale: Scale, is_decided: bool) -> str:
    unit = f" {scale.unit}" if scale.unit else ""
    published = published_text(figure, scale)
    told = [f"published {published}{unit}"] if published else []
    if figure.here and figure.here.value is not None:
        told.append(f"here {estimate(figure.here, scale)}{unit}")
    elif figure.none:
        told.append(f"here {figure.none}")
    verdict = [figure.decision] if is_decided or figure.here is None else []
    doubt = [f"with care: {figure.doubt}"] if figure.doubt else []
    said = ", ".join([*told, *verdict, *doubt])
    return f"{figure.label}: {said}" if figure.label else said
