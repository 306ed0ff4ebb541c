"""`scalograph report` of a folder that holds several results: one page that links to each."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scalograph.cli import analyze_steps
from scalograph.cli.many_results import results_index
from scalograph.errors import Exit
from scalograph.protocol.saved_documents import read_findings
from scalograph.report.index_page import indexed_result, page
from tests.golden.command import scalograph
from tests.kit import ROOT
from tests.unit.cli.test_compare import journal

HOSTILE = "</style><script>alert(1)</script>\x1b[2J"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three results at different depths, each a day younger, and what is none."""
    for day, name in enumerate(("old", "study/middle", "a/study/new"), 1):
        parent, _, last = name.rpartition("/")
        (tmp_path / parent).mkdir(parents=True, exist_ok=True)
        journal(tmp_path / parent, last)
        file = tmp_path / name / "journal.jsonl"
        file.write_text(file.read_text().replace("2026-01-01T", f"2026-01-0{day}T"))
        analyze_steps.analyze(tmp_path / name)
    (tmp_path / "study" / "latest").symlink_to("middle")
    (tmp_path / "empty").mkdir()
    return tmp_path


def rows_in(text: str) -> list[str]:
    return re.findall(r'<a href="([^"]*)">', text.partition("<tbody>")[2])


def test_the_index_links_each_report_newest_first_and_makes_what_is_missing_or_old(folder: Path) -> None:
    done = scalograph(["report", "."], folder)
    text = (folder / "index.html").read_text()
    assert done.code == Exit.DONE and rows_in(text) == [
        f"{n}/report.html" for n in ("a/study/new", "study/middle", "old")
    ]
    assert all((folder / link).is_file() for link in rows_in(text))
    assert "<script" not in text and "3 Jan 2026" in text and "2 CPUs" in text
    lines = done.printed.splitlines()
    assert lines[0].startswith("3 results: ") and lines[-1] == "index  index.html" and len(lines) == 5
    pages = [folder / "old" / "report.html", folder / "study" / "middle" / "report.html"]
    for file in pages:
        file.write_text("of before")
    os.utime(pages[0], (0, 0))
    scalograph(["report", "."], folder)
    assert [file.read_text() == "of before" for file in pages] == [False, True]
    assert (folder / "index.html").read_text() == text


def test_it_is_written_elsewhere_and_is_one_document_for_machines(folder: Path, tmp_path: Path) -> None:
    document = json.loads(scalograph(["report", ".", "--json", "--to", "empty/all.html"], folder).printed)
    assert [row["folder"] for row in document["results"]] == ["a/study/new", "study/middle", "old"]
    assert document["left_out"] == [] and document["index"] == "empty/all.html" and not (folder / "index.html").exists()
    assert rows_in((folder / "empty" / "all.html").read_text())[-1] == "../old/report.html"
    assert scalograph(["report", ".", "--tables"], folder).code == Exit.STUDY


def test_broken_results_are_named_and_a_page_of_another_is_kept(folder: Path) -> None:
    (folder / "old" / "findings.json").write_text("{}")
    (folder / "study" / "middle" / "report.html").mkdir()
    (folder / "index.html").write_text("<title>mine</title>")
    refused = scalograph(["report", "."], folder)
    assert refused.code == Exit.STUDY and "index.html: is not an index of ours" in refused.printed
    (folder / "index.html").unlink()
    done = scalograph(["report", "."], folder)
    assert done.code == Exit.DONE and "excluded: old: broken findings" in done.printed
    text = (folder / "index.html").read_text()
    assert "old: broken findings" in text and "study/middle: cannot be written" in text
    assert rows_in(text) == ["a/study/new/report.html"]


def test_links_lead_nowhere_and_the_walk_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "empty" / "there").symlink_to("../old")
    (folder / "link").mkdir()
    (folder / "link" / "findings.json").symlink_to("../old/findings.json")
    deep = folder / "1" / "2" / "3" / "4"
    deep.mkdir(parents=True)
    (deep / "findings.json").write_text("{}")
    found, left_out = results_index.find_results(folder)
    assert sorted(str(path.relative_to(folder)) for path in found) == ["a/study/new", "old", "study/middle"]
    assert left_out == []
    monkeypatch.setattr(results_index, "MOST_RESULTS", 2)
    found, left_out = results_index.find_results(folder)
    assert len(found) == 2 and left_out[0].startswith("more than 2 results")
    monkeypatch.setattr(results_index, "MOST_ENTRIES", 3)
    assert results_index.find_results(folder)[1]


def test_a_terminal_gets_one_screen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_index, "LINES", 4)
    lines = scalograph(["report", "."], folder).printed.splitlines()
    assert len(lines) == 4 and lines[2] == "and 2 more" and max(map(len, lines)) <= results_index.COLUMNS


def test_text_of_a_result_stays_text(folder: Path) -> None:
    findings = read_findings(folder / "old" / "findings.json")
    study = findings.study.model_copy(update={"title": HOSTILE})
    hostile = findings.model_copy(update={"study": study, "machine": {"cpu_model": HOSTILE}})
    row = indexed_result(hostile, HOSTILE, folder / 'javascript:"x' / "report.html", folder / "index.html")
    text = page(HOSTILE, [row], [HOSTILE])
    assert "<script" not in text and "\x1b" not in text and text.count("</style>") == 1
    assert rows_in(text) == ["javascript%3A%22x/report.html"]


def test_kept_examples_become_pages_with_an_index(tmp_path: Path) -> None:
    command = [ROOT / "scripts" / "kept-reports.sh", tmp_path, "noise-floor", "ceiling"]
    subprocess.run(command, check=True, env=os.environ | {"PYTHON": sys.executable}, capture_output=True)
    text = (tmp_path / "index.html").read_text()
    assert sorted(rows_in(text)) == ["ceiling/report.html", "noise-floor/report.html"]
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert files == ["ceiling/report.html", "index.html", "noise-floor/report.html"]
