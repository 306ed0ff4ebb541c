"""How many published figures were found again, in one sentence."""

from collections import Counter

from scalograph.protocol.findings import Findings, TableDoc

TABLE, REPRODUCES = "published", "scaling factor reproduces"
YES, LOWER, HIGHER, NOT_RESOLVED = "yes", "no: published lower", "no: published higher", "not resolved"


def published(findings: Findings) -> str:
    """Say what became of the figures of a paper; empty where a study has none."""
    return " ".join(reproduced(next((table for table in findings.tables if table.id == TABLE), None)))


def reproduced(table: TableDoc | None) -> list[str]:
    """Count the published scaling factors that were measured here; baselines are 1 by definition and say nothing."""
    if table is None or not table.columns or table.columns[-1].name != REPRODUCES:
        return []
    answers = Counter(str(row[-1]) for row in table.rows)
    n = sum(answers[answer] for answer in (YES, LOWER, HIGHER, NOT_RESOLVED))
    if not n:
        return ["None of the published configurations was run here."]
    words = {HIGHER: "higher", LOWER: "lower"}
    text = f"{answers[YES]} of {n} published factors reproduce"
    others = (f"{answers[answer]} {what}" for answer, what in words.items() if answers[answer])
    return [f"{', '.join([text, *others])}."]
