"""The sources as syntax trees: read when a test first looks at them, and once for all tests that do."""

import ast
import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "scalograph"
# One worker reads them.
readers = pytest.mark.xdist_group("sources")


def house() -> ModuleType:
    """The figures of the house, which `scripts/house.py` prints, as a module."""
    spec = importlib.util.spec_from_file_location("house", ROOT / "scripts" / "house.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOUSE = house()
FILES: dict[str, Path] = HOUSE.modules(ROOT / "src")


@cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


@cache
def graph() -> dict[str, set[str]]:
    """Every module and those that it imports, faces that Python runs on the way counted."""
    return {name: HOUSE.imports(tree, FILES.keys()) - {name} for name, tree in trees().items()}
