"""The line of each key in a TOML text; tomllib gives values without positions."""

import re

Path = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_STRINGS = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')


def locate(text: str) -> dict[Path, int]:
    """Return the lines (from 1) of all tables and keys, by path; items of an array of tables carry their index.

    A key inside an inline table has the line of the table.

    >>> locate('a = 1\\n[b]\\nc = 2\\n')
    {('a',): 1, ('b',): 2, ('b', 'c'): 3}
    """
    lines: dict[Path, int] = {}
    table: Path = ()
    counts: dict[Path, int] = {}
    continues = _Continuation()
    for number, line in enumerate(text.splitlines(), start=1):
        if continues.open:
            continues.feed(line)
            continue
        header = _HEADER.fullmatch(line)
        if header:
            table = _table(header, counts)
            lines.setdefault(table, number)
            continue
        key = _KEY.match(line)
        if key:
            lines.setdefault(table + _split(key[1]), number)
            continues.feed(line[key.end() :])
    return lines


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """Return the line of a path, or of its nearest ancestor that has one."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


def _table(header: re.Match[str], counts: dict[Path, int]) -> Path:
    path = _split(header[2])
    if header[1] == "[":
        return path
    counts[path] = counts.get(path, -1) + 1
    return (*path, counts[path])


def _split(key: str) -> Path:
    return tuple(part.strip().strip("\"'") for part in re.findall(r""""[^"]*"|'[^']*'|[^.]+""", key))


class _Continuation:
    """Whether a value continues on the next line: an open bracket or a multi-line string."""

    def __init__(self) -> None:
        self.depth = 0
        self.quote = ""

    @property
    def open(self) -> bool:
        return bool(self.quote) or self.depth > 0

    def feed(self, line: str) -> None:
        if self.quote:
            _, found, line = line.partition(self.quote)
            if not found:
                return
            self.quote = ""
        self._skip(line)

    def _skip(self, line: str) -> None:
        position = 0
        for match in _STRINGS.finditer(line):
            self._brackets(line[position : match.start()])
            position = match.end()
            if match[0] in ('"""', "'''"):
                rest = line[match.end() :]
                if match[0] in rest:
                    return self._skip(rest.partition(match[0])[2])
                self.quote = match[0]
                return None
        self._brackets(line[position:])
        return None

    def _brackets(self, text: str) -> None:
        self.depth += sum(text.count(c) for c in "[{") - sum(text.count(c) for c in "]}")
