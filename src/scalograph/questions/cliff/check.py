"""Check the study of a question for cliffs."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_ignored_keys, check_single_factor

BASIS: Basis = "runs"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why a study cannot be searched for cliffs, which needs one factor of counts, of any control."""
    yield from check_single_factor(factors)
    yield from check_ignored_keys(raw, "precision", "runs", "warmup_runs")
