"""The schema of study.toml: it knows every key of the studies that ship, and says what each one means."""

import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from scalograph.study import model
from scalograph.study.model import study_schema
from scalograph.study.shipped import shipped_studies, shipped_study

# Tables whose keys are names that a study chooses, or that the page tells of in one row.
WHOLE = ("parameters", "env", "tables", "published", "quick", "exclude", "baseline", "reference", "process", "reset")


@cache
def schema() -> dict[str, Any]:
    return study_schema()


def keys(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        here = (*path, "NAME" if path in (("factors",), ("responses",)) else name)
        if isinstance(value, dict) and name not in (*WHOLE, "conditions"):
            yield from keys(value, here)
        else:
            yield here


def test_every_key_of_a_shipped_study_is_known_and_explained() -> None:
    used = {
        key
        for name in shipped_studies()
        for key in keys(tomllib.loads((shipped_study(name) / "study.toml").read_text(encoding="utf-8")))
    }
    parts = {key: model._find_part(schema(), schema(), list(key)) for key in used}
    assert {key for key, part in parts.items() if part is None} == set()
    named = {("name",), ("title",)}
    unsaid = {key for key, part in parts.items() if part is not None and "description" not in part} - named
    # These the page tells below its table.
    assert unsaid <= {key for key in unsaid if key[0] == "responses" and key[-1] in ("unit", "better", "title", "from")}


def test_it_is_a_schema_that_editors_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert schema()["$schema"].endswith("2020-12/schema") and schema()["title"] == "study.toml"
    assert "runs per configuration" in schema()["$defs"]["Protocol"]["properties"]["runs"]["description"]
    both = [schema()["$defs"]["WorkloadUse"]["properties"][name]["description"] for name in ("prepare", "cleanup")]
    assert both[0] == both[1]
    monkeypatch.setattr(model, "_PAGES", ())
    assert "description" not in study_schema()["$defs"]["Protocol"]["properties"]["runs"]
