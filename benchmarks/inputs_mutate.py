"""What the campaign does to an input: to its bytes, to its text, to the tree that it parses to. All by one `rng`."""

import copy
import json
import random
import re
from collections.abc import Callable
from typing import Any

# A value that no JSON library writes stands for itself until the text is made.
_MARK = "@@raw:"
# Characters of a repeated line.
LONGEST = 8 << 20
RAW = [
    "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "0x10", "1_000", "01", "-", "tru", "9" * 400,
    "9" * 5000, "1." + "9" * 400, "[" * 300 + "]" * 300, "[" * 20_000, '{"a":' * 300 + "1" + "}" * 300, '"\\ud800"',
    '"\\x"', "'a'",
]  # fmt: skip
TEXTS = [
    "", " ", "a", "all", "default", "1:all", "1:4096", "1,2,2", "1:0", "1:4:*1", "{n}", "{", "{{}}", "}{", "\0", "\n",
    "\t", "\x1b[2J", "\u202e", "\u2028", "\ufeff", "é" * 300, "\U0001f600", "=cmd()", "<script>alert(1)</script>",
    "a" * 5000, "../../../etc/passwd", "/dev/zero", "/dev/null", ".", "..", "~", "NaN", "inf", "1e400", "-1", "0",
    "1", "true", "10ms", "-1s", "9999999999999h", "95%", "0%", "100%", "1/s", "ms/op", "clean", "ok", "failed",
    "2026-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "((((", "(a+)+$",
    "(x{1000}){1000}", "/a/~2", "run.wall",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2, 3, 7, 64, 255, 4096, 4097, 65536, 10**6, 10**9, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63),
    -(2**63) - 1, 2**64, 10**30, 0.0, -0.0, 0.5, 1.0, 1.5, 1e-320, 1e-9, 1e18, 1e100, 1e308, -1e308, 0.1 + 0.2,
]  # fmt: skip


def value(rng: random.Random) -> Any:
    """A value that hardly anything expects."""
    kind = rng.randrange(10)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 6:
        return rng.choice(TEXTS)
    if kind == 6:
        return _MARK + rng.choice(RAW)
    return copy.deepcopy(
        rng.choice([None, True, False, [], {}, [[]], [None], {"": None}, {"a": {"b": []}}, [1, "1", True]])
    )


def tree(rng: random.Random, document: Any) -> Any:
    """The document with one to three changes of its structure; the one that is given stays as it is."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        changed = _change(rng, changed)
    return changed


def _change(rng: random.Random, document: Any) -> Any:
    place = _place(rng, document)
    if place is None:
        return value(rng)
    parent, key = place
    rng.choice(_CHANGES)(rng, parent, key, document)
    return document


def _place(rng: random.Random, document: Any) -> tuple[Any, Any] | None:
    """A container and a key in it, at any depth; None for a document without any."""
    found = None
    node = document
    while isinstance(node, dict | list) and node and (found is None or rng.random() < 0.8):
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        found, node = (node, key), node[key]
    return found


def _replace(rng: random.Random, parent: Any, key: Any, document: Any) -> None:
    parent[key] = value(rng)


def _drop(rng: random.Random, parent: Any, key: Any, document: Any) -> None:
    del parent[key]


def _rename(rng: random.Random, parent: Any, key: Any, document: Any) -> None:
    if isinstance(parent, dict):
        parent[rng.choice([*TEXTS[:20], f"{key}_", str(key).upper()])] = parent.pop(key)
    else:
        parent.insert(rng.randrange(len(parent) + 1), value(rng))


def _wrap(rng: random.Random, parent: Any, key: Any, document: Any) -> None:
    old = parent[key]
    parent[key] = rng.choice([[old], {"a": old}, str(old), [old] * rng.choice((2, 10, 300)), [[[[old]]]]])


def _transplant(rng: random.Random, parent: Any, key: Any, document: Any) -> None:
    if (other := _place(rng, document)) is not None:
        parent[key] = copy.deepcopy(other[0][other[1]])


def _nudge(rng: random.Random, parent: Any, key: Any, document: Any) -> None:
    old = parent[key]
    if isinstance(old, bool) or not isinstance(old, int | float):
        parent[key] = old[: len(old) // 2] if isinstance(old, str | list) else value(rng)
    else:
        parent[key] = rng.choice([-old, old + 1, old - 1, old * 2, old * 10**6, old / 3, float(old), old * 10**20])


_CHANGES: list[Callable[[random.Random, Any, Any, Any], None]] = [
    _replace, _replace, _replace, _drop, _drop, _rename, _wrap, _transplant, _nudge, _nudge,
]  # fmt: skip


def dumped(document: Any) -> bytes:
    """JSON of a changed document, with what no library writes in its place."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return re.sub(f'"{_MARK}((?:[^"\\\\]|\\\\.)*)"', lambda m: json.loads(f'"{m[1]}"'), text).encode("utf-8", "replace")


def _times(rng: random.Random, line: str) -> int:
    """How often a line is repeated: what comes of it is for the reader's memory, not for ours."""
    return min(rng.choice((2, 50, 2000)), 2 + LONGEST // (1 + len(line)))


def text(rng: random.Random, whole: str) -> str:
    """The text with one to three changes of its lines and words."""
    lines = whole.split("\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines)) if lines else 0
        lines = _LINES[rng.randrange(len(_LINES))](rng, lines or [""], at)
    return "\n".join(lines)


def _word(rng: random.Random, lines: list[str], at: int) -> list[str]:
    words = list(re.finditer(r"\"[^\"]*\"|'[^']*'|[\w.+-]+", lines[at]))
    if words:
        word = rng.choice(words)
        new = rng.choice([rng.choice(TEXTS), str(rng.choice(NUMBERS)), json.dumps(rng.choice(TEXTS)), rng.choice(RAW)])
        lines[at] = lines[at][: word.start()] + new + lines[at][word.end() :]
    return lines


_LINES: list[Callable[[random.Random, list[str], int], list[str]]] = [
    _word,
    _word,
    _word,
    lambda rng, lines, at: lines[:at] + lines[at + 1 :],
    lambda rng, lines, at: lines[: at + 1] + lines[at:],
    lambda rng, lines, at: lines[: at + 1],
    lambda rng, lines, at: [*lines[:at], *rng.sample(lines[at:], len(lines) - at)],
    lambda rng, lines, at: [*lines[:at], rng.choice(TEXTS), *lines[at:]],
    lambda rng, lines, at: [*lines[:at], lines[at][: rng.randrange(len(lines[at]) + 1)], *lines[at + 1 :]],
    lambda rng, lines, at: [*lines[:at], lines[at] * _times(rng, lines[at]), *lines[at + 1 :]],
]


def data(rng: random.Random, whole: bytes) -> bytes:
    """The bytes with one to four changes: bits flipped, bytes lost, repeated or put in, an end cut off."""
    changed = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(changed)) if changed else 0
        match rng.randrange(6):
            case 0 | 1 if changed:
                changed[at] ^= 1 << rng.randrange(8)
            case 2:
                del changed[at : at + rng.choice((1, 4, 100))]
            case 3:
                changed[at:at] = rng.choice((b"\0", b"\xff", b"\n", b'"', b"{", b"\xed\xa0\x80", b",", b"9" * 30))
            case 4:
                changed[at:at] = changed[at : at + rng.choice((1, 50, 2000))]
            case _:
                del changed[at:]
    return bytes(changed)
