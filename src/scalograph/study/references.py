"""Names in a study that lead nowhere: found on the raw document, so that one mistake does not hide another."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from scalograph.study.levels import LevelsError, needs_host, parse_levels
from scalograph.study.locate import Path

Found = tuple[Path, str, str, str]


def dangling(raw: dict[str, Any]) -> list[Found]:
    """Every reference to a factor, level or response that the study does not declare."""
    factors, responses = _table(raw, "factors"), _table(raw, "responses") or {"wall": {}, "cpu": {}}
    found = list(_baseline(raw, factors))
    found += _exclusions(raw.get("exclude"), ("exclude",), factors)
    found += _tables(raw.get("tables"), factors, responses)
    found += _published(_table(raw, "published"), factors, responses)
    found += _quick(_table(raw, "quick"), factors)
    found += _copies(_table(raw, "workload"), factors)
    found += _optional(factors)
    return found


def _table(raw: dict[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def _unknown(path: Path, what: str, name: Any, known: Iterable[str]) -> Found:
    known = sorted(known)
    close = difflib.get_close_matches(str(name), known, n=1)
    fix = f'did you mean "{close[0]}"?' if close else ""
    return path, f'{what} "{name}" is not declared', "one of " + (", ".join(known) or "none"), fix


def _levels(factor: Any) -> list[Any] | None:
    """The levels of a factor, None where they are wrong or need a host."""
    levels = factor.get("levels") if isinstance(factor, dict) else None
    if isinstance(levels, str) and not needs_host(levels):
        try:
            return list(parse_levels(levels))
        except LevelsError:
            return None
    return levels if isinstance(levels, list) else None


def _assignment(path: Path, name: str, level: Any, factors: dict[str, Any]) -> Iterator[Found]:
    if name not in factors:
        yield _unknown(path, "factor", name, factors)
        return
    levels = _levels(factors[name])
    if levels is not None and level not in levels:
        yield path, f"level {level!r} is not among the levels of {name}", ", ".join(map(repr, levels)), ""


def _baseline(raw: dict[str, Any], factors: dict[str, Any]) -> Iterator[Found]:
    for name, level in _table(raw, "baseline").items():
        yield from _assignment(("baseline", name), name, level, factors)


def _exclusions(items: Any, path: Path, factors: dict[str, Any]) -> Iterator[Found]:
    for index, item in enumerate(items if isinstance(items, list) else []):
        for name, levels in (item if isinstance(item, dict) else {}).items():
            for level in levels if isinstance(levels, list) else []:
                yield from _assignment((*path, index, name), name, level, factors)


def _tables(items: Any, factors: dict[str, Any], responses: dict[str, Any]) -> Iterator[Found]:
    for index, item in enumerate(items if isinstance(items, list) else []):
        if not isinstance(item, dict):
            continue
        for key in ("rows", "columns"):
            if key in item and item[key] not in factors:
                yield _unknown(("tables", index, key), "factor", item[key], factors)
        if "response" in item and item["response"] not in {*responses, "speedup"}:
            yield _unknown(("tables", index, "response"), "response", item["response"], {*responses, "speedup"})
        for name, level in _table(item, "where").items():
            yield from _assignment(("tables", index, "where", name), name, level, factors)


def _published(item: dict[str, Any], factors: dict[str, Any], responses: dict[str, Any]) -> Iterator[Found]:
    for column, name in _table(item, "match").items():
        if name not in factors:
            yield _unknown(("published", "match", column), "factor", name, factors)
    for column, name in _table(item, "values").items():
        if name not in {*responses, "speedup"}:
            yield _unknown(("published", "values", column), "response", name, {*responses, "speedup"})


def _quick(item: dict[str, Any], factors: dict[str, Any]) -> Iterator[Found]:
    for name in _table(item, "factors"):
        if name not in factors:
            yield _unknown(("quick", "factors", name), "factor", name, factors)
    yield from _exclusions(item.get("exclude"), ("quick", "exclude"), factors)


def _copies(item: dict[str, Any], factors: dict[str, Any]) -> Iterator[Found]:
    copies = item.get("copies")
    if isinstance(copies, str) and copies.strip("{}") not in factors:
        yield _unknown(("workload", "copies"), "factor", copies.strip("{}"), factors)


def _optional(factors: dict[str, Any]) -> Iterator[Found]:
    for name, factor in factors.items():
        optional = factor.get("if_granted") if isinstance(factor, dict) else None
        for level in optional if isinstance(optional, list) else []:
            for _, what, expected, fix in _assignment((), name, level, factors):
                yield ("factors", name, "if_granted"), what, expected, fix
