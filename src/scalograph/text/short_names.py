"""What the reader set, in short: "2 CPUs", "lock method", "512 threads"."""

import re
from collections.abc import Sequence

from scalograph.protocol.plain import Level
from scalograph.text.format import level_text

# What a title counts stands before these: "CPUs in the mask".
_REST = re.compile(r" (?=in |of |per |for )")
_KIND = "kind of "
# Titles of which the level says it all.
_SILENT = ("version", "label")


def short_setting(title: str, level: Level, unit: str = "") -> str:
    """Name one level of a factor.

    >>> short_setting("threads", 512), short_setting("CPUs in the mask", 1), short_setting("lock", "method")
    ('512 threads', '1 CPU in the mask', 'lock method')
    >>> short_setting("kind of thread", "virtual"), short_setting("-j", 8), short_setting("version", "stream")
    ('virtual threads', '-j 8', 'stream')
    """
    shown = level_text(level, unit)
    head, *rest = _REST.split(title, maxsplit=1)
    if type(level) is int and not unit and is_counted(title):
        return " ".join([f"{level:,}", one_of(head) if level == 1 else head, *rest])
    if isinstance(level, str) and title.startswith(_KIND):
        return f"{shown} {title.removeprefix(_KIND)}s"
    return shown if title in _SILENT and isinstance(level, str) else f"{title} {shown}"


def is_counted(title: str) -> bool:
    """Tell whether a title is of what can be counted: "threads", not "parallelism"."""
    return re.search(r"[^s]s$", _REST.split(title, maxsplit=1)[0]) is not None


def one_of(plural: str) -> str:
    """Return a noun for one.

    >>> one_of("CPUs"), one_of("processes"), one_of("caches")
    ('CPU', 'process', 'cache')
    """
    return plural[: -2 if plural.endswith(("sses", "xes", "shes")) else -1]


def listed(items: Sequence[str]) -> str:
    """Join names.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
