"""Check the study of a search for commits: one factor of versions, in order."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_ignored_keys, check_one_varies

BASIS: Basis = "pairs"
FAILURES_EXPECTED = True  # some commits of a history do not build


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why versions cannot be searched: they are one factor, the good one first, the bad one last."""
    yield from check_one_varies(factors)
    # Of blocks with both ends, precision is the change that counts as none.
    yield from check_ignored_keys(raw, "runs", "warmup_runs")
