"""study.toml to a `Study`, or every mistake at once with its line."""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scalograph.errors import Problem, StudyError
from scalograph.study.locate import Path as KeyPath
from scalograph.study.locate import line_of, locate
from scalograph.study.model import Study
from scalograph.study.references import dangling

MAX_BYTES = 1 << 20


def load(file: Path) -> Study:
    """Read a study.

    Raises:
        StudyError: with every mistake that was found, in order of lines.
    """
    return parse(_read(file), file.name)


def parse(text: str, name: str = "study.toml") -> Study:
    """A study from its text; `name` stands in the messages."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError.one(name, f"not TOML: {error}", "", "see toml.io for the syntax") from error
    lines = locate(text)
    found: list[tuple[KeyPath, str, str, str]] = []
    study = None
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        found += [_explain(detail) for detail in error.errors()]
    found += dangling(raw)
    if found or study is None:
        raise StudyError(_located(found, lines, name))
    return study


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", "a study file") from error
    if len(data) > MAX_BYTES:
        raise StudyError.one(str(file), "larger than 1 MiB", "a study of at most 1 MiB")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise StudyError.one(str(file), f"byte {error.start} is not UTF-8", "UTF-8 text") from error


def _located(found: list[tuple[KeyPath, str, str, str]], lines: Mapping[KeyPath, int], name: str) -> list[Problem]:
    placed = []
    for path, what, expected, fix in found:
        line = line_of(dict(lines), path)
        where = f"{name}:{line}" if line else name
        placed.append((line or 0, Problem(f"{where}: {_dotted(path)}" if path else where, what, expected, fix)))
    return list(dict.fromkeys(problem for _, problem in sorted(placed, key=lambda item: item[0])))


def _dotted(path: KeyPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


# Members of a union put their own names into pydantic's paths; people never wrote those.
_UNION_PARTS = ("bool", "int", "float", "str", "list[", "union", "function-", "nullable", "constrained", "literal")


def _explain(detail: Any) -> tuple[KeyPath, str, str, str]:
    path = tuple(part for part in detail["loc"] if isinstance(part, int) or not part.startswith(_UNION_PARTS))
    kind, context, value = detail["type"], detail.get("ctx", {}), detail.get("input")
    if kind == "missing":
        return path, "missing", f"a value for `{path[-1]}`", "add it (protocol/study.md lists the keys)"
    if kind == "extra_forbidden":
        return path, "unknown key", *_known_keys(path)
    if kind == "value_error":
        text = str(context["error"])
        return path, text, "", ""
    expected = str(detail["msg"]).removeprefix("Input should be ")
    return path, f"found {_short(value)}", expected, ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _known_keys(path: KeyPath) -> tuple[str, str]:
    schema: Any = Study.model_json_schema()
    definitions, node = schema["$defs"], schema
    for part in path[:-1]:
        node = _step(node, part, definitions)
    known = sorted(node.get("properties", {}))
    close = difflib.get_close_matches(str(path[-1]), known, n=1)
    return "one of " + ", ".join(known), f'did you mean "{close[0]}"?' if close else ""


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
