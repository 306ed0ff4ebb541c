"""Check the study of tunables: it needs factors of few levels, and a default of each."""

from collections.abc import Iterator
from typing import Any

from scalograph.questions.registry import Basis
from scalograph.study.cross_checks import Mistake, RawFactors, check_ignored_keys, has_several_levels, levels_of, table
from scalograph.study.model import ONE_AT_A_TIME, PAIRED

BASIS: Basis = "array"
# Levels of a factor: each block of an array tries two beside the default.
MOST_LEVELS = 9


def mistakes(raw: dict[str, Any], factors: RawFactors) -> Iterator[Mistake]:
    if not any(has_several_levels(factor) for factor in factors.values()):
        yield ("factors",), "no factor of several levels", "one or more: the default, and what may be better", ""
    for name, factor in factors.items():
        levels = levels_of(factor)
        if levels is not None and len(levels) > MOST_LEVELS:
            fix = "take those that differ most"
            yield ("factors", name, "levels"), f"{len(levels)} levels", f"at most {MOST_LEVELS}", fix
    for path in ((("exclude",), raw.get("exclude")), (("quick", "exclude"), table(raw, "quick").get("exclude"))):
        if path[1]:
            yield path[0], "exclusions", "none: every setting is tried beside all others", "remove them"
    is_screening = raw.get("plan") not in (ONE_AT_A_TIME, PAIRED)
    yield from check_ignored_keys(raw, "warmup_runs", *(["runs"] if is_screening else []))
