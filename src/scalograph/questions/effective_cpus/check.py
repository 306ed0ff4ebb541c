"""Check the study of a question for effective CPUs."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_ignored_keys, check_single_factor

BASIS: Basis = "levels"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why effective CPUs cannot be searched, which needs one factor that counts CPUs, or workers."""
    yield from check_single_factor(factors, controls=(None, "cpus"))
    yield from check_ignored_keys(raw, "precision", "runs", "warmup_runs")
