"""The line of each key of a TOML text; tomllib gives values without positions."""

from scalograph.study.toml_text import blank_strings

KeyPath = tuple[str | int, ...]


def locate(text: str) -> dict[KeyPath, int]:
    """Return the line (from 1) of every table and key, by path; items of an array of tables have their index.

    A key inside an inline table has the line of the table.

    >>> locate('a = 1\\n[b]\\nc = 2\\n')
    {('a',): 1, ('b',): 2, ('b', 'c'): 3}
    """
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    depth = 0
    written = text.split("\n")
    for number, line in enumerate(blank_strings(text).split("\n"), start=1):
        if depth == 0 and line.lstrip().startswith("["):
            table = _table(line, written[number - 1], counts)
            lines.setdefault(table, number)
            continue
        key, equals, _ = line.partition("=")
        if depth == 0 and equals:
            lines.setdefault(table + _names(key, written[number - 1]), number)
        depth += sum(map(line.count, "[{")) - sum(map(line.count, "]}"))
    return lines


def format_path(path: KeyPath) -> str:
    """Return a path as named in a message.

    >>> format_path(("exclude", 0, "threads"))
    'exclude[0].threads'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a path, or of its nearest ancestor that has one."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


def _table(line: str, written: str, counts: dict[KeyPath, int]) -> KeyPath:
    """Return the path of a `[table]`, or of the next item of an `[[array]]`."""
    start = len(line) - len(line.lstrip().lstrip("["))
    path = _names(line[start:].partition("]")[0], written[start:])
    if start == line.index("[") + 1:
        return path
    counts[path] = counts.get(path, -1) + 1
    return (*path, counts[path])


def _names(key: str, written: str) -> KeyPath:
    """Return the parts of a key: split where strings are blanked, taken from the original text."""
    names, start = list[str](), 0
    for part in key.split("."):
        name = written[start : start + len(part)].strip()
        names.append(name[1:-1] if name[:1] in ("'", '"') else name)
        start += len(part) + 1
    return tuple(names)
