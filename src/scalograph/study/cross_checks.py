"""Check references on the raw document, so that one mistake does not hide another."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from scalograph.study.levels import LevelsError, is_possible_level, needs_host, parse_levels
from scalograph.study.scalars import Level, list_words, refuse, short_repr, suggest
from scalograph.study.toml_text import KeyPath

# Where, found, expected, what to do.
Mistake = tuple[KeyPath, str, str, str]


class DeclaredLevels:
    """The levels of a factor, resolved once; `listed` is None if they are wrong or need a host."""

    def __init__(self, factor: Any) -> None:
        written = factor.get("levels") if isinstance(factor, dict) else None
        self.listed = levels_of(factor)
        self._of_hosts = written if isinstance(written, str) and needs_host(written) else None
        self._is_cpus = isinstance(factor, dict) and factor.get("control") == "cpus"
        self._known = {(isinstance(level, bool), level) for level in self.listed or () if isinstance(level, Level)}
        numbers = [level for level in self.listed or () if type(level) in (int, float)]
        self._span = (min(numbers), max(numbers)) if len(numbers) > 1 else None

    @property
    def expected_text(self) -> str:
        """The levels as named in a message."""
        return f'one of "{self._of_hosts}"' if self.listed is None else list_words(map(short_repr, self.listed))

    def has(self, level: Any) -> bool:
        """Return whether it is a level, on some host at least; True if the levels are wrong themselves."""
        if not isinstance(level, Level):
            return False
        if self.listed is None:
            return self._of_hosts is None or is_possible_level(level, self._of_hosts)
        somewhere = self._is_cpus and (False, "all") in self._known and is_possible_level(level, "1:all")
        return somewhere or (isinstance(level, bool), level) in self._known

    def spans(self, level: Any) -> bool:
        """Return whether a number lies between the smallest and largest of several numbers."""
        return type(level) in (int, float) and self._span is not None and self._span[0] <= level <= self._span[1]


LevelsByFactor = Mapping[str, DeclaredLevels]


def declared_levels(raw: dict[str, Any]) -> LevelsByFactor:
    """Return the levels of each factor of the document."""
    return {name: DeclaredLevels(factor) for name, factor in table(raw, "factors").items()}


def check_references(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check every reference to a factor, level or response."""
    factors, responses = declared_levels(raw), table(raw, "responses") or {"wall": {}, "cpu": {}}
    yield from _check_levels(raw, "baseline", factors)
    yield from _check_levels(raw, "reference", factors)
    yield from _check_exclusions(raw.get("exclude"), ("exclude",), factors)
    yield from _check_tables(raw.get("tables"), factors, responses)
    yield from _check_published(table(raw, "published"), factors, responses)
    item = table(raw, "quick")
    for name in table(item, "factors"):
        if name not in factors:
            yield unknown_name(("quick", "factors", name), "factor", name, factors)
    yield from _check_exclusions(item.get("exclude"), ("quick", "exclude"), factors)
    yield from _check_optional(raw, factors)


def table(raw: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table of the document; empty if it is missing or something else."""
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def unknown_name(path: KeyPath, what: str, name: object, names: Iterable[str]) -> Mistake:
    """Report an undeclared name."""
    names = sorted(names)
    return path, f'{what} "{name}" is not declared', "one of " + (list_words(names) or "none"), suggest(name, names)


def levels_of(factor: Any) -> list[Any] | None:
    """Return the levels of a factor; None if they are wrong or need a host."""
    levels = factor.get("levels") if isinstance(factor, dict) else None
    if isinstance(levels, str):
        try:
            return None if needs_host(levels) else list(parse_levels(levels))
        except LevelsError:
            return None
    return levels if isinstance(levels, list) else None


def has_level(factor: Any, level: Level) -> bool:
    """Return whether a factor has this level on some host; True if its levels are wrong themselves."""
    return DeclaredLevels(factor).has(level)


def check_level(path: KeyPath, name: str, level: Any, factors: LevelsByFactor) -> Iterator[Mistake]:
    """Check that a factor is declared and has this level."""
    if name not in factors:
        yield unknown_name(path, "factor", name, factors)
    elif refuse(level) is None and not factors[name].has(level):
        near = suggest(level, map(str, factors[name].listed or ())) if isinstance(level, str) else ""
        yield path, f"level {short_repr(level)} is not among the levels of {name}", factors[name].expected_text, near


def _check_levels(raw: dict[str, Any], key: str, factors: LevelsByFactor) -> Iterator[Mistake]:
    for name, level in table(raw, key).items():
        yield from check_level((key, name), name, level, factors)


def is_unknown(name: Any, names: Collection[str]) -> bool:
    """Return whether a text is unknown; what is no text is reported elsewhere."""
    return isinstance(name, str) and name not in names


def _check_exclusions(items: Any, path: KeyPath, factors: LevelsByFactor) -> Iterator[Mistake]:
    for index, item in enumerate(items if isinstance(items, list) else []):
        yield from check_selection(item, (*path, index), factors)


def check_selection(item: Any, path: KeyPath, factors: LevelsByFactor) -> Iterator[Mistake]:
    """Check factors and levels of a table factor -> list of levels."""
    for name, levels in (item if isinstance(item, dict) else {}).items():
        for level in levels if isinstance(levels, list) and name in factors else []:
            yield from check_level((*path, name), name, level, factors)
        if name not in factors:
            yield unknown_name((*path, name), "factor", name, factors)


def _check_tables(items: Any, factors: LevelsByFactor, responses: dict[str, Any]) -> Iterator[Mistake]:
    shown = {*responses, "speedup"}
    for index, item in enumerate(items if isinstance(items, list) else []):
        if not isinstance(item, dict):
            continue
        for key in ("rows", "columns"):
            if is_unknown(item.get(key), factors):
                yield unknown_name(("tables", index, key), "factor", item[key], factors)
        for name in names if isinstance(names := item.get("response"), list) else [names]:
            if is_unknown(name, shown):
                yield unknown_name(("tables", index, "response"), "response", name, shown)
        for name, level in table(item, "where").items():
            yield from check_level(("tables", index, "where", name), name, level, factors)


def _check_published(item: dict[str, Any], factors: LevelsByFactor, responses: dict[str, Any]) -> Iterator[Mistake]:
    for column, name in table(item, "match").items():
        if is_unknown(name, factors):
            yield unknown_name(("published", "match", column), "factor", name, factors)
    for column in table(item, "levels"):
        if column not in table(item, "match"):
            yield unknown_name(("published", "levels", column), "column", column, table(item, "match"))
    for column, name in table(item, "values").items():
        if is_unknown(name, {*responses, "speedup"}):
            yield unknown_name(("published", "values", column), "response", name, {*responses, "speedup"})


def _check_optional(raw: dict[str, Any], factors: LevelsByFactor) -> Iterator[Mistake]:
    for name, factor in table(raw, "factors").items():
        optional = factor.get("if_granted") if isinstance(factor, dict) else None
        for level in optional if isinstance(optional, list) else []:
            for _, what, expected, fix in check_level((), name, level, factors):
                yield ("factors", name, "if_granted"), what, expected, fix
