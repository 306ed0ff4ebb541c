"""What is kept of a reproduction: journals that say the same, and a page whose links lead somewhere."""

import gzip
import json
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from scalograph.cli.analyze_steps import analyze
from scalograph.protocol import saved_documents
from scalograph.protocol.reproduction import Reproduction
from tests.kit import ROOT
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.refusals import refuses

EXAMPLES = ROOT / "protocol" / "examples" / "reproduction.jsonl"
TIMELINE = {"bin_ns": 10**8, "cpus": [0, 1], "busy_ns": [[10**7] * 5] * 2, "waiting_ns": [0] * 5}


@pytest.fixture
def keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.setattr(import_module("keep_example"), "STUDIES", tmp_path / "studies")
    return import_module("keep_reproduction")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished reproduction of which one part ran."""
    folder = tmp_path_factory.mktemp("finished") / "results"
    (folder / "cpu-surface").mkdir(parents=True)
    runs = [(t, {**recorded(0.5 + r / 100), "timeline": TIMELINE}) for t in CONFIGURATIONS for r in range(3)]
    write_journal(folder / "cpu-surface" / "journal.jsonl", runs)
    (folder / "cpu-surface" / "report.html").touch()
    analyze(folder / "cpu-surface")
    made = Reproduction.model_validate_json(EXAMPLES.read_text(encoding="utf-8").splitlines()[0])
    parts = [part for part in made.parts if part.study == "cpu-surface"]
    saved_documents.write_reproduction(made.model_copy(update={"parts": parts}), folder)
    return folder


@pytest.fixture
def results(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, beside a folder of studies."""
    (tmp_path / "studies").mkdir()
    return shutil.copytree(finished, tmp_path / "results")


def run(keep: ModuleType, folder: Path, *replaced: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["keep", str(folder), *replaced])
        keep.main()


def test_a_large_journal_loses_timelines_that_no_report_shows_and_nothing_else(
    keep: ModuleType, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep.keep_example, "LARGE", 0)
    run(keep, results)
    example = tmp_path / "studies" / "cpu-surface" / "example"
    assert [file.name for file in example.iterdir()] == ["journal.jsonl.gz"]
    before = (results / "cpu-surface" / "journal.jsonl").read_text().splitlines()
    after = gzip.decompress((example / "journal.jsonl.gz").read_bytes()).decode().splitlines()
    shown, n_without = keep.keep_example.shown(results / "cpu-surface"), 0
    for was, now in zip(map(json.loads, before), map(json.loads, after), strict=True):
        if was != now:
            assert was["event"] == "run" and was["run"] not in shown
            was["record"]["timeline"], n_without = None, n_without + 1
        assert was == now
    assert n_without > 0
    curves = analyze(example)[0].curves
    assert curves and curves == analyze(results / "cpu-surface")[0].curves


def test_a_journal_stays_whole_where_its_findings_would_change(
    keep: ModuleType, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep.keep_example, "LARGE", 0)
    monkeypatch.setattr(keep.keep_example, "shown", lambda _: set())
    run(keep, results)
    kept = gzip.decompress((tmp_path / "studies" / "cpu-surface" / "example" / "journal.jsonl.gz").read_bytes())
    assert kept == (results / "cpu-surface" / "journal.jsonl").read_bytes()


def test_the_kept_page_names_the_command_of_a_part_s_report(keep: ModuleType, results: Path, tmp_path: Path) -> None:
    run(keep, results)
    page = (tmp_path / "studies" / "reproduced" / "reproduce.html").read_text()
    assert "scalograph report studies/cpu-surface/example" in page and "/report.html" not in page
    assert saved_documents.read_reproduction(tmp_path / "studies" / "reproduced").parts[0].page == ""


def test_examples_stay_unless_named_and_only_finished_are_kept(keep: ModuleType, results: Path, tmp_path: Path) -> None:
    studies = tmp_path / "studies"
    own = studies / "cpu-surface" / "example" / "journal.jsonl.gz"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"own")
    run(keep, results)
    assert own.read_bytes() == b"own" and (studies / "reproduced" / "cpu-surface" / "journal.jsonl.gz").exists()
    page = (studies / "reproduced" / "reproduce.html").read_text()
    assert "scalograph report studies/reproduced/cpu-surface" in page
    run(keep, results, "cpu-surface")
    assert own.read_bytes() != b"own" and not (studies / "reproduced" / "cpu-surface").exists()
    made = saved_documents.read_reproduction(results)
    left = [made.parts[0].model_copy(update={"state": "begun"})]
    saved_documents.write_reproduction(made.model_copy(update={"parts": left}), results)
    refuses(SystemExit, r"not finished \(cpu-surface\)", run, keep, results)


def test_a_study_that_ships_keeps_what_it_came_to_by_its_own_name(
    keep: ModuleType, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = results / "cpu-surface"
    name = keep.keep_example.load(part / "journal.jsonl").study.name
    monkeypatch.setattr("sys.argv", ["keep", str(part)])
    refuses(SystemExit, f"found the study {name}, expected one in studies/", keep.keep_example.main)
    (tmp_path / "studies" / name).mkdir()
    (tmp_path / "studies" / name / "study.toml").touch()
    refuses(SystemExit, r"not finished \(None\)", keep.keep_example.main)
    with (part / "journal.jsonl").open("a") as out:
        out.write('{"event":"end","at":"2026-11-28T05:00:00.000Z","reason":"budget"}\n')
    keep.keep_example.main()
    kept = tmp_path / "studies" / name / "example" / "journal.jsonl.gz"
    assert gzip.decompress(kept.read_bytes()) == (part / "journal.jsonl").read_bytes()


def test_a_newer_result_replaces_the_kept_part_of_its_study_and_no_other(
    keep: ModuleType, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(keep, results)
    made = saved_documents.read_reproduction(tmp_path / "studies" / "reproduced")
    newer = shutil.copytree(results / "cpu-surface", tmp_path / "newer")
    lines = (newer / "journal.jsonl").read_text().splitlines(keepends=True)
    (newer / "journal.jsonl").write_text("".join(lines[:-1]))
    monkeypatch.setattr(keep.keep_example, "studied", lambda folder: folder.name)
    refuses(SystemExit, "found newer, expected parts of the kept page", keep.replace_parts, made, [str(newer)])
    monkeypatch.setattr(keep.keep_example, "studied", lambda _: "cpu-surface")
    keep.replace_parts(made, [str(newer)])
    (kept,) = (tmp_path / "studies").rglob("journal.jsonl.gz")
    assert gzip.decompress(kept.read_bytes()) == (newer / "journal.jsonl").read_bytes()
