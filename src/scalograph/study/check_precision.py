"""What a wish for precision needs of its study: found on the raw document, with the other mistakes."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.check_question import SEARCHED
from scalograph.study.cross_checks import Found, table
from scalograph.study.model import Protocol

# Runs at which the rule can end a treatment at the earliest: it looks from eight on, and must pass twice in a row.
FEWEST = 9


def endless(raw: dict[str, Any]) -> Iterator[Found]:
    """A precision whose rule could never end the study. Its quick form may do without: it only tries the study."""
    protocol = table(raw, "protocol")
    runs = protocol.get("runs", Protocol.model_fields["runs"].default)
    if "precision" not in protocol or raw.get("question") in SEARCHED or type(runs) is not int:
        return
    if 1 <= runs < FEWEST:
        fix = "it is the most that a treatment gets: give 100, say, or remove precision"
        yield ("protocol", "runs"), f"{runs} beside precision", f"at least {FEWEST}, or its rule can end nothing", fix
