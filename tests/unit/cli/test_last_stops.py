"""The seam between stops 4 and 5: the report is made of findings.json, and of nothing else."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scalograph.cli import analyze_steps, steps_command
from scalograph.errors import ProtocolError
from scalograph.protocol.results import Results
from tests.kit import ROOT
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.refusals import refuses

KEPT = ROOT / "tests" / "golden" / "journals" / "descriptor-cliff" / "journal.jsonl.gz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(KEPT, tmp_path)
    return tmp_path


def aged(file: Path, seconds: int) -> None:
    """Make a file that much older, or newer where it is negative."""
    made = file.stat().st_mtime_ns - seconds * 10**9
    os.utime(file, ns=(made, made))


def test_without_its_journal_the_report_is_the_same(folder: Path) -> None:
    first, page = analyze_steps.report(folder)
    before = page.read_bytes()
    Results(folder).journal.unlink()
    page.unlink()
    again, _ = analyze_steps.report(folder)
    assert page.read_bytes() == before
    assert again == first


def test_findings_are_made_anew_only_where_something_is_newer(folder: Path) -> None:
    _, file = analyze_steps.analyze(folder)
    file.write_text(file.read_text().replace("At which number", "At what number"))
    found, page = analyze_steps.report(folder)
    assert found.study.title.startswith("At what number") and "At what number" in page.read_text()
    aged(Results(folder).journal, -10)
    found, page = analyze_steps.report(folder)
    assert found.study.title.startswith("At which number") and "At what number" not in page.read_text()


def test_a_profile_that_came_later_is_taken_in(folder: Path) -> None:
    analyze_steps.analyze(folder)
    profile = folder / "profile.json"
    profile.write_text("{}")
    aged(profile, -10)
    found, _ = analyze_steps.report(folder)
    assert any(warning.startswith("profile.json: ") for warning in found.warnings)


def test_a_second_journal_in_the_folder_is_not_taken_for_the_first(folder: Path) -> None:
    analyze_steps.analyze(folder)
    second = folder / "other.jsonl.gz"
    shutil.copy(KEPT, second)
    aged(second, 10)
    assert analyze_steps.is_current(folder) and not analyze_steps.is_current(second)


def test_broken_findings_are_refused_with_what_makes_them_anew(folder: Path) -> None:
    _, file = analyze_steps.analyze(folder)
    file.write_text("{}")
    with pytest.raises(ProtocolError, match=r"findings\.json: broken findings: study: .*scalograph analyze") as refused:
        analyze_steps.report(folder)
    assert len(str(refused.value).splitlines()) == 1
    file.write_text("nothing")
    refuses(ProtocolError, "Invalid JSON", analyze_steps.report, folder)


def test_with_neither_findings_nor_a_journal_there_is_nothing_to_report(tmp_path: Path) -> None:
    refuses(ProtocolError, r"journal\.jsonl: no such file", analyze_steps.report, tmp_path)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """We may make nothing there; root gives its rights up for a while."""
    folder.chmod(0o555)
    was = os.geteuid()
    os.seteuid(was or 65534)
    try:
        yield
    finally:
        os.seteuid(was)
        folder.chmod(0o755)


def test_what_is_made_is_written_elsewhere_or_shown_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with TemporaryDirectory() as place:  # where another user may look
        page, folder = Path(place, "page.html"), Path(place, "results")
        folder.mkdir()
        file = write_journal(folder / "journal.jsonl", [(levels, recorded()) for levels in CONFIGURATIONS])
        assert steps_command.report(folder, to=page) == 0 and page.stat().st_size > 100_000
        assert [*folder.iterdir()] == [file]
        capsys.readouterr()
        Path(place).chmod(0o755)
        with read_only(folder):
            assert steps_command.analyze(folder) == steps_command.report(folder) == 0
        assert [*folder.iterdir()] == [file]
    shown = capsys.readouterr()
    assert shown.err == f"{folder}: cannot be written, and nothing is saved; name a file with --to\n" * 2
    assert shown.out.count("Inconclusive: one run per configuration is too few to compare") == 2
    assert "findings.json" not in shown.out
