"""Names in a study that are not declared, found on the raw document so that one mistake does not hide another."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from scalograph.study.levels import (
    LevelsError,
    needs_host,
    parse_levels,
    possible,
)
from scalograph.study.scalars import Level, alike, refuse
from scalograph.study.toml_lines import Path

# Where, found, expected, what to do.
Found = tuple[Path, str, str, str]


def dangling(raw: dict[str, Any]) -> list[Found]:
    """Find every reference to a factor, level or response that the study does not declare."""
    factors, responses = table(raw, "factors"), table(raw, "responses") or {"wall": {}, "cpu": {}}
    found = [*_levels(raw, "baseline", factors), *_levels(raw, "reference", factors)]
    found += _exclusions(raw.get("exclude"), ("exclude",), factors)
    found += _tables(raw.get("tables"), factors, responses)
    found += _published(table(raw, "published"), factors, responses)
    found += _quick(table(raw, "quick"), factors)
    found += _optional(factors)
    return found


def table(raw: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table of the document, empty if there is none or the key holds something else."""
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def closest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant."""
    return next(iter(difflib.get_close_matches(str(name), sorted(known), n=1)), None)


def meant(name: object, known: Iterable[str]) -> str:
    """Return the known name that was probably meant as a question, or an empty text."""
    found = closest(name, known)
    return f'did you mean "{found}"?' if found else ""


def unknown(path: Path, what: str, name: object, known: Iterable[str]) -> Found:
    """Report a name that is not among the known ones."""
    known = sorted(known)
    return path, f'{what} "{name}" is not declared', "one of " + (", ".join(known) or "none"), meant(name, known)


def levels_of(factor: Any) -> list[Any] | None:
    """Return the levels of a factor, None if they are wrong or need a host."""
    levels = factor.get("levels") if isinstance(factor, dict) else None
    if isinstance(levels, str):
        try:
            return None if needs_host(levels) else list(parse_levels(levels))
        except LevelsError:
            return None
    return levels if isinstance(levels, list) else None


def has_level(factor: Any, level: Level) -> bool:
    """Tell whether a factor has, or on some host may have, this level; True if its levels are wrong themselves."""
    levels = levels_of(factor)
    if levels is not None:
        somewhere = "all" in levels and factor.get("control") == "cpus" and possible(level, "1:all")
        return somewhere or any(alike(level, other) for other in levels)
    text = factor.get("levels") if isinstance(factor, dict) else None
    return possible(level, text) if isinstance(text, str) and needs_host(text) else True


def assignment(path: Path, name: str, level: Any, factors: dict[str, Any]) -> Iterator[Found]:
    """Find why a factor cannot have this level: it is not declared, or the level is none of its levels."""
    if name not in factors:
        yield unknown(path, "factor", name, factors)
    elif refuse(level) is None and not has_level(factors[name], level):
        known = levels_of(factors[name])
        expected = f'one of "{factors[name]["levels"]}"' if known is None else ", ".join(map(repr, known))
        yield path, f"level {level!r} is not among the levels of {name}", expected, ""


def _levels(raw: dict[str, Any], key: str, factors: dict[str, Any]) -> Iterator[Found]:
    """Check a table factor -> level."""
    for name, level in table(raw, key).items():
        yield from assignment((key, name), name, level, factors)


def leads_nowhere(name: Any, known: Iterable[str]) -> bool:
    """Tell whether a text is unknown; a value that is no text is a mistake of another kind, reported elsewhere."""
    return isinstance(name, str) and name not in known


def _exclusions(items: Any, path: Path, factors: dict[str, Any]) -> Iterator[Found]:
    for index, item in enumerate(items if isinstance(items, list) else []):
        for name, levels in (item if isinstance(item, dict) else {}).items():
            for level in levels if isinstance(levels, list) and name in factors else []:
                yield from assignment((*path, index, name), name, level, factors)
            if name not in factors:
                yield unknown((*path, index, name), "factor", name, factors)


def _tables(items: Any, factors: dict[str, Any], responses: dict[str, Any]) -> Iterator[Found]:
    for index, item in enumerate(items if isinstance(items, list) else []):
        if not isinstance(item, dict):
            continue
        for key in ("rows", "columns"):
            if leads_nowhere(item.get(key), factors):
                yield unknown(("tables", index, key), "factor", item[key], factors)
        for name in _several(item.get("response")):
            if leads_nowhere(name, {*responses, "speedup"}):
                yield unknown(("tables", index, "response"), "response", name, {*responses, "speedup"})
        for name, level in table(item, "where").items():
            yield from assignment(("tables", index, "where", name), name, level, factors)


def _several(names: Any) -> list[Any]:
    return names if isinstance(names, list) else [names]


def _published(item: dict[str, Any], factors: dict[str, Any], responses: dict[str, Any]) -> Iterator[Found]:
    for column, name in table(item, "match").items():
        if leads_nowhere(name, factors):
            yield unknown(("published", "match", column), "factor", name, factors)
    for column in table(item, "levels"):
        if column not in table(item, "match"):
            yield unknown(("published", "levels", column), "column", column, table(item, "match"))
    for column, name in table(item, "values").items():
        if leads_nowhere(name, {*responses, "speedup"}):
            yield unknown(("published", "values", column), "response", name, {*responses, "speedup"})


def _quick(item: dict[str, Any], factors: dict[str, Any]) -> Iterator[Found]:
    for name in table(item, "factors"):
        if name not in factors:
            yield unknown(("quick", "factors", name), "factor", name, factors)
    yield from _exclusions(item.get("exclude"), ("quick", "exclude"), factors)


def _optional(factors: dict[str, Any]) -> Iterator[Found]:
    for name, factor in factors.items():
        optional = factor.get("if_granted") if isinstance(factor, dict) else None
        for level in optional if isinstance(optional, list) else []:
            for _, what, expected, fix in assignment((), name, level, factors):
                yield ("factors", name, "if_granted"), what, expected, fix
