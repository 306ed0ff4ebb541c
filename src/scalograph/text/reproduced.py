"""How many published figures were found again, in one sentence."""

from collections import Counter
from collections.abc import Sequence

from scalograph.protocol.findings import Findings, TableDoc
from scalograph.protocol.published_claim import DecidedClaim, Decision
from scalograph.text.quantities import counted

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


def claims(decided: Sequence[DecidedClaim]) -> str:
    """Count what became of the claims of a paper; empty where there are none.

    >>> one = DecidedClaim(id="a", sentence="b", quantity="c", decision="holds")
    >>> claims([one, one.model_copy(update={"decision": "does not hold"})])
    '1 of 2 published claims holds here, 1 does not.'
    >>> claims([one])
    'The one published claim holds here.'
    """
    if not decided:
        return ""
    if len(decided) == 1:
        return f"The one published claim {_ALONE[decided[0].decision]}."
    n = Counter(claim.decision for claim in decided)
    verb = "hold" if n["holds"] > 1 else "holds"
    held = f"{n['holds'] or 'None'} of {counted(len(decided), 'published claim')} {verb} here"
    words = {**_OTHERS, "does not hold": "does not" if n["does not hold"] == 1 else "do not"}
    return f"{', '.join([held, *(f'{n[kind]} {words[kind]}' for kind in _OTHERS if n[kind])])}."


def published(findings: Findings) -> str:
    """Say what became of the claims and the figures of a paper; empty where a study has none."""
    table = next((table for table in findings.tables if table.id == TABLE), None)
    return " ".join(outcome(findings.published_claims, table))


def outcome(decided: Sequence[DecidedClaim], table: TableDoc | None) -> list[str]:
    """Count the claims; of a study that declares none, the factors of its table."""
    return [claims(decided)] if decided else reproduced(table)


def reproduced(table: TableDoc | None) -> list[str]:
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
    text = f"{answers[YES] or 'None'} of {counted(n, 'published factor')} {verb}"
    # Said once of both.
    words = {**_NO, LOWER: "lower"} if answers[HIGHER] else _NO
    others = [f"{answers[answer]} {what}" for answer, what in words.items() if answers[answer]]
    unlike = f"; {answers[UNLIKE]} more are not comparable" if answers[UNLIKE] else ""
    return [f"{', '.join([text, *others])}{unlike}."]
