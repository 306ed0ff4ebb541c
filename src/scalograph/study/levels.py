"""The one grammar for levels: "1,2,8", "1:8", "1:512:*2", "1:all"."""

import re
from collections.abc import Sequence
from itertools import takewhile

Level = bool | int | float | str

MAX_LEVELS = 4096
_RANGE = re.compile(r"(\d+|all):(\d+|all)(?::([*+])(\d+))?")


class LevelsError(ValueError):
    """Text that is not in the grammar, or asks for too much."""


def needs_host(text: str) -> bool:
    """Whether the text can only be spelled out on a known host.

    >>> needs_host("1:all"), needs_host("1,2")
    (True, False)
    """
    return "all" in re.split(r"[,:\s]+", text)


def parse_levels(text: str, n_all: int | None = None) -> list[Level]:
    """Spell out levels.

    Args:
        text: In the grammar of protocol/study.md.
        n_all: What "all" stands for; None where the host is not known yet.

    Raises:
        LevelsError: found, expected.

    >>> parse_levels("1,2,8"), parse_levels("1:4"), parse_levels("1:10:*3"), parse_levels("1:all", 3)
    ([1, 2, 8], [1, 2, 3, 4], [1, 3, 9], [1, 2, 3])
    """
    levels = [level for item in text.split(",") for level in _item(item.strip(), n_all)]
    if needs_host(text):
        levels = list(dict.fromkeys(levels))  # "1,2,all" is fine on a host of two CPUs
    check_levels(levels)
    return levels


def check_levels(levels: Sequence[Level]) -> None:
    """Refuse what cannot be a factor: no level, the same one twice, too many."""
    if not levels:
        raise LevelsError("found no level, expected at least one")
    if len(levels) > MAX_LEVELS:
        raise LevelsError(f"found {len(levels)} levels, expected at most {MAX_LEVELS}")
    seen: set[tuple[type, Level]] = set()
    for level in levels:
        if (type(level), level) in seen:
            raise LevelsError(f"found level {level!r} twice, expected each once")
        seen.add((type(level), level))


def _item(item: str, n_all: int | None) -> list[Level]:
    if not item:
        raise LevelsError('found an empty item, expected levels such as "1,2,8", "1:8", "1:512:*2" or "1:all"')
    if item == "all":
        return [_number(item, n_all)]
    if ":" not in item:
        return [_scalar(item)]
    match = _RANGE.fullmatch(item)
    if match is None:
        raise LevelsError(f'found "{item}", expected a range such as "1:8", "1:512:*2", "0:100:+10" or "1:all"')
    return list(_range(item, _number(match[1], n_all), _number(match[2], n_all), match[3] or "+", int(match[4] or 1)))


def _range(item: str, first: int, last: int, how: str, by: int) -> Sequence[int]:
    if last < first:
        raise LevelsError(f'found "{item}", expected a range that does not fall')
    if how == "+":
        if by == 0 or (last - first) // by >= MAX_LEVELS:
            raise LevelsError(f'found "{item}", expected 1 to {MAX_LEVELS} levels')
        return range(first, last + 1, by)
    if by < 2 or first < 1:
        raise LevelsError(f'found "{item}", expected a first level >= 1 and a factor >= 2')
    return list(takewhile(lambda level: level <= last, (first * by**k for k in range(64))))


def _number(text: str, n_all: int | None) -> int:
    if text != "all":
        return int(text)
    if n_all is None:
        raise LevelsError('found "all" where the host is not known, expected numbers')
    return n_all


def _scalar(text: str) -> Level:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
