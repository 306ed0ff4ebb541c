"""What the question for effective CPUs needs of its study."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.check_question import RawFactors, no_role, not_along_one, not_asked
from scalograph.study.cross_checks import Found

BASIS: Basis = "levels"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Found]:
    """Find why a study cannot be searched for effective CPUs: it needs one factor that counts CPUs, or workers.

    Args:
        raw: the study as it was written.
        factors: those of its factors that are tables.

    Yields:
        Where, what was found, what was expected, what to do.
    """
    yield from no_role(factors)
    yield from not_along_one(factors, controls=(None, "cpus"))
    yield from not_asked(raw, "precision", "runs", "warmup_runs")
