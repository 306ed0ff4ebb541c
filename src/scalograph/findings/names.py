"""What factors and responses are called before people, and along which factor curves run."""

from collections.abc import Mapping

from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.text.format import level_text
from scalograph.text.short_names import short_setting


def title(table: Table, name: str) -> str:
    """A factor's or response's name for people."""
    part = table.study.factors.get(name) or table.study.responses.get(name)
    return (part.title if part else "") or name.replace("_", " ")


def varied(table: Table) -> list[str]:
    """Factors that have more than one level among the planned treatments."""
    return [name for name in table.study.factors if len({t[name] for t in table.treatments}) > 1]


def curve_factor(table: Table) -> str:
    """The factor along which curves run: the baseline's, else the first one with the most levels."""
    if table.study.baseline:
        return next(iter(table.study.baseline))
    return max(table.study.factors, key=lambda name: len(table.study.factors[name].levels))


def varying(table: Table, levels: Mapping[str, Level]) -> dict[str, Level]:
    """Those of the levels that are not the same throughout the study."""
    return {name: levels[name] for name in varied(table) if name in levels}


def setting(table: Table, levels: Mapping[str, Level]) -> str:
    """Levels with their factors' names and units, in words."""
    units = {name: table.study.factors[name].unit for name in levels}
    return ", ".join(f"{title(table, name)} {level_text(level, units[name])}" for name, level in levels.items())


def short(table: Table, levels: Mapping[str, Level]) -> str:
    """Name levels as a sentence does: "2 CPUs, lock method, 512 threads"."""
    units = {name: table.study.factors[name].unit for name in levels}
    return ", ".join(short_setting(title(table, name), level, units[name]) for name, level in levels.items())


def where(table: Table, group: Mapping[str, Level]) -> str:
    """Name the setting of a group before what is said of it; empty where there is only one."""
    named = setting(table, varying(table, group))
    return f"{named}: " if named else ""


def brief(text: object, most: int = 200) -> str:
    """The text, cut where it is longer than a sentence can carry: journals and published files are not ours.

    It ends with a whole word, where one ends in the second half of what is left.

    >>> brief("kernel 6.1 was in force", 12), brief("a/path/without/words", 12)
    ('kernel 6.1...', 'a/path/witho...')
    """
    shown = str(text)
    if len(shown) <= most:
        return shown
    words = shown[: max(shown.rfind(" ", 0, most + 1), 0)]
    return f"{words if most / 2 <= len(words) <= most else shown[:most]}..."
