"""The grammar of levels: "1,2,8", "1:8", "1:512:*2", "1:all"."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from scalograph.study.scalars import Level, format_value, refuse

MAX_LEVELS = 4096
# Ranges up to what a host has, of which the first are looked at.
MAX_SPANS = 64
# Stands for "all" if the host is not known: a machine on which nearly every text can be spelled out.
SOME_HOST = 1024
_RANGE = re.compile(r"(\d{1,18}|all):(\d{1,18}|all)(?::([*+])(\d{1,18}))?", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d+)?", re.ASCII)


class LevelsError(ValueError):
    """Text outside the grammar, or with too many levels."""


def needs_host(text: str) -> bool:
    """Return whether the text can only be resolved on a known host.

    >>> needs_host("1:all"), needs_host("1,2")
    (True, False)
    """
    return "all" in (part.strip() for part in re.split("[,:]", text))


def parse_levels(text: str, n_all: int | None = None) -> list[Level]:
    """Parse levels of the grammar in protocol/study.md; `n_all` is what "all" stands for. Raises LevelsError.

    >>> parse_levels("1,2,8"), parse_levels("1:4"), parse_levels("1:10:*3"), parse_levels("1:all", 3)
    ([1, 2, 8], [1, 2, 3, 4], [1, 3, 9], [1, 2, 3])
    """
    levels: list[Level] = []
    for item in text.split(","):
        levels += _item(item.strip(), n_all)
        if len(levels) > MAX_LEVELS:
            break  # not spelled out further: a short text may ask for millions
    if needs_host(text):
        levels = list(dict.fromkeys(levels))  # "1,2,all" is fine on a host of two CPUs
    check_levels(levels)
    return levels


def is_possible_level(level: Level, text: str) -> bool:
    """Return whether a text holds this level on some host.

    >>> is_possible_level(7, "1,all"), is_possible_level(0, "1:all"), is_possible_level(3, "1:all:*2")
    (True, False, False)
    """
    fixed, spans = _host_levels(text)
    if (isinstance(level, bool), level) in fixed:
        return True
    return type(level) is int and level > 0 and any(span.may_hold(level) for span in spans)


class _Span(NamedTuple):
    """A range with one or both ends given by a host (None)."""

    first: int | None
    last: int | None
    how: str = "+"
    by: int = 1

    def may_hold(self, level: int) -> bool:
        if self.first is None:  # a host of `level` CPUs begins there
            return self.last is None or level <= self.last
        if level < self.first or self.last is not None:
            return False
        if self.how == "+":
            return self.by > 0 and (level - self.first) % self.by == 0 and (level - self.first) // self.by < MAX_LEVELS
        return any(self.first * self.by**k == level for k in range(64)) if self.by > 1 and self.first else False


@lru_cache(maxsize=64)
def _host_levels(text: str) -> tuple[frozenset[tuple[bool, Level]], tuple[_Span, ...]]:
    """Return levels that a text holds on every host, and its first ranges that a host ends; none if it is wrong."""
    fixed: set[tuple[bool, Level]] = set()
    spans: list[_Span] = []
    try:
        for item in map(str.strip, text.split(",")):
            match = _RANGE.fullmatch(item)
            if item == "all":
                spans.append(_Span(None, None))
            elif match and "all" in (match[1], match[2]):
                first, last = (None if end == "all" else int(end) for end in (match[1], match[2]))
                spans.append(_Span(first, last, match[3] or "+", int(match[4] or 1)))
            else:
                fixed |= {(False, level) for level in _item(item, None)}
            if len(fixed) > MAX_LEVELS or len(spans) > MAX_SPANS:
                break
    except LevelsError:
        return frozenset(), ()
    return frozenset(fixed), tuple(spans)


def check_levels(levels: Sequence[Level]) -> None:
    """Refuse levels that no factor can have: none, invalid ones, duplicates, too many."""
    if not levels:
        raise LevelsError("found no level, expected at least one")
    if len(levels) > MAX_LEVELS:
        raise LevelsError(f"found more than {MAX_LEVELS} levels, expected at most {MAX_LEVELS}")
    seen: dict[Level, Level] = {}
    for level in levels:
        if wrong := refuse(level):
            raise LevelsError(wrong)
        # Alike by value (1 and 1.0, 1 and true) or by the text that a program gets (1 and "1"): one configuration.
        for key in {level, format_value(level)}:
            if (first := seen.get(key)) is not None and repr(first) == repr(level):
                raise LevelsError(f"found level {first!r} twice, expected each level once")
            if first is not None:
                both = f"the levels {first!r} and {level!r}, which are equal or read alike"
                raise LevelsError(f"found {both}, expected each level once")
        seen[level] = seen[format_value(level)] = level


def _item(item: str, n_all: int | None) -> Sequence[Level]:
    if not item:
        raise LevelsError('found an empty item, expected levels such as "1,2,8", "1:8", "1:512:*2" or "1:all"')
    if item == "all":
        return [_number(item, n_all)]
    if ":" not in item:
        return [_scalar(item)]
    match = _RANGE.fullmatch(item)
    if match is None:
        raise LevelsError(f'found "{item[:60]}", expected a range such as "1:8", "1:512:*2", "0:100:+10" or "1:all"')
    return _range(item, _number(match[1], n_all), _number(match[2], n_all), match[3] or "+", int(match[4] or 1))


def _range(item: str, first: int, last: int, how: str, by: int) -> Sequence[int]:
    if last < first:
        raise LevelsError(f'found "{item[:60]}", expected a range that does not fall')
    if how == "+":
        if by == 0 or (last - first) // by >= MAX_LEVELS:
            raise LevelsError(f'found "{item[:60]}", expected 1 to {MAX_LEVELS} levels')
        return range(first, last + 1, by)
    if by < 2 or first < 1:
        raise LevelsError(f'found "{item[:60]}", expected a first level >= 1 and a factor >= 2')
    return list(takewhile(lambda level: level <= last, (first * by**k for k in range(64))))


def _number(text: str, n_all: int | None) -> int:
    if text != "all":
        return int(text)
    if n_all is None:
        raise LevelsError('found "all" where the host is not known, expected numbers')
    return n_all


def _scalar(text: str) -> Level:
    """Parse a plain decimal number, or text; other notations of numbers are neither."""
    if match := _NUMBER.fullmatch(text):
        return float(text) if match[2] else int(text)
    if _reads_as_number(text):
        raise LevelsError(
            f'found "{text[:60]}", expected digits such as 16 or 0.5, or a list if it is text: ["{text[:60]}"]'
        )
    return text


def _reads_as_number(text: str) -> bool:
    for read in (float, lambda digits: int(digits, 0)):
        with suppress(ValueError):
            read(text)
            return True
    return False


Configuration = Mapping[str, Level]


@dataclass(frozen=True)
class Run:
    """One launch under one configuration: the unit of replication."""

    run: str
    block: int
    configuration: Configuration
    replicate: int
    warmup: bool = False


def read_run(event: Mapping[str, Any]) -> Run:
    """Return the run of an `ask` or `run` event. Raises KeyError, TypeError or ValueError for a malformed one."""
    run = Run(event["run"], event["block"], event["configuration"], event["replicate"], event["warmup"])
    types = (str, int, dict, int, bool)
    fields = (run.run, run.block, run.configuration, run.replicate, run.warmup)
    for value, wanted in zip(fields, types, strict=True):
        if not isinstance(value, wanted):
            raise TypeError(f"{value!r:.80}, expected {wanted.__name__}")
    if wrong := next(filter(None, map(refuse, (*run.configuration.values(), run.block, run.replicate))), None):
        raise ValueError(wrong)
    return run
