"""Copies and CPUs that a factor counts: its levels must be counts, and no more copies than one run can start."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.check_processes import COUNTS, QUOTA, counted, processes_of, too_many_copies
from scalograph.study.cross_checks import Found, table, unknown
from scalograph.study.fields import MAX_COPIES
from scalograph.study.levels import SOME_HOST, LevelsError, parse_levels
from scalograph.study.scalars import short
from scalograph.study.toml_lines import Path


def uncountable(raw: dict[str, Any]) -> Iterator[Found]:
    """Find the mistakes in `copies = "{factor}"` and `cpus = "{factor}"`, in the study and in its quick form."""
    workload = table(raw, "workload")
    processes, at = processes_of(workload), ("workload", "process")
    counters: list[tuple[Path, str | None]] = [(("workload", "copies"), counted(workload))]
    counters += [((*at, i, key), counted(process, key)) for i, process in enumerate(processes) for key in COUNTS]
    names = {name: path for path, name in reversed(counters) if name is not None}
    most = {}
    for name, path in names.items():
        if name not in table(raw, "factors"):
            yield unknown(path, "factor", name, table(raw, "factors"))
        else:
            yield from _no_counts(raw, name)
            most[name] = max((level for _, level in _levels(raw, name) if type(level) is int), default=1)
    yield from too_many_copies(processes, most, at)
    for i, process in enumerate(processes):
        if granted := counted(process, QUOTA):
            yield from _no_quotas(raw, granted, (*at, i, QUOTA))


def _no_counts(raw: dict[str, Any], name: str) -> Iterator[Found]:
    for path, level in _levels(raw, name):
        if type(level) is not int or not 1 <= level <= MAX_COPIES:
            yield path, f"level {short(level)} counts copies or CPUs", f"an integer from 1 to {MAX_COPIES}", ""


def _no_quotas(raw: dict[str, Any], name: str, path: Path) -> Iterator[Found]:
    if name not in table(raw, "factors"):
        yield unknown(path, "factor", name, table(raw, "factors"))
        return
    for place, level in _levels(raw, name):
        is_number = isinstance(level, int | float) and not isinstance(level, bool) and level > 0
        if not is_number and level != "none":
            yield place, f"level {short(level)} is a quota", 'CPUs such as 0.5, or "none"', ""


def _levels(raw: dict[str, Any], name: str) -> Iterator[tuple[Path, Any]]:
    """Yield every level of a factor with its place, those of the quick form too."""
    factor = table(table(raw, "factors"), name)
    shorter = table(table(raw, "quick"), "factors").get(name)
    places: list[tuple[Path, Any]] = [(("factors", name, "levels"), factor.get("levels"))]
    for path, levels in [*places, (("quick", "factors", name), shorter)]:
        # On a known host, the control of CPUs replaces "all" by a count.
        yield from ((path, one) for one in _spelled_out(levels) if (one, factor.get("control")) != ("all", "cpus"))


def _spelled_out(levels: Any) -> list[Any]:
    if not isinstance(levels, str):
        return levels if isinstance(levels, list) else []
    try:
        return list(parse_levels(levels, SOME_HOST))
    except LevelsError:
        return []
