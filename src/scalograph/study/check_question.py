"""What a question needs of its study: found on the raw document, with the other mistakes."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.cross_checks import Found, levels_of, table

# Keys of `protocol` that a search does not go by: it decides itself how many runs there are, and where.
_NOT_ASKED = ("precision", "runs", "warmup_runs")
_COUNTED = (None, "cpus")
# Factors that a line of break-even may have: each takes its pairs.
MOST_AXES = 4
# Questions that are searched: runs are decided by those before them.
SEARCHED = ("effective-cpus", "cliff", "break-even")

Factors = dict[str, dict[str, Any]]


def unanswerable(raw: dict[str, Any]) -> Iterator[Found]:
    """Every mistake of a study whose question is searched."""
    question = raw.get("question")
    factors = {name: factor for name, factor in table(raw, "factors").items() if isinstance(factor, dict)}
    if question == "break-even":
        yield from _uncompared(raw, factors)
    else:
        yield from _roles(factors)
    if question in ("effective-cpus", "cliff"):
        yield from _not_along_one(factors, any_control=question == "cliff")
    for key in _NOT_ASKED if question in SEARCHED else ():
        # In pairs, precision is the difference that counts as even.
        if key in table(raw, "protocol") and (key, question) != ("precision", "break-even"):
            fix = "remove it; budget_runs is a limit of runs"
            yield ("protocol", key), "in a search", "none: it decides that itself", fix


def _not_along_one(factors: Factors, any_control: bool) -> Iterator[Found]:
    many = [name for name, factor in factors.items() if _several(factor)]
    if len(many) != 1:
        found = f"{len(many)} factors of several levels" + (f": {', '.join(many)}" if many else "")
        yield ("factors",), found, "one: one program is searched", "give the others one level"
        return
    (name,) = many
    yield from _uncounted(name, factors[name], any_control)


def _uncompared(raw: dict[str, Any], factors: Factors) -> Iterator[Found]:
    """Two versions are compared, over one to four factors of numbers."""
    versions = next(iter(table(raw, "baseline")), None)
    levels = levels_of(factors.get(versions)) if versions else None
    if versions is None:
        yield ("baseline",), "none", "the version that the other one is compared with", 'such as version = "sequential"'
    elif versions in factors and len(levels or ()) != 2:
        expected = "two: the baseline, and what may be faster"
        yield ("factors", versions, "levels"), f"{len(levels or ())} levels", expected, "take two of them"
    axes = {name: factor for name, factor in factors.items() if name != versions and _several(factor)}
    if not 1 <= len(axes) <= MOST_AXES:
        found = f"{len(axes)} factors of several levels beside the baseline's"
        yield ("factors",), found, f"one to {MOST_AXES}: the line runs over them", "give the others one level"
    for name, factor in axes.items():
        yield from _unmeasurable(name, factor)


def _unmeasurable(name: str, factor: dict[str, Any]) -> Iterator[Found]:
    linear = factor.get("scale") == "linear"
    if linear and factor.get("role") is not None:
        expected = "a logarithmic scale: what is known of a role is known of ratios"
        yield ("factors", name, "scale"), "linear beside a role", expected, "remove one of them"
    for level in levels_of(factor) or ():
        number = isinstance(level, int | float) and not isinstance(level, bool)
        if not (number and (linear or level > 0)) and level != "all":
            yield ("factors", name, "levels"), f"level {level!r}", "numbers above 0", 'such as "16:4096:*2"'


def _roles(factors: Factors) -> Iterator[Found]:
    for name, factor in factors.items():
        for key in ("role", "scale"):
            if key in factor:
                yield ("factors", name, key), "outside break-even", "none: nothing goes by it", "remove it"


def _several(factor: dict[str, Any]) -> bool:
    levels = levels_of(factor)
    return levels is None or len(levels) > 1  # what needs a host may be several


def _uncounted(name: str, factor: dict[str, Any], any_control: bool) -> Iterator[Found]:
    if not any_control and factor.get("control") not in _COUNTED:
        expected = 'control = "cpus", or none where the levels count workers'
        yield ("factors", name, "control"), f"levels of {factor['control']}", expected, ""
    for level in levels_of(factor) or ():
        if (type(level) is not int or level < 1) and level != "all":
            yield ("factors", name, "levels"), f"level {level!r}", "counts from 1 on", 'such as "1:all"'
