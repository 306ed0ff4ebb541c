"""Words for published claims and values that were measured again."""

from collections import Counter
from collections.abc import Sequence

from scalograph.protocol.findings import Findings, TableDoc
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, Decision
from scalograph.text.format import estimate, number
from scalograph.text.quantities import count_noun
from scalograph.text.scale import Scale, scale_for

TABLE, REPRODUCES = "published", "scaling factor reproduces"
YES, LOWER, HIGHER, INCONCLUSIVE = "yes", "no: published lower", "no: published higher", "inconclusive"
IMPOSSIBLE, OTHER_CPUS, UNLIKE = "no: impossible as published", "no: another number of CPUs", "not comparable"
# Words for published factors that do not reproduce, in this order.
_NO = {
    IMPOSSIBLE: "impossible as published",
    OTHER_CPUS: "of another number of CPUs",
    HIGHER: "higher than here",
    LOWER: "lower than here",
    INCONCLUSIVE: "inconclusive",
}
# What is said of one claim, and of several.
_OUTCOMES: dict[Decision, tuple[str, str]] = {
    "holds": ("holds here", "hold here"),
    "does not hold": ("does not hold here", "do not hold here"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    "cannot be seen here": ("is not testable here", "are not testable here"),
    "not comparable": ("is not comparable", "are not comparable"),
    "not measured": ("was not measured", "were not measured"),
}


def count_claims(decided: Sequence[DecidedClaim]) -> str:
    """Count the outcomes of the claims of a paper; empty without any.

    >>> one = DecidedClaim(id="a", sentence="b", quantity="c", decision="holds")
    >>> count_claims([one, one.model_copy(update={"decision": "does not hold"})])
    'Of 2 published claims, 1 holds here, 1 does not hold here.'
    >>> count_claims([one])
    'The one published claim holds here.'
    """
    if not decided:
        return ""
    if len(decided) == 1:
        return f"The one published claim {_OUTCOMES[decided[0].decision][0]}."
    n = Counter(claim.decision for claim in decided)
    outcomes = [f"{n[kind]} {words[n[kind] > 1]}" for kind, words in _OUTCOMES.items() if n[kind]]
    return f"Of {len(decided)} published claims, {', '.join(outcomes)}."


def published_outcome(findings: Findings) -> str:
    """Return a sentence on the claims or values of a paper; empty where a study has none."""
    table = next((table for table in findings.tables if table.id == TABLE), None)
    return " ".join(outcome(findings.published_claims, table))


def outcome(decided: Sequence[DecidedClaim], table: TableDoc | None) -> list[str]:
    """Count the claims, or the factors of the table of a study without claims."""
    return [count_claims(decided)] if decided else count_reproduced(table)


def count_reproduced(table: TableDoc | None) -> list[str]:
    """Count the published scaling factors that were measured here."""
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


MOST_TOLD = 16  # values of a claim in one chart, and in words
# Signs before the word of a decision.
SIGNS: dict[Decision, str] = {
    "holds": "\N{CHECK MARK}",
    "does not hold": "\N{MULTIPLICATION X}",
    "inconclusive": "?",
    "cannot be seen here": "\N{EN DASH}",
    "not comparable": "\N{EN DASH}",
    "not measured": "\N{EN DASH}",
}


def is_conclusive(claim: DecidedClaim) -> bool:
    """Tell whether a claim could be tested here."""
    return claim.decision in ("holds", "does not hold", "inconclusive")


def select_values(figures: Sequence[ClaimValue], most: int) -> list[ClaimValue]:
    """Choose values in their order, those that do not hold before the rest."""
    ranked = sorted(range(len(figures)), key=lambda i: (figures[i].decision == "holds", i))
    return [figures[i] for i in sorted(ranked[:most])]


def claim_scale(claim: DecidedClaim) -> Scale:
    """Return the scale in which the values of a claim read best."""
    here = [figure.here.value for figure in claim.figures if figure.here]
    return scale_for(claim.unit, [*here, *(figure.published for figure in claim.figures)])


def span(low: float | None, high: float | None, scale: Scale) -> str:
    """Format the range within which a claim holds.

    >>> plain = Scale(1.0, "")
    >>> span(0.95, 1.05, plain), span(1.0, None, plain), span(None, None, plain)
    ('0.95 to 1.05', 'at least 1', 'any')
    >>> span(None, 0.02, Scale(1e3, "ms"))
    'at most 20 ms'
    """
    unit = f" {scale.unit}" if scale.unit else ""
    if low is None:
        return "any" if high is None else f"at most {number(high, scale)}{unit}"
    if high is None:
        return f"at least {number(low, scale)}{unit}"
    return f"{number(low, scale)} to {number(high, scale)}{unit}"


def published_text(figure: ClaimValue, scale: Scale) -> str:
    """Format the published number; empty without one.

    >>> one = ClaimValue(label="", published=1.81, published_low=1.8, published_high=1.82, decision="holds")
    >>> published_text(one, Scale(1.0, ""))
    '1.81'
    """
    return "" if figure.published is None else number(figure.published, scale)


def figure_words(claim: DecidedClaim) -> list[str]:
    """Describe each value of a claim: label, published, measured here, decision.

    >>> one = ClaimValue(label="512 threads", published=0.53, decision="not measured")
    >>> figure_words(DecidedClaim(id="a", sentence="b", quantity="c", figures=[one], decision="not measured"))
    ['512 threads: published 0.53, not measured']
    """
    scale, shown = claim_scale(claim), select_values(claim.figures, MOST_TOLD)
    more = [f"and {len(claim.figures) - len(shown)} more"] if len(shown) < len(claim.figures) else []
    return [*(_figure(figure, scale, is_conclusive(claim)) for figure in shown), *more]


def _figure(figure: ClaimValue, scale: Scale, is_decided: bool) -> str:
    unit = f" {scale.unit}" if scale.unit else ""
    published = published_text(figure, scale)
    parts = [f"published {published}{unit}"] if published else []
    if figure.here and figure.here.value is not None:
        parts.append(f"here {estimate(figure.here, scale)}{unit}")
    elif figure.none:
        parts.append(f"here {figure.none}")
    verdict = [figure.decision] if is_decided or figure.here is None else []
    doubt = [f"caution: {figure.doubt}"] if figure.doubt else []
    words = ", ".join([*parts, *verdict, *doubt])
    return f"{figure.label}: {words}" if figure.label else words
