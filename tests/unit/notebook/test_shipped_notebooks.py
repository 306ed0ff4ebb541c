"""The notebooks of docs run as they stand: each cell in order, in one namespace, from the root of the project."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.sources import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def sources(file: Path) -> list[str]:
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_shows_what_its_cells_end_with(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    shown = []
    for source in sources(file):
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, file.name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), file.name, "eval"), names))
    rich = [one for one in shown if hasattr(one, "_repr_html_") or hasattr(one, "_repr_svg_")]
    assert len(shown) >= 6 and len(rich) >= 3
    assert names["fit"].optimum.value == pytest.approx(93, abs=1)


def test_notebooks_are_kept_without_results() -> None:
    for file in NOTEBOOKS:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
