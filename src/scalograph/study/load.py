"""study.toml to a `Study`, or every mistake at once with its line."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scalograph.errors import Problem, StudyError
from scalograph.protocol.bounded import read_whole
from scalograph.study import toml_text
from scalograph.study.check_copies import uncountable
from scalograph.study.check_processes import disordered, processes_of
from scalograph.study.check_published_claims import misquoted
from scalograph.study.check_question import unanswerable
from scalograph.study.check_settings import unsettable
from scalograph.study.cross_checks import Found, dangling, table
from scalograph.study.known_names import meant
from scalograph.study.limits import MOST_TOLD, told, too_many
from scalograph.study.model import Study
from scalograph.study.quick import shorter_factors, shorter_protocol, without_baseline
from scalograph.study.scalars import brief, short
from scalograph.study.toml_lines import Path as KeyPath
from scalograph.study.toml_lines import dotted, line_of, locate

Raw = dict[str, Any]
# Checks the document for what this room does not know: a workload, files beside the study.
Look = Callable[[Raw], Iterable[Found]]


def load(file: Path, look: Look = lambda raw: ()) -> Study:
    """Read a study.

    Args:
        file: the study.
        look: finds further mistakes, reported together with the others.

    Raises:
        StudyError: with every mistake found, in order of lines.
    """
    return parse(_read(file), file.name, look)


def parse(text: str, name: str = "study.toml", look: Look = lambda raw: ()) -> Study:
    """Parse a study from its text; `name` is used in the messages."""
    raw = toml_text.parse(text, name)
    study, found = None, list(too_many(raw))
    if not found:
        study, found = _validated(raw)
        for check in (dangling, misquoted, uncountable, unanswerable, unsettable):
            found += told(check(raw))
        found += told(disordered(processes_of(table(raw, "workload")), ("workload", "process")))
        found += told(_quick(raw, found))
        found += told(look(raw))
    if found or study is None:
        raise StudyError(_located(found, locate(text), name))
    return study


def _validated(raw: Raw) -> tuple[Study | None, list[Found]]:
    try:
        return Study.model_validate(raw), []
    except ValidationError as error:
        return None, told(map(_explain, error.errors(include_url=False)))


def _quick(raw: Raw, full: list[Found]) -> list[Found]:
    """Find the mistakes that only the quick form has."""
    _, found = _validated(shorter_protocol(raw))
    changed = [mistake for mistake in found if mistake[0][:1] == ("protocol",) and mistake not in full]
    changed += [mistake for mistake in told(unanswerable(shorter_factors(raw))) if mistake not in full]
    return [*((("quick", *path), what, expected, fix) for path, what, expected, fix in changed), *without_baseline(raw)]


def _read(file: Path) -> str:
    try:
        return read_whole(file, toml_text.MAX_BYTES).decode()
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", "a study file") from error
    except UnicodeDecodeError as error:
        raise StudyError.one(str(file), f"byte {error.start} is not UTF-8", "UTF-8 text") from error


def _located(found: list[Found], lines: dict[KeyPath, int], name: str) -> list[Problem]:
    placed = []
    for path, what, expected, fix in found:
        line = line_of(lines, path)
        where = f"{name}:{line}" if line else name
        place = f"{where}: {brief(dotted(path))}" if path else where
        placed.append((line or 0, Problem(place, what, expected, fix)))
    problems = list(dict.fromkeys(problem for _, problem in sorted(placed, key=lambda item: item[0])))
    more = [Problem(name, "more mistakes", "", "correct these first")] if len(problems) > MOST_TOLD else []
    return [*problems[:MOST_TOLD], *more]


# pydantic puts the names of union members into its paths; the file does not have them.
_MEMBERS = ("bool", "int", "float", "str", "[key]")
# A choice among texts, as pydantic tells it.
_QUOTED = re.compile(r"'([^']*)'")
_UNIONS = ("list[", "union[", "function-", "nullable[", "constrained-", "literal[")


def _written(part: str | int) -> bool:
    return isinstance(part, int) or (part not in _MEMBERS and not part.startswith(_UNIONS))


def _explain(detail: Any) -> Found:
    path = tuple(part for part in detail["loc"] if _written(part))
    kind, context, value = detail["type"], detail.get("ctx", {}), detail.get("input")
    if kind == "missing":
        return path, "missing", f"a value for `{path[-1]}`", "add it (protocol/study.md lists the keys)"
    if kind == "extra_forbidden":
        return path, "unknown key", *_known_keys(path)
    if kind == "value_error":
        text = str(context["error"])
        return path, text, "", ""
    expected = str(detail["msg"]).removeprefix("Input should be ")
    expected = expected.replace("String should match pattern", "text that matches")
    names = _QUOTED.findall(expected) if kind in ("choice", "literal_error") and isinstance(value, str) else ()
    return path, f"found {short(value)}", expected, meant(value, names)


@cache
def _schema() -> Any:
    return Study.model_json_schema()


def _known_keys(path: KeyPath) -> tuple[str, str]:
    schema = _schema()
    definitions, node = schema["$defs"], schema
    for part in path[:-1]:
        node = _step(node, part, definitions)
    known = sorted(node.get("properties", {}))
    return "one of " + ", ".join(known), meant(path[-1], known)


def _step(node: Any, part: str | int, definitions: Any) -> Any:
    node = (
        node.get("items")
        if isinstance(part, int)
        else node.get("properties", {}).get(part, node.get("additionalProperties"))
    )
    for option in [node, *(node or {}).get("anyOf", [])]:
        if isinstance(option, dict) and "$ref" in option:
            return definitions[option["$ref"].rsplit("/", 1)[-1]]
    return node or {}
