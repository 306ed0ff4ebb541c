"""Copies that a factor counts: its levels must be counts."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.cross_checks import Found, table, unknown
from scalograph.study.fields import MAX_COPIES
from scalograph.study.levels import SOME_HOST, LevelsError, parse_levels
from scalograph.study.scalars import short
from scalograph.study.toml_lines import Path


def uncountable(raw: dict[str, Any]) -> Iterator[Found]:
    """Find the mistakes in `copies = "{factor}"`, in the study and in its quick form."""
    copies = table(raw, "workload").get("copies")
    if not isinstance(copies, str):
        return
    name, factors = copies.strip("{}"), table(raw, "factors")
    if name not in factors:
        yield unknown(("workload", "copies"), "factor", name, factors)
        return
    factor = factors[name] if isinstance(factors[name], dict) else {}
    shorter = table(table(raw, "quick"), "factors").get(name)
    places: list[tuple[Path, Any]] = [(("factors", name, "levels"), factor.get("levels"))]
    for path, levels in [*places, (("quick", "factors", name), shorter)]:
        # On a known host, the control of CPUs replaces "all" by a count.
        for level in (one for one in _spelled_out(levels) if (one, factor.get("control")) != ("all", "cpus")):
            if type(level) is not int or not 1 <= level <= MAX_COPIES:
                yield path, f"level {short(level)} counts copies", f"an integer from 1 to {MAX_COPIES}", ""


def _spelled_out(levels: Any) -> list[Any]:
    if not isinstance(levels, str):
        return levels if isinstance(levels, list) else []
    try:
        return list(parse_levels(levels, SOME_HOST))
    except LevelsError:
        return []
