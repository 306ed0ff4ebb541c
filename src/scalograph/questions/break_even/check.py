"""Check the study of a break-even question: two versions, over one to four factors of numbers."""

from collections.abc import Iterator
from typing import Any

from scalograph.protocol.plain import is_number
from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_ignored_keys, has_several_levels, levels_of, table

BASIS: Basis = "pairs"
# Factors that a line of break-even may have: each takes its pairs.
MOST_AXES = 4


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why two versions cannot be compared: where, what was found, what was expected, what to do."""
    versions = next(iter(table(raw, "baseline")), None)
    levels = levels_of(factors.get(versions)) if versions else None
    if versions is None:
        yield ("baseline",), "none", "the version that the other one is compared with", 'such as version = "sequential"'
    elif versions in factors and len(levels or ()) != 2:
        expected = "two: the baseline, and what may be faster"
        yield ("factors", versions, "levels"), f"{len(levels or ())} levels", expected, "take two of them"
    axes = {name: factor for name, factor in factors.items() if name != versions and has_several_levels(factor)}
    if not 1 <= len(axes) <= MOST_AXES:
        actual = f"{len(axes)} factors of several levels beside the baseline's"
        yield ("factors",), actual, f"one to {MOST_AXES}: the line runs over them", "give the others one level"
    for name, factor in axes.items():
        linear = factor.get("scale") == "linear"
        if linear and factor.get("role") is not None:
            expected = "a logarithmic scale: what is known of a role is known of ratios"
            yield ("factors", name, "scale"), "linear beside a role", expected, "remove one of them"
        for level in levels_of(factor) or ():
            if not (is_number(level) and (linear or level > 0)) and level != "all":
                yield ("factors", name, "levels"), f"level {level!r}", "numbers above 0", 'such as "16:4096:*2"'
    # Of pairs, precision is the difference that counts as even.
    yield from check_ignored_keys(raw, "runs", "warmup_runs")
