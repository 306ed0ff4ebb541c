"""Find the configuration of a study that a benchmark corresponds to: factors and params of the same names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scalograph.errors import StudyError
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.scalars import format_value, suggest

Configuration = Mapping[str, Level]


@dataclass(frozen=True)
class Match:
    """A configuration, or the reason why there is none; `unmatched` are params that the study lacks."""

    configuration: Configuration | None
    why: str = ""
    unmatched: dict[str, str] = field(default_factory=dict)


def parse_where(texts: Sequence[str], table: Table) -> dict[str, str]:
    """Parse `factor=level` of the command line. Raises StudyError where the study has no such factor or level."""
    levels: dict[str, str] = {}
    for text in texts:
        name, equals, level = text.partition("=")
        if not equals or name not in table.study.factors:
            factors = ", ".join(table.study.factors)
            expected, near = f"factor=level of the study's factors ({factors})", suggest(name, table.study.factors)
            raise StudyError.one("--where", f'"{text}"', expected, near)
        if not any(is_level(configuration[name], level) for configuration in table.configurations):
            expected = f"a level of {name} that was planned: {_levels(table, name)}"
            planned = {format_value(configuration[name]) for configuration in table.configurations}
            raise StudyError.one("--where", f'"{text}"', expected, suggest(level, planned))
        if levels.setdefault(name, level) != level:
            raise StudyError.one("--where", f"{name}={levels[name]} and {name}={level}", "one level of a factor")
    return levels


def match(table: Table, params: Mapping[str, str], where: Mapping[str, str]) -> Match:
    """Find the configuration that params and `where` name. Raises StudyError where several match."""
    named = {param: factor for param in params if (factor := _factor(table, param))}
    unmatched = {param: text for param, text in params.items() if param not in named}
    given = table.study.workload.parameters.items()
    constant = {name: value for name, value in given if not isinstance(value, list) and "{" not in str(value)}
    fixed = {param: value for param, value in constant.items() if param in unmatched}
    for param, value in fixed.items():
        if not is_level(value, unmatched[param]):
            return Match(None, f"the study fixes {param} to {format_value(value)}, not {unmatched[param]}", unmatched)
    unmatched = {param: text for param, text in unmatched.items() if param not in fixed}
    left = table.configurations
    for param, factor in named.items():
        texts = (where.get(factor, ""), params[param])
        if factor in where and not any(all(is_level(t[factor], text) for text in texts) for t in left):
            reason = f"it has {param} = {params[param]}, and --where asks for {factor} = {where[factor]}"
            return Match(None, reason, unmatched)
    for factor, text in [*((named[param], params[param]) for param in named), *where.items()]:
        left = [configuration for configuration in left if is_level(configuration[factor], text)]
        if not left:
            return Match(None, f"no configuration of the study has {factor} = {text}", unmatched)
    if len(left) > 1:
        open_ = [name for name in table.study.factors if len({format_value(t[name]) for t in left}) > 1]
        asked = " ".join(f"--where {name}={format_value(left[0][name])}" for name in open_)
        levels = "; ".join(f"{name} has {_levels(table, name)}" for name in open_)
        problem, fix = f"no level for {', '.join(open_)}", f"add for instance {asked}"
        raise StudyError.one("--where", problem, f"one: {levels}", fix)
    return Match(left[0], "", unmatched)


def is_level(level: Level, text: str) -> bool:
    """Return whether a text denotes this level; numbers compare by value.

    >>> is_level(3000, "3000"), is_level(0.5, "0.50"), is_level(True, "1"), is_level("pool", "pool")
    (True, True, False, True)
    """
    if isinstance(level, bool | str):
        return format_value(level) == text
    return re.fullmatch(r"[+-]?[0-9]{1,19}(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?", text) is not None and (
        int(text) == level if re.fullmatch(r"[+-]?[0-9]+", text) else float(text) == level
    )


def _factor(table: Table, param: str) -> str | None:
    """Find the factor of this name, or the one that fills the workload's parameter of this name."""
    if param in table.study.factors:
        return param
    filled = re.fullmatch(r"\{(.+)\}", str(table.study.workload.parameters.get(param, "")))
    return filled[1] if filled and filled[1] in table.study.factors else None


def _levels(table: Table, name: str) -> str:
    levels = list(dict.fromkeys(format_value(configuration[name]) for configuration in table.configurations))
    return ", ".join(levels[:12]) + (", ..." if len(levels) > 12 else "")
