"""Short names of levels ("2 CPUs", "lock method", "512 threads"), and lists of names."""

import re
from collections.abc import Iterable, Sequence

from scalograph.protocol.plain import Level
from scalograph.text.format import level_text

_REST = re.compile(r" (?=in |of |per |for )")  # what a title counts stands before it: "CPUs in the mask"
_KIND = "kind of "
COUNTS = ("", "1/s")  # units of what a title in the plural counts: so many, or so many per second
_SILENT = ("version", "label")  # titles that a level does not need


def short_setting(title: str, level: Level, unit: str = "") -> str:
    """Name one level of a factor.

    >>> short_setting("threads", 512), short_setting("CPUs in the mask", 1), short_setting("lock", "method")
    ('512 threads', '1 CPU in the mask', 'lock method')
    >>> short_setting("kind of thread", "virtual"), short_setting("-j", 8), short_setting("version", "stream")
    ('virtual threads', '-j 8', 'stream')
    >>> short_setting("requests", 450, "1/s"), short_setting("rate", 450, "1/s")
    ('450 requests/s', 'rate 450 1/s')
    >>> short_setting("a", "false"), short_setting("lock", "lock free")
    ('a false', 'lock free')
    >>> short_setting("options", "")
    'no options'
    """
    if level == "":
        return f"no {title}"
    shown = level_text(level, unit)
    head, *rest = _REST.split(title, maxsplit=1)
    if type(level) is int and unit in COUNTS and is_counted(title):
        noun = singular(head) if level == 1 and not unit else f"{head}{unit[1:]}"
        return " ".join([f"{level:,}", noun, *rest])
    if isinstance(level, str) and title.startswith(_KIND):
        return f"{shown} {title.removeprefix(_KIND)}s"
    says_it_all = isinstance(level, str) and (
        title in _SILENT or re.search(rf"\b{re.escape(title)}\b", level) is not None
    )
    return shown if says_it_all else f"{title} {shown}"


def shorten_titles(titles: Iterable[str]) -> list[str]:
    """Shorten titles to their beginnings, if these differ.

    >>> shorten_titles(["lock", "work per lock taken", "held for"]), shorten_titles(["time of a task", "time of a run"])
    (['lock', 'work', 'held for'], ['time of a task', 'time of a run'])
    """
    named = [*titles]
    first = [text if text.startswith(_KIND) else _REST.split(text, maxsplit=1)[0] for text in named]
    return first if len({*first}) == len(first) else named


def is_counted(title: str) -> bool:
    """Tell whether a title names what can be counted: "threads", not "parallelism"."""
    return re.search(r"[^s]s$", _REST.split(title, maxsplit=1)[0]) is not None


def singular(plural: str) -> str:
    """Return the singular of a noun.

    >>> singular("CPUs"), singular("processes"), singular("caches"), singular("copies")
    ('CPU', 'process', 'cache', 'copy')
    """
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    return plural[: -2 if plural.endswith(("sses", "xes", "shes")) else -1]


def is_plural(title: str, level: Level) -> bool:
    """Tell whether the name of a level takes a plural verb: "2 CPUs are", "lock cas is"."""
    if isinstance(level, str):
        return title.startswith(_KIND)
    return type(level) is int and level != 1 and is_counted(title)


def drop_repeats(named: Sequence[str]) -> list[str]:
    """Return names of levels without the word that the first one begins with.

    >>> drop_repeats(["lock none", "lock cas"]), drop_repeats(["2 CPUs", "4 CPUs"])
    (['lock none', 'cas'], ['2 CPUs', '4 CPUs'])
    """
    first, *rest = named
    head = first.rpartition(" ")[0]
    return [first, *(text.removeprefix(f"{head} ") if head and not head[0].isdigit() else text for text in rest)]


def join_names(items: Sequence[str], word: str = "and") -> str:
    """Join names.

    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    *first, last = items
    return f"{', '.join(first)} {word} {last}" if first else last


def join_first(items: Sequence[str], most: int) -> str:
    """Join names; of more than `most`, the first ones and the number of the others.

    >>> join_first(["a", "b"], 3), join_first(["a", "b", "c", "d", "e"], 3)
    ('a and b', 'a, b, c and 2 more')
    """
    return join_names(items if len(items) <= most else [*items[:most], f"{len(items) - most} more"])


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
