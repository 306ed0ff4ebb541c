"""Check the study of a question for the best configuration: something must vary, and its default must be one level."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_ignored_keys, has_several_levels, levels_of
from scalograph.study.shapes import Shape

BASIS: Basis = "runs"


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    """Find why no best can be searched: where, what was found, what was expected, what to do."""
    if not any(has_several_levels(factor) for factor in factors.values()):
        yield ("factors",), "no factor of several levels", "one or more: what the best is chosen of", ""
    yield from check_ignored_keys(raw, "runs", "warmup_runs")
    for text in raw["shape"] if isinstance(raw.get("shape"), list) else ():
        shape = Shape.parse(text) if isinstance(text, str) else None
        for name in shape.names if shape else ():
            if name not in factors:
                yield ("shape",), f'"{name}" is not declared', f"one of {', '.join(factors)}", "name a factor"
            elif levels := [x for x in levels_of(factors[name]) or () if type(x) is not int]:
                yield ("factors", name, "levels"), f"level {levels[0]!r}", f'whole numbers: "{text}" counts', ""
