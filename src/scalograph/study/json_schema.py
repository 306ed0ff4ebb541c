"""The JSON Schema of study.toml, with what protocol/study.md says of each key: an editor completes and explains."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scalograph.study.model import Study

# In the installed package, else in the repository around it.
_HERE = Path(__file__).resolve().parents[1]
_PAGES = (_HERE / "data" / "protocol" / "study.md", _HERE.parents[1] / "protocol" / "study.md")
_ROW = re.compile(r"^\| (`[^|]+`) \|[^|]*\|[^|]*\| (.*) \|$", re.MULTILINE)
_KEY = re.compile(r"`(?:\[\[)?([A-Za-z_.]+)(?:\]\])?`")
# What stands for any name in a key of the page: `factors.NAME.levels`.
_ANY = "NAME"


def study_schema() -> dict[str, Any]:
    """Return the schema; without descriptions where the page was not installed."""
    schema = Study.model_json_schema()
    schema |= {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "study.toml"}
    page = next((file for file in _PAGES if file.is_file()), None)
    for path, text in _said(page.read_text(encoding="utf-8")) if page else ():
        if (part := _at(schema, schema, path)) is not None:
            part["description"] = text
    return schema


def _said(page: str) -> Iterator[tuple[list[str], str]]:
    """Yield keys and what is said of them: `prepare`, `.cleanup` of one row have the same text."""
    for keys, meaning in _ROW.findall(page):
        first: list[str] = []
        for key in _KEY.findall(keys):
            path = [*first[:-1], key[1:]] if key.startswith(".") else key.split(".")
            first = first or path
            if meaning:
                yield path, meaning.replace("`", "")


def _at(schema: Mapping[str, Any], part: dict[str, Any], path: list[str]) -> dict[str, Any] | None:
    """Find the part of a schema that a key means; None where the page tells of a key in words only."""
    for name in path:
        table = _table(schema, part)
        any_name = next(iter(table.get("patternProperties", {}).values()), None)
        found = any_name if name == _ANY else table.get("properties", {}).get(name)
        if not isinstance(found, dict):
            return None
        part = found
    return part


def _table(schema: Mapping[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """The table that a part refers to, alone or beside others such as null."""
    for one in (part, *part.get("anyOf", ())):
        if "$ref" in one:
            found: dict[str, Any] = schema["$defs"][one["$ref"].rpartition("/")[2]]
            return found
    return part
