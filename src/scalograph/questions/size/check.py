"""Check the study of a question for the least that a program needs."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.check_processes import LIMITS
from scalograph.study.cross_checks import (
    Mistake,
    RawFactors,
    check_ignored_keys,
    check_limited_response,
    declared_levels,
    table,
)

BASIS: Basis = "runs"
FAILURES_EXPECTED = True  # with too little, a program is killed


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why nothing can be searched, which needs levels of an amount and one response with a limit."""
    yield from check_ignored_keys(raw, "precision", "runs", "warmup_runs")
    declared = {name: each.listed or [] for name, each in declared_levels(raw).items()}
    levels = {name: each for name, each in declared.items() if len(each) > 1}
    if not levels or not levels.keys() <= LIMITS.keys():
        several = ", ".join(levels) or "none"
        yield ("factors",), f"several levels of {several}", "of quota, memory, or both", "give others one level"
    for name in levels.keys() & LIMITS.keys():
        wrong = [x for x in levels[name] if isinstance(x, bool | str) or x <= 0]
        if wrong:
            yield ("factors", name, "levels"), f"level {wrong[0]!r}", "numbers above 0: CPUs, or MiB", ""
    yield from check_limited_response(table(raw, "responses"))
