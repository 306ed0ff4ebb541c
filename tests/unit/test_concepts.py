"""The glossary names types: each stands where it says."""

import importlib
import re

import pytest

from tests.kit import ROOT

PAGE = ROOT / "docs" / "concepts.md"
NAMED = re.findall(r"\| `([a-z_]+\.[A-Za-z_.]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def resolve(name: str) -> object:
    """The module, or what a module defines, or a field or member of that."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(["scalograph", *parts[:k]]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            members = {**vars(found), **getattr(found, "__annotations__", {})}
            found = members[part]
        return found
    raise KeyError(name)


def test_the_page_names_types() -> None:
    assert len(NAMED) > 40


@pytest.mark.parametrize("name", NAMED)
def test_a_type_stands_where_the_glossary_says(name: str) -> None:
    assert resolve(name) is not None
