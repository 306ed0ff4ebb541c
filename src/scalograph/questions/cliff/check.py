"""What the question for cliffs needs of its study."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.check_question import RawFactors, no_role, not_along_one, not_asked
from scalograph.study.cross_checks import Found

BASIS: Basis = "runs"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Found]:
    """Find why a study cannot be searched for cliffs: it needs one factor of counts, of any control.

    Args:
        raw: the study as it was written.
        factors: those of its factors that are tables.

    Yields:
        Where, what was found, what was expected, what to do.
    """
    yield from no_role(factors)
    yield from not_along_one(factors)
    yield from not_asked(raw, "precision", "runs", "warmup_runs")
