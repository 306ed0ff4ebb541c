"""Check the study of a sweep: it needs nothing but a precision that can be reached."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_precision_runs

# Each configuration has values of its own, which curves run through.
BASIS: Basis = "configurations"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find what a sweep cannot use: keys that only a search reads, and a precision that ends nothing."""
    yield from check_precision_runs(raw)
