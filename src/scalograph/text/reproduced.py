"""How many published figures were found again, in one sentence."""

from collections import Counter
from collections.abc import Sequence

from scalograph.protocol.findings import Findings, TableDoc
from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim, Decision
from scalograph.text.format import estimate, number
from scalograph.text.quantities import count_noun
from scalograph.text.scale import Scale, scale_for

TABLE, REPRODUCES = "published", "scaling factor reproduces"
YES, LOWER, HIGHER, NOT_RESOLVED = "yes", "no: published lower", "no: published higher", "not resolved"
IMPOSSIBLE, OTHER_CPUS, UNLIKE = "no: impossible as published", "no: another number of CPUs", "not comparable"
# What is said of factors that are not shown to reproduce, in this order: of the published ones.
_NO = {
    IMPOSSIBLE: "impossible as published",
    OTHER_CPUS: "of another number of CPUs",
    HIGHER: "higher than here",
    LOWER: "lower than here",
    NOT_RESOLVED: "not resolved",
}


# What is said of claims that do not hold, in this order.
_OTHERS: dict[Decision, str] = {
    "does not hold": "not",
    "not resolved": "not resolved",
    "cannot be seen here": "cannot be seen here",
    "not comparable": "not comparable",
    "not measured": "not measured",
}
_ALONE = {
    "holds": "holds here",
    "does not hold": "does not hold here",
    "not resolved": "is not resolved",
    "cannot be seen here": "cannot be seen here",
    "not comparable": "is not comparable",
    "not measured": "was not measured",
}


def count_claims(decided: Sequence[DecidedClaim]) -> str:
    """Count what became of the claims of a paper; empty where there are none.

    >>> one = DecidedClaim(id="a", sentence="b", quantity="c", decision="holds")
    >>> count_claims([one, one.model_copy(update={"decision": "does not hold"})])
    '1 of 2 published claims holds here, 1 does not.'
    >>> count_claims([one])
    'The one published claim holds here.'
    """
    if not decided:
        return ""
    if len(decided) == 1:
        return f"The one published claim {_ALONE[decided[0].decision]}."
    n = Counter(claim.decision for claim in decided)
    verb = "hold" if n["holds"] > 1 else "holds"
    held = f"{n['holds'] or 'None'} of {count_noun(len(decided), 'published claim')} {verb} here"
    words = {**_OTHERS, "does not hold": "does not" if n["does not hold"] == 1 else "do not"}
    return f"{', '.join([held, *(f'{n[kind]} {words[kind]}' for kind in _OTHERS if n[kind])])}."


def published_outcome(findings: Findings) -> str:
    """Say what became of the claims and the figures of a paper; empty where a study has none."""
    table = next((table for table in findings.tables if table.id == TABLE), None)
    return " ".join(outcome(findings.published_claims, table))


def outcome(decided: Sequence[DecidedClaim], table: TableDoc | None) -> list[str]:
    """Count the claims; of a study that declares none, the factors of its table."""
    return [count_claims(decided)] if decided else count_reproduced(table)


def count_reproduced(table: TableDoc | None) -> list[str]:
    """Count the published scaling factors that were measured here; baselines are 1 by definition and say nothing."""
    if table is None or not table.columns or table.columns[-1].name != REPRODUCES:
        return []
    answers = Counter(str(row[-1]) for row in table.rows)
    n = sum(answers[answer] for answer in (YES, *_NO))
    if not n and answers[UNLIKE]:
        return ["None of the published configurations is comparable."]
    if not n:
        return ["None of the published configurations was run here."]
    verb = "reproduce" if answers[YES] > 1 else "reproduces"
    text = f"{answers[YES] or 'None'} of {count_noun(n, 'published factor')} {verb}"
    # Said once of both.
    words = {**_NO, LOWER: "lower"} if answers[HIGHER] else _NO
    others = [f"{answers[answer]} {what}" for answer, what in words.items() if answers[answer]]
    unlike = f"; {answers[UNLIKE]} more are not comparable" if answers[UNLIKE] else ""
    return [f"{', '.join([text, *others])}{unlike}."]


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


def is_conclusive(claim: DecidedClaim) -> bool:
    """Tell whether the figures of a claim say something of it: not where it cannot be seen or compared."""
    return claim.decision in ("holds", "does not hold", "not resolved")


def select_values(figures: Sequence[ClaimFigure], most: int) -> list[ClaimFigure]:
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

    >>> one = ClaimFigure(label="", published_outcome=1.81, published_low=1.8, published_high=1.82, decision="holds")
    >>> published_text(one, Scale(1.0, ""))
    '1.81'
    """
    return "" if figure.published is None else number(figure.published, scale)


def figure_words(claim: DecidedClaim) -> list[str]:
    """Say each figure of a claim: of what, published, measured here, what follows.

    >>> one = ClaimFigure(label="512 threads", published_outcome=0.53, decision="not measured")
    >>> figure_words(DecidedClaim(id="a", sentence="b", quantity="c", figures=[one], decision="not measured"))
    ['512 threads: published 0.53, not measured']
    """
    scale, shown = claim_scale(claim), select_values(claim.figures, MOST_TOLD)
    more = [f"and {len(claim.figures) - len(shown)} more"] if len(shown) < len(claim.figures) else []
    return [*(_figure(figure, scale, is_conclusive(claim)) for figure in shown), *more]


def _figure(figure: ClaimFigure, scale: Scale, is_decided: bool) -> str:
    unit = f" {scale.unit}" if scale.unit else ""
    published = published_text(figure, scale)
    parts = [f"published {published}{unit}"] if published else []
    if figure.here and figure.here.value is not None:
        parts.append(f"here {estimate(figure.here, scale)}{unit}")
    elif figure.none:
        parts.append(f"here {figure.none}")
    verdict = [figure.decision] if is_decided or figure.here is None else []
    doubt = [f"with care: {figure.doubt}"] if figure.doubt else []
    words = ", ".join([*parts, *verdict, *doubt])
    return f"{figure.label}: {words}" if figure.label else words
