"""Names of factors, levels and responses for people, and the factor along which curves run."""

from collections.abc import Iterable, Mapping

from scalograph.findings.table import Table
from scalograph.protocol.findings import Column
from scalograph.protocol.plain import Level
from scalograph.study.model import Study
from scalograph.text.format import level_text
from scalograph.text.short_names import short_setting


def title(table: Table, name: str) -> str:
    """Return the display name of a factor or response."""
    part = table.study.factors.get(name) or table.study.responses.get(name)
    return (part.title if part else "") or name.replace("_", " ")


def varying_factors(table: Table) -> list[str]:
    """Return the factors with more than one level among the planned configurations."""
    return [name for name in table.study.factors if len({t[name] for t in table.configurations}) > 1]


def curve_factor(table: Table) -> str:
    """Return the factor of the curves: the baseline's, else the first one with the most levels."""
    if table.study.baseline:
        return next(iter(table.study.baseline))
    return max(table.study.factors, key=lambda name: len(table.study.factors[name].levels))


def varying_levels(table: Table, levels: Mapping[str, Level]) -> dict[str, Level]:
    """Return those levels whose factors vary in the study."""
    return {name: levels[name] for name in varying_factors(table) if name in levels}


def levels_text(table: Table, levels: Mapping[str, Level]) -> str:
    """Return levels with the names and units of their factors."""
    units = {name: table.study.factors[name].unit for name in levels}
    return ", ".join(f"{title(table, name)} {level_text(level, units[name])}" for name, level in levels.items())


def short_levels(table: Table, levels: Mapping[str, Level]) -> str:
    """Return levels in short form: "2 CPUs, lock method, 512 threads"."""
    units = {name: table.study.factors[name].unit for name in levels}
    return ", ".join(short_setting(title(table, name), level, units[name]) for name, level in levels.items())


def group_prefix(table: Table, group: Mapping[str, Level]) -> str:
    """Return the varying levels of a group and a colon; empty if there is only one group."""
    named = levels_text(table, varying_levels(table, group))
    return f"{named}: " if named else ""


def shorten(text: object, most: int = 200) -> str:
    """Cut a text after `most` characters: journals and published files are untrusted.

    >>> shorten("kernel 6.1 was in force", 12), shorten("a/path/without/words", 12)
    ('kernel 6.1...', 'a/path/witho...')
    """
    shown = str(text)
    if len(shown) <= most:
        return shown
    words = shown[: max(shown.rfind(" ", 0, most + 1), 0)]
    return f"{words if most / 2 <= len(words) <= most else shown[:most]}..."


def find_cpu_factor(study: Study) -> str | None:
    """Return the first factor that sets the CPUs of a run."""
    return next((name for name, factor in study.factors.items() if factor.control == "cpus"), None)


def find_response(study: Study, source: str) -> str:
    """Return the first response that reads a source; empty if none does."""
    return next((name for name, response in study.responses.items() if response.source == source), "")


def factor_columns(table: Table, names: Iterable[str]) -> list[Column]:
    """Make a label column for each of these factors."""
    return [Column(name=title(table, name), unit=table.study.factors[name].unit, kind="label") for name in names]
