"""The examples that are kept: their journals still read, and their reports are what they show."""

import shutil
from pathlib import Path

import pytest

from scalograph import table
from scalograph.answer import findings

EXAMPLES = sorted((Path(__file__).parents[2] / "studies").glob("*/example/journal.jsonl.gz"))


@pytest.mark.parametrize("journal", EXAMPLES, ids=lambda path: path.parents[1].name)
def test_a_kept_journal_reads_and_its_report_is_of_it(journal: Path, tmp_path: Path) -> None:
    report = journal.with_name("report.html")
    assert report.stat().st_size < 3 << 20
    shutil.copy(journal.parents[1] / "published.csv", tmp_path)
    found = findings(table.load(journal), tmp_path)
    assert found.runs.n_done > 1000
    assert all(point.responses for curve in found.curves for point in curve.points)
    page = report.read_text()
    assert found.study.hash in page
    assert found.trust.sentence.split(":")[0] in page
    assert len({point.level for curve in found.curves for point in curve.points}) == 8


def test_there_is_an_example_of_thread_scaling() -> None:
    assert [path.parents[1].name for path in EXAMPLES] == ["thread-scaling"]
