"""Commands on folders of results: the report is made of findings.json and of nothing else; history, and one figure."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scalograph.cli import analyze_steps, history_command, steps_command
from scalograph.errors import Exit, ProtocolError
from scalograph.protocol.results import Results
from scalograph.study.declare import Declared
from scalograph.study.load import parse
from scalograph.study.model import Response, replace_claims
from scalograph.study.published_claim import PublishedClaim
from tests.golden.command import scalograph
from tests.kit import ROOT
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.refusals import refuses
from tests.kit.studies import VALID
from tests.unit.cli.test_compare import journal

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
    assert page.read_bytes() == before and again == first


def test_a_claim_reads_a_response_that_finished_runs_did_not_have(tmp_path: Path) -> None:
    runs = [(levels, recorded(1.0, 0.9 + n % 7 / 1000)) for n, levels in enumerate(3 * CONFIGURATIONS)]
    file = write_journal(tmp_path / "journal.jsonl", runs)
    study = parse(VALID)
    claim = {"id": "X-1", "sentence": "Four use as much.", "kind": "ratio", "response": "used", "of": {"threads": 4}}
    text = study.model_copy(update={"responses": {**study.responses, "used": Response(source="run.cpu", unit="s")}})
    paper = PublishedClaim.model_validate({**claim, "over": {"threads": 1}, "holds": [0.95, 1.05]})
    declared = Declared(replace_claims(text, [paper]), tmp_path / "study.toml")
    found, _ = analyze_steps.analyze(file, declared, keep=False)
    assert [(each.id, each.decision) for each in found.published_claims] == [("X-1", "holds")]
    assert "used" not in analyze_steps.analyze(file, keep=False)[0].curves[0].points[0].responses


def test_findings_are_made_anew_only_where_something_is_newer(folder: Path) -> None:
    _, file = analyze_steps.analyze(folder)
    second = folder / "other.jsonl.gz"
    shutil.copy(KEPT, second)
    aged(second, 10)
    assert analyze_steps.is_current(folder) and not analyze_steps.is_current(second)
    file.write_text(file.read_text().replace("At which number", "At what number"))
    found, page = analyze_steps.report(folder)
    assert found.study.title.startswith("At what number") and "At what number" in page.read_text()
    aged(Results(folder).journal, -10)
    found, page = analyze_steps.report(folder)
    assert found.study.title.startswith("At which number") and "At what number" not in page.read_text()
    analyze_steps.analyze(folder)
    profile = folder / "profile.json"
    profile.write_text("{}")
    aged(profile, -10)
    found, _ = analyze_steps.report(folder)
    assert any(warning.startswith("profile.json: ") for warning in found.warnings)


def test_broken_or_missing_findings_are_refused_with_what_makes_them_anew(folder: Path, tmp_path: Path) -> None:
    _, file = analyze_steps.analyze(folder)
    file.write_text("{}")
    with pytest.raises(ProtocolError, match=r"findings\.json: broken findings: study: .*scalograph analyze") as refused:
        analyze_steps.report(folder)
    assert len(str(refused.value).splitlines()) == 1
    file.write_text("nothing")
    refuses(ProtocolError, "Invalid JSON", analyze_steps.report, folder)
    (empty := tmp_path / "empty").mkdir()
    refuses(ProtocolError, r"journal\.jsonl: no such file", analyze_steps.report, empty)


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
    assert shown.out.count("one run per configuration is too few to compare") == 2 and "findings.json" not in shown.out


def test_folders_are_read_in_the_order_of_their_runs(tmp_path: Path) -> None:
    made = tmp_path / "scalograph-results" / "first"
    made.mkdir(parents=True)
    for i in range(3):
        journal(made, f"2026010{i}T000000Z-aa")
    (made / "empty").mkdir()
    (made / "latest").symlink_to("20260102T000000Z-aa")
    said = scalograph(["history", "first", "--table", "left-out"], tmp_path)
    assert said.code == Exit.DONE
    assert "3 results, 1 excluded, margin 2%" in said.printed and "Inconclusive: 3 results are" in said.printed
    assert "empty: no such file" in said.printed
    refused = scalograph(["history", "second"], tmp_path)
    assert refused.code == Exit.STUDY and "one of first" in refused.printed
    (tmp_path / "alone").mkdir()
    journal(tmp_path / "alone", "only")
    assert "1 result, margin 2%\n" in scalograph(["history", "alone"], tmp_path).printed


def test_the_newest_are_those_that_began_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_command, "MOST_RESULTS", 2)
    for name, day in (("z-first", 1), ("m-second", 2), ("a-third", 3)):
        journal(tmp_path, name)
        file = tmp_path / name / "journal.jsonl"
        file.write_text(file.read_text().replace("2026-01-01T", f"2026-01-0{day}T"))
    told = json.loads(scalograph(["history", ".", "--json"], tmp_path).printed)
    assert [one["name"] for one in told["results"]] == ["m-second", "a-third"]
    assert told["left_out"] == ["1 older result: the newest 2 are read"]


def test_one_figure_is_written_and_the_others_are_named(tmp_path: Path) -> None:
    journal(tmp_path, "a")
    said = scalograph(["export", "a", "--to", "first.svg"], tmp_path)
    told = " ".join(said.printed.split())
    assert said.code == Exit.DONE and told.startswith("first.svg: figure speedup; --figure NAME writes one of ")
    others = told.partition(" writes one of ")[2].split(", ")
    assert "wall" in others and "speedup" not in others
    for name in ("wall", "speedup"):
        said = scalograph(["export", "a", "--to", f"{name}.svg", "--figure", name], tmp_path)
        assert said.code == Exit.DONE and f"figure {name};" in " ".join(said.printed.split())
    first, named, other = ((tmp_path / f"{name}.svg").read_text() for name in ("first", "speedup", "wall"))
    assert first == named != other
