"""Results as a notebook has them, and the notebooks of docs, which run as they stand."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import scalograph
from scalograph.errors import HostError, ProtocolError
from scalograph.exchange import export
from scalograph.notebook.opened_results import OpenedResults
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.refusals import refuses
from tests.kit.sources import ROOT


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenedResults:
    """A study of two threads counts and two locks, three runs each, one of them failed."""
    folder = tmp_path_factory.mktemp("results")
    runs = [(t, recorded(0.5 / int(t["threads"]) + r / 100)) for r in range(3) for t in CONFIGURATIONS]
    runs[-1] = (CONFIGURATIONS[-1], recorded(status="failed", reason="<b>x"))
    write_journal(folder / "journal.jsonl", runs)
    return scalograph.open(str(folder))


def test_runs_have_a_row_each_with_scores_and_observations_are_what_export_writes(opened: OpenedResults) -> None:
    runs = opened.runs()
    names = "run block replicate warmup status verdict boot cause threads lock wall cpu"
    assert runs.columns == names.split()
    assert runs.height == 3 * len(CONFIGURATIONS)
    assert runs["wall"].null_count() == 1 and runs.filter(runs["status"] == "failed").height == 1
    frame = opened.observations()
    assert frame.columns[-4:] == ["response", "iteration", "value", "unit"]
    assert frame["value"].null_count() == 1


def test_curves_are_found_by_what_they_have_fixed(opened: OpenedResults) -> None:
    names = list(opened.curves)
    assert names and all("=" in name for name in names)
    curve = opened.curves[names[0]]
    frame = curve.frame()
    assert frame.columns[0] == curve.factor == "threads" and {"wall", "wall_low", "wall_high"} < set(frame.columns)
    with pytest.raises(KeyError, match="0 curves are"):
        opened.curves["lock=other"]
    refuses(ValueError, "expected one of: wall", curve.plot, "other")
    ElementTree.fromstring(curve.plot("wall").svg)


def test_it_shows_itself_as_html_with_every_text_escaped(opened: OpenedResults) -> None:
    shown = opened._repr_html_()
    assert shown.startswith("<div") and "<script" not in shown and "<b>x" not in shown
    assert opened.verdict.sentence.split()[0] in shown
    assert repr(opened).startswith(f"<{opened.findings.study.name}: ")


def test_opening_writes_nothing_and_what_is_no_result_is_refused(opened: OpenedResults, tmp_path: Path) -> None:
    assert opened.findings.runs.n_done
    assert [file.name for file in opened.path.iterdir()] == ["journal.jsonl"]
    refuses(ProtocolError, "no such file", scalograph.open, tmp_path / "none")


def test_a_picture_is_svg_a_fit_takes_any_shape_and_no_value_has_a_reason(tmp_path: Path) -> None:
    drawn = scalograph.fit_usl([1, 2, 4, 8], [10, 18, 29, 39]).plot()
    drawn.save(tmp_path / "law.svg")
    text = (tmp_path / "law.svg").read_text()
    assert ElementTree.fromstring(text).tag.endswith("svg") and "var(--" not in text
    refuses(HostError, r"expected \.svg", drawn.save, tmp_path / "law.png")
    fit = scalograph.fit_usl([1, 2, 4, 8], [10, 20, 40, 80])
    assert fit([[1, 2], [3, 4]]).ravel() == pytest.approx([10, 20, 30, 40]) and float(fit(5)) == pytest.approx(50)
    assert float(fit.gamma) == pytest.approx(10) and "sigma" in repr(fit)
    nothing = scalograph.Estimate(warnings=("no run that counts",))
    assert f"{nothing}" == "\N{EN DASH}" and f"{nothing:.1f}" == "?" and list(nothing) == [None, None, None]
    refuses(ValueError, "no run that counts", float, nothing)


def test_frames_are_of_whichever_library_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "toy_frames.py").write_text("DataFrame = dict\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(export, "LIBRARIES", ("no_such_library", "toy_frames"))
    assert export.frame({"a": [1]}) == {"a": [1]}
    monkeypatch.setattr(export, "LIBRARIES", ("no_such_library",))
    refuses(HostError, "pip install", export.frame, {"a": [1]})


def test_import_alone_is_cheap() -> None:
    code = "import sys, scalograph; print(*sorted(m for m in sys.modules if m.startswith(('scalograph', 'numpy'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["scalograph"] and {"open", "fit_usl"} <= set(dir(scalograph))
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        scalograph.other  # type: ignore[attr-defined]  # noqa: B018


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
