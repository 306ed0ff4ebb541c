"""`scalograph site`: static pages over many results that link to each other and to reports, without a network."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.kit.findings import ONE_FACTOR, findings_of, runs_of

HOSTILE = "</style><script>alert(1)</script>\x1b[2J"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten results of one study on two machines, one disturbed; and one of a study with a hostile title."""
    for i in range(11):
        level = 1.3 if i >= 7 else 1.0 + 0.002 * (i % 3)
        found = findings_of(tmp_path, runs_of({1: 8.0 * level, 2: 4.2}, 4), ONE_FACTOR)
        found.runs.started = f"2026-01-{i + 1:02}T00:00:00Z"
        found.machine.update(cpu_model="CPU A" if i else "CPU B", n_cpus=2)
        if i == 4:
            found.trust.level = "unusable"
        if i == 10:
            found.study.name, found.study.title = "Other/..", HOSTILE
        made = tmp_path / "kept" / f"3f2c1a9b0{i:x}" / "first"
        made.mkdir(parents=True)
        (made / "findings.json").write_text(found.model_dump_json())
    (tmp_path / "kept" / "annotations.toml").write_text('[[note]]\ndate = "2026-01-06"\ntext = "<b>kernel</b>"\n')
    return tmp_path


def links_in(page: Path) -> set[str]:
    return {unquote(link) for link in re.findall(r'href="([^"#]+)"', page.read_text())}


def test_pages_lead_to_each_other_and_to_each_report(folder: Path) -> None:
    done = scalograph(["site", "kept", "--to", "public"], folder)
    assert done.code == Exit.DONE and "public/index.html (3 pages)" in done.printed
    pages = sorted((folder / "public").glob("*.html"))
    assert len(pages) == 3 and (folder / "public" / "hello.html") in pages
    for page in pages:
        text = page.read_text()
        assert "<script" not in text and "http:" not in text and "https:" not in text and "\x1b" not in text
        assert all((page.parent / link).is_file() for link in links_in(page))
    first = (folder / "public" / "hello.html").read_text()
    assert len([link for link in links_in(folder / "public" / "hello.html") if link.endswith("report.html")]) == 10
    assert "2 CPUs, A" in first and "2 CPUs, B" in first and "&lt;b&gt;kernel" in first
    assert first.count("l6 6m0-6l-6 6") >= 3, "the disturbed result is a cross at each width"


def test_reports_are_bounded_and_made_again_only_where_old(folder: Path) -> None:
    words = ["site", "kept", "--to", "public", "--reports", "2"]
    scalograph(words, folder)
    reports = sorted((folder / "public").rglob("report.html"))
    assert len(reports) == 3
    reports[0].write_text("of before")
    scalograph(words, folder)
    assert reports[0].read_text() == "of before"
    (folder / "kept" / reports[0].parent.relative_to(folder / "public" / "results") / "findings.json").touch()
    scalograph(words, folder)
    assert reports[0].read_text() != "of before"


@pytest.mark.parametrize(
    ("note", "text"),
    [("[[note]]\ntext = 1", "text: Input should be a valid string"),
     ('[[note]]\ntext = "a"', "without date and commit"),
     ("note = [", "annotations.toml"), ('[[notes]]\ntext = "a"', "something other than notes")],
)  # fmt: skip
def test_a_broken_note_is_one_message_and_writes_nothing(folder: Path, note: str, text: str) -> None:
    (folder / "kept" / "annotations.toml").write_text(note)
    done = scalograph(["site", "kept"], folder)
    assert done.code == Exit.STUDY and text in done.printed and not (folder / "public").exists()


def test_a_page_of_somebody_else_is_kept(folder: Path) -> None:
    (folder / "public").mkdir()
    (folder / "public" / "index.html").write_text("mine")
    done = scalograph(["site", "kept"], folder)
    assert done.code == Exit.STUDY and (folder / "public" / "index.html").read_text() == "mine"
