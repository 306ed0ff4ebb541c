"""What a question needs of its study: found on the raw document, with the other mistakes."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.references import Found, levels_of, table

# Keys of `protocol` that a search does not go by: it decides itself how many runs there are, and where.
_NOT_ASKED = ("precision", "runs", "warmup_runs")
_COUNTED = (None, "cpus")
# Questions that are searched: runs are decided by those before them.
SEARCHED = ("effective-cpus", "cliff")


def unanswerable(raw: dict[str, Any]) -> Iterator[Found]:
    """Every mistake of a study whose question is searched: one factor counts, and nothing else varies."""
    question = raw.get("question")
    if question not in SEARCHED:
        return
    factors = {name: factor for name, factor in table(raw, "factors").items() if isinstance(factor, dict)}
    many = [name for name, factor in factors.items() if _several(factor)]
    if len(many) != 1:
        found = f"{len(many)} factors of several levels" + (f": {', '.join(many)}" if many else "")
        yield ("factors",), found, "one: one program is searched", "give the others one level"
        return
    (name,) = many
    yield from _uncounted(name, factors[name], any_control=question == "cliff")
    for key in _NOT_ASKED:
        if key in table(raw, "protocol"):
            fix = "remove it; budget_runs is a limit of runs"
            yield ("protocol", key), "in a search", "none: it decides that itself", fix


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
