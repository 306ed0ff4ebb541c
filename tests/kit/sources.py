"""The sources as syntax trees: read when a test first looks at them, and once for all tests that do."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.kit import ROOT
from tests.kit.scripts import load_script

SOURCES = ROOT / "src" / "scalograph"
# One worker reads them.
readers = pytest.mark.xdist_group("sources")
# The figures of the house, which `scripts/house.py` prints.
HOUSE = load_script(ROOT / "scripts" / "house.py")
FILES: dict[str, Path] = HOUSE.modules(ROOT / "src")


@cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


@cache
def graph() -> dict[str, set[str]]:
    """Every module and those that it imports, faces that Python runs on the way counted."""
    return {name: HOUSE.imports(tree, FILES.keys()) - {name} for name, tree in trees().items()}
