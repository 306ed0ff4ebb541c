"""Stop 1, declare: study.toml to a `Study`, or every mistake at once."""

from scalograph.study.levels import LevelsError, needs_host, parse_levels
from scalograph.study.load import load, parse
from scalograph.study.model import Factor, Protocol, Published, Quick, Response, Study, Table, WorkloadUse
from scalograph.study.quick import quickened
from scalograph.study.values import Level

__all__ = [
    "Factor",
    "Level",
    "LevelsError",
    "Protocol",
    "Published",
    "Quick",
    "Response",
    "Study",
    "Table",
    "WorkloadUse",
    "load",
    "needs_host",
    "parse",
    "parse_levels",
    "quickened",
]
