"""Check the study of a question for the highest level within a limit."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import (
    Mistake,
    RawFactors,
    check_ignored_keys,
    check_limited_response,
    check_single_factor,
    table,
)  # fmt: skip

BASIS: Basis = "runs"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why no level can be searched, which needs one factor of counts and one response with a limit."""
    yield from check_single_factor(factors)
    yield from check_ignored_keys(raw, "precision", "runs", "warmup_runs")
    yield from check_limited_response(table(raw, "responses"))
