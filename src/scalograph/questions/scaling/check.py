"""What a sweep needs of its study: nothing, but a precision that can be reached."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.check_question import Factors, no_role
from scalograph.study.cross_checks import Found, table
from scalograph.study.model import Protocol

BASIS: Basis = "treatments"
# Runs at which the rule can end a treatment at the earliest: it looks from eight on, and must pass twice in a row.
FEWEST = 9


def mistakes(raw: dict[str, Any], factors: Factors) -> Iterator[Found]:
    """Find what a sweep cannot go by.

    Args:
        raw: the study as it was written.
        factors: those of its factors that are tables.

    Yields:
        Where, what was found, what was expected, what to do.
    """
    yield from no_role(factors)
    yield from _endless(raw)


def _endless(raw: dict[str, Any]) -> Iterator[Found]:
    """A precision whose rule could never end the study. Its quick form may do without: it only tries the study."""
    protocol = table(raw, "protocol")
    runs = protocol.get("runs", Protocol.model_fields["runs"].default)
    if "precision" in protocol and type(runs) is int and 1 <= runs < FEWEST:
        fix = "it is the most that a treatment gets: give 100, say, or remove precision"
        yield ("protocol", "runs"), f"{runs} beside precision", f"at least {FEWEST}, or its rule can end nothing", fix
