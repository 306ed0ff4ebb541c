"""Parse untrusted TOML: one pass over its text bounds what the parser then meets.

The parser of the standard library recurses into what is nested, takes time that grows with the square of the parts of a
key, and some microseconds for each value; numbers of thousands of digits can be read, but not be shown. The limits are
far above what a declaration needs.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from scalograph.errors import Problem, StudyError
from scalograph.protocol.bounded import read_whole

MAX_BYTES = 1 << 20
MAX_DEPTH = 16
MAX_PARTS = 8
MAX_WORD = 256
MAX_TEXT = 1 << 16
MAX_VALUES = 80_000
MAX_TABLES = 20_000
MAX_LINES = 50_000
# Every string and every comment, whether it ends or not; each alternative takes what it can and gives nothing back.
_OPAQUE = re.compile(
    r'"""(?:[^"\\]++|\\.|"{1,2}+(?!"))*+(?:"{3,5})?+'
    r"|'''(?:[^']++|'{1,2}+(?!'))*+(?:'{3,5})?+"
    r'|"(?:[^"\\\n]++|\\[^\n])*+"?+'
    r"|'[^'\n]*+'?+"
    r"|#[^\n]*+",
    re.DOTALL,
)
_BRACKETS = re.compile(r"[\[{]++|[\]}]++")
_PARTS = re.compile(rf"(?:\.[^.\[\]{{}}=,\n]*+){{{MAX_PARTS}}}")
_WORD = re.compile(rf"(?<![^\s,=\[\]{{}}'])[^\s,=\[\]{{}}']{{{MAX_WORD + 1}}}")
# Signs, how many of them there may be, and what they stand for.
_COUNTED = ((",", MAX_VALUES, "values"), ("=[{", MAX_TABLES, "keys, tables and lists"))


def read(file: Path, expected: str, where: str, fix: str = "", name: str = "") -> str:
    """Read a declaration of bounded size; `where` begins messages, or `name` where it is no UTF-8."""
    try:
        return read_whole(file, MAX_BYTES).decode()
    except OSError as error:
        raise StudyError.one(where, f"cannot be read: {error.strerror}", expected, fix) from error
    except UnicodeDecodeError as error:
        raise StudyError.one(name or where, f"byte {error.start} is not UTF-8", "UTF-8 text") from error


def parse(text: str, where: str) -> dict[str, Any]:
    """Parse TOML after checking its size; `where` begins the message of an error."""
    if problem := _check_limits(text, where):
        raise StudyError([problem])
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a date that there is not raises no TOMLDecodeError
        raise StudyError.one(where, f"not TOML: {error}", "", "see toml.io for the syntax") from error


def blank_strings(text: str) -> str:
    """Replace characters of strings by apostrophes and of comments by blanks; lines stay.

    >>> blank_strings('a = "b=1" # c')
    "a = '''''    "
    """
    return _OPAQUE.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    filler = " " if match[0].startswith("#") else "'"
    if "\n" not in match[0]:
        return filler * len(match[0])
    return re.sub(r"[^\n]", filler, match[0])


def _check_limits(text: str, where: str) -> Problem | None:
    if (n := text.count("\n")) > MAX_LINES:
        return Problem(where, f"{n} lines", f"at most {MAX_LINES}", "leave out what is empty")
    opaque = _OPAQUE.finditer(text) if len(text) > MAX_TEXT else ()
    long = next((m for m in opaque if m.end() - m.start() > MAX_TEXT and m[0][0] != "#"), None)
    if long:
        return _problem(text, long.start(), where, f"a text above {MAX_TEXT} characters", "a shorter one")
    seen = blank_strings(text)
    if match := _WORD.search(seen):
        return _problem(text, match.start(), where, f"a word above {MAX_WORD} characters", "a key or a number")
    if match := _PARTS.search(seen):
        return _problem(text, match.start(), where, f"a key of more than {MAX_PARTS} parts", f"at most {MAX_PARTS}")
    if (start := _too_deep(seen)) is not None:
        return _problem(text, start, where, "values nested too deeply", f"at most {MAX_DEPTH} in each other")
    for signs, most, what in _COUNTED:
        if (n := sum(map(seen.count, signs))) > most:
            return Problem(where, f"{n} {what}", f"at most {most}", "take large lists out of it")
    return None


def _problem(text: str, start: int, where: str, excess: str, expected: str) -> Problem:
    line = text.count("\n", 0, start) + 1
    return Problem(f"{where}:{line}", excess, expected, "correct it")


def _too_deep(seen: str) -> int | None:
    depth = 0
    for run in _BRACKETS.finditer(seen):
        n = run.end() - run.start()
        depth = depth + n if run[0][0] in "[{" else max(0, depth - n)
        if depth > MAX_DEPTH:
            return run.start()
    return None


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
    start = len(line) - len(line.lstrip().lstrip("["))
    path = _names(line[start:].partition("]")[0], written[start:])
    if start == line.index("[") + 1:
        return path
    counts[path] = counts.get(path, -1) + 1
    return (*path, counts[path])


def _names(key: str, written: str) -> KeyPath:
    names, start = list[str](), 0
    for part in key.split("."):
        name = written[start : start + len(part)].strip()
        names.append(name[1:-1] if name[:1] in ("'", '"') else name)
        start += len(part) + 1
    return tuple(names)
