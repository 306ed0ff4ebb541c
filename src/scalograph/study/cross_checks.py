"""Check references and what a question requires of its study, on the raw document: one mistake hides no other."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from scalograph.questions.registry import QUESTIONS, SWEEP, role
from scalograph.study.fields import OnlyFor, Refers, StudyPart
from scalograph.study.levels import LevelsError, is_possible_level, needs_host, parse_levels
from scalograph.study.model import Protocol, Study
from scalograph.study.scalars import Level, list_words, refuse, short_repr, suggest
from scalograph.study.toml_text import KeyPath

# The question whose ratios are those of a surface, which lies between its levels, too.
ON_SURFACE = "break-even"
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
    return {name: DeclaredLevels(factor) for name, factor in table(raw, "factors").items()}


@dataclass(frozen=True)
class Marked:
    """A value of the raw document that the study's model marks; `factor` is the one whose level it is."""

    mark: Refers | OnlyFor
    path: KeyPath
    value: Any
    factor: Any


def find_marked(kind: Any, value: Any, path: KeyPath = (), beside: Any = None, factor: Any = None) -> Iterator[Marked]:
    """Visit the values that a type marks; what is of another type is reported elsewhere.

    `beside` is the table that holds the value. Elements of a list have the path of the list, unless they are tables.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        for mark in parts[1:]:
            if isinstance(mark, Refers | OnlyFor):
                key = getattr(mark, "factor_key", "")
                yield Marked(mark, path, value, beside.get(key) if key else factor)
        yield from find_marked(parts[0], value, path, beside, factor)
    elif origin in (Union, UnionType):
        for part in parts:
            yield from find_marked(part, value, path, beside, factor)
    elif origin is list and isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_marked(parts[0], item, (*path, index) if isinstance(item, dict) else path, beside, factor)
    elif origin is dict and isinstance(value, dict):
        for name, item in value.items():
            yield from find_marked(parts[0], name, (*path, name), value)
            yield from find_marked(parts[1], item, (*path, name), value, name)
    elif isinstance(kind, type) and issubclass(kind, StudyPart) and isinstance(value, dict):
        for name, field in kind.model_fields.items():
            if (key := field.alias or name) in value:
                inner = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
                yield from find_marked(inner, value[key], (*path, key), value, factor)


def check_references(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check every name of a factor, level, response or column, and keys that only another question reads."""
    factors, responses = declared_levels(raw), table(raw, "responses") or {"wall": {}, "cpu": {}}
    names: dict[str, Collection[str]] = {
        "factor": factors, "response": responses, "shown response": {*responses, "speedup"},
        "column": table(table(raw, "published"), "match"),
    }  # fmt: skip
    for marked in find_marked(Study, raw):
        if isinstance(marked.mark, OnlyFor):
            if raw.get("question", SWEEP) not in marked.mark.questions:
                outside = f"outside {' and '.join(marked.mark.questions)}"
                yield marked.path, outside, f"none: {marked.mark.elsewhere}", "remove it"
        elif marked.mark.to == "level":
            # An unknown factor is a mistake of its own.
            declared = isinstance(marked.factor, str) and marked.factor in factors
            if declared and not (marked.mark.beyond and _is_known(raw, marked, factors)):
                yield from check_level(marked.path, marked.factor, marked.value, factors)
        elif isinstance(marked.value, str) and marked.value not in names[marked.mark.to]:
            yield unknown_name(marked.path, marked.mark.to.rpartition(" ")[2], marked.value, names[marked.mark.to])


def _is_known(raw: dict[str, Any], marked: Marked, factors: LevelsByFactor) -> bool:
    """Return whether an unplanned level is known yet: all CPUs, or between the levels of a surface."""
    if marked.value == "all":
        return bool(table(table(raw, "factors"), marked.factor).get("control") == "cpus")
    return raw.get("question") == ON_SURFACE and factors[marked.factor].spans(marked.value)


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


def check_selection(item: Any, path: KeyPath, factors: LevelsByFactor) -> Iterator[Mistake]:
    for name, levels in (item if isinstance(item, dict) else {}).items():
        for level in levels if isinstance(levels, list) and name in factors else []:
            yield from check_level((*path, name), name, level, factors)
        if name not in factors:
            yield unknown_name((*path, name), "factor", name, factors)


RawFactors = dict[str, dict[str, Any]]
# The questions that have a default of every factor.
TUNED = ("tunables", "best")
# Runs at which the rule can end a configuration at the earliest: it looks from eight on, and must pass twice in a row.
FEWEST = 9


def check_question_rules(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check the study by its question; by a sweep for an unknown name."""
    question = raw.get("question")
    factors = {name: factor for name, factor in table(raw, "factors").items() if isinstance(factor, dict)}
    question_name = question if isinstance(question, str) and question in QUESTIONS else SWEEP
    yield from role(question_name, "check").mistakes(raw, factors)
    if question_name not in TUNED and (n := len(table(raw, "baseline"))) > 1:
        fix = f'take one, or ask question = "{TUNED[0]}"'
        yield ("baseline",), f"{n} factors", "one: speedups are taken along it", fix


def check_ignored_keys(raw: dict[str, Any], *keys: str) -> Iterator[Mistake]:
    """Check for keys of `protocol` that a search ignores: it decides runs itself."""
    for key in keys:
        if key in table(raw, "protocol"):
            fix = "remove it; budget_runs is a limit of runs"
            yield ("protocol", key), "in a search", "none: it decides that itself", fix


def check_single_factor(factors: RawFactors, controls: Sequence[str | None] | None = None) -> Iterator[Mistake]:
    """Check that a single factor of counts, with one of these controls, can be searched along."""
    yield from check_one_varies(factors)
    many = [name for name, factor in factors.items() if has_several_levels(factor)]
    if len(many) == 1:
        yield from _check_counts(many[0], factors[many[0]], controls)


def check_one_varies(factors: RawFactors) -> Iterator[Mistake]:
    """Check that a single factor has several levels."""
    many = [name for name, factor in factors.items() if has_several_levels(factor)]
    if len(many) != 1:
        text = f"{len(many)} factors of several levels" + (f": {', '.join(many)}" if many else "")
        yield ("factors",), text, "one: one program is searched", "give the others one level"


def check_precision_runs(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check that the rule of a precision can end the study; a quick form only tries it out."""
    protocol = table(raw, "protocol")
    runs = protocol.get("runs", Protocol.model_fields["runs"].default)
    if "precision" in protocol and type(runs) is int and 1 <= runs < FEWEST:
        fix = "it is the most that a configuration gets: give 100, say, or remove precision"
        yield ("protocol", "runs"), f"{runs} beside precision", f"at least {FEWEST}, or its rule can end nothing", fix


def has_several_levels(factor: dict[str, Any]) -> bool:
    """Return whether a factor may have more than one level."""
    levels = levels_of(factor)
    return levels is None or len(levels) > 1  # text that needs a host may give several


def _check_counts(name: str, factor: dict[str, Any], controls: Sequence[str | None] | None) -> Iterator[Mistake]:
    if controls is not None and factor.get("control") not in controls:
        expected = 'control = "cpus", or none where the levels count workers'
        yield ("factors", name, "control"), f"levels of {factor['control']}", expected, ""
    for level in levels_of(factor) or ():
        if (type(level) is not int or level < 1) and level != "all":
            yield ("factors", name, "levels"), f"level {level!r}", "counts from 1 on", 'such as "1:all"'


def check_limited_response(declared: Mapping[str, Any]) -> Iterator[Mistake]:
    """Check for responses with limits, which a search goes by: the first that has a direction, and others."""
    responses = {name: response for name, response in declared.items() if isinstance(response, dict)}
    limited = [name for name, response in responses.items() if "limit" in response]
    if not limited:
        fix = 'such as [responses.p90] from = "value.p90_ns", unit = "ns", limit = 2e9'
        yield ("responses",), "0 with a limit", "one or more: it is searched where they are met", fix
        return
    directed = [name for name, response in responses.items() if response.get("better", "lower") != "none"]
    if directed[:1] != limited[:1]:
        fix = 'place it first, or give the others better = "none"'
        yield ("responses", limited[0]), "a limit, after another response", "the first that has a direction", fix
    for name in limited:
        if responses[name].get("better", "lower") == "higher":
            yield ("responses", name, "better"), "higher, with a limit", "lower: it is met below", "invert it"
