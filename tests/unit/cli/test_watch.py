"""`scalograph watch` of a folder of many results, and the index that it keeps."""

import json
import os
import shutil
from pathlib import Path

import pytest

from scalograph.cli.many_results import result_summaries
from scalograph.cli.many_results.result_summaries import read_summaries
from scalograph.cli.watch_command import parse_since
from scalograph.errors import Exit, StudyError
from scalograph.exchange.compare.summarize import summarize
from scalograph.protocol.result_summary import NAME, read_index
from tests.golden.command import scalograph
from tests.kit.findings import ONE_FACTOR, findings_of, runs_of, write_journal
from tests.kit.records import recorded

COMMIT = "3f2c1a9b00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve results, one a day, of which the last four take 30% longer; one below a commit."""
    for i in range(12):
        level = (1.3 if i >= 8 else 1.0) * (1 + 0.002 * (i % 3))
        made = tmp_path / "results" / (f"{COMMIT}{i:x}" if i == 8 else f"day{i:02}") / "first"
        made.mkdir(parents=True)
        found = findings_of(tmp_path, runs_of({1: 8.0 * level, 2: 4.2 * level}, 4), ONE_FACTOR)
        found.runs.started = f"2026-01-{i + 1:02}T00:00:00Z"
        (made / "findings.json").write_text(found.model_dump_json())
    return tmp_path / "results"


def test_a_change_for_the_worse_ends_in_7_and_ci_gets_its_files(folder: Path, tmp_path: Path) -> None:
    words = ["watch", "results", "--since", "2026-01-08", "--summary", "sum.md", "--junit", "watch.xml"]
    done = scalograph(words, tmp_path)
    text = " ".join(done.printed.split())
    assert done.code == Exit.SLOWER and "became worse since 2026-01-08" in text and f"{COMMIT} " in text
    assert len(done.printed.splitlines()) <= 25
    assert "### worse: What became worse" in (tmp_path / "sum.md").read_text()
    assert "<failure" in (tmp_path / "watch.xml").read_text()
    document = json.loads(scalograph([*words[:4], "--json"], tmp_path).printed)
    assert document["n_results"] == 12 and document["series"][0]["changes"][0]["at"] == 8
    steady = scalograph(["watch", "results", "--since", "2026-01-11", "--markdown"], tmp_path)
    assert steady.code == Exit.DONE and "### What became worse" in steady.printed


def test_only_what_changed_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = read_summaries(folder)
    read = []
    summarize = result_summaries.summarize
    monkeypatch.setattr(result_summaries, "summarize", lambda *a: read.append(a[1]) or summarize(*a))
    assert read_summaries(folder)[0] == first and read == []
    os.utime(folder / "day03" / "first" / "findings.json", (1, 1))
    assert read_summaries(folder)[0] == first and read == ["day03/first"]
    (folder / NAME).unlink()
    assert read_summaries(folder)[0] == first and len(read) == 13
    (folder / NAME).write_text((folder / NAME).read_text()[:-9])
    assert read_index(folder / NAME) == {} and read_summaries(folder)[0] == first and len(read) == 25


def test_what_is_no_result_is_named_and_a_foreign_file_is_kept(folder: Path, tmp_path: Path) -> None:
    (folder / "hyperfine.json").write_text("{}")
    (folder / "broken").mkdir()
    (folder / "broken" / "findings.json").write_text("{")
    (folder / NAME).write_text("mine\n")
    shutil.copytree(folder / "day01", folder / os.fsdecode(b"\xff"))
    summaries, left_out = read_summaries(folder)
    assert (folder / NAME).read_text() == "mine\n"
    assert left_out == [
        r"\udcff/first: its name is not UTF-8", "hyperfine.json: a file of another format; see scalograph compare",
        "index.jsonl: another program wrote it; the index is not saved",
    ]  # fmt: skip
    assert [s.folder for s in summaries if s.unread] == ["broken"]
    assert "broken: broken findings" in scalograph(["watch", "results", "--table", "left-out"], tmp_path).printed


@pytest.mark.parametrize(
    ("words", "text"),
    [(["empty"], "empty: no results in it"), (["absent"], "absent: no such folder"),
     (["file"], "file: is not a folder"),
     (["empty", "--since", "soon"], "--since soon is not valid"), (["empty", "--margin", "x"], "--margin x")],
)  # fmt: skip
def test_bad_input_is_one_message(tmp_path: Path, words: list[str], text: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    done = scalograph(["watch", *words], tmp_path)
    assert done.code == Exit.STUDY and text in done.printed


def test_a_time_is_days_weeks_or_a_date() -> None:
    assert parse_since("30d", 1e9) == 1e9 - 30 * 86400 and parse_since("2026-01-01", 0) == 1767225600
    for text in ("", "d", "-3d", "30", "1e9d", "\N{SUPERSCRIPT TWO}d"):
        with pytest.raises(StudyError):
            parse_since(text, 0)


def test_a_journal_alone_is_read_and_a_result_itself_keeps_no_index(tmp_path: Path) -> None:
    made = tmp_path / "a" / "b"
    made.mkdir(parents=True)
    uses = {"program": {"path": "/bin/true", "bytes": 1, "sha256": "ab" * 32}}
    machine = {"n_cpus": 2, "cpu_model": "AMD EPYC", "kernel": "6.18"}
    runs = [({"threads": n, "lock": lock}, recorded(1.0)) for n in (1, 2, 4) for lock in ("none", "cas")] * 3
    write_journal(made / "journal.jsonl", runs, uses=uses, machine=machine)
    ((summary,), left_out) = read_summaries(tmp_path / "a")
    assert not left_out and len(summary.names) == 6 and summary.lane == "2 CPUs, AMD EPYC"
    assert summary.facts["program"] == "ab" * 6 and summary.facts["kernel"] == "6.18"
    assert (tmp_path / "a" / NAME).is_file()
    ((again,), _) = read_summaries(made)
    assert again.folder == "." and again.logs == summary.logs and not (made / NAME).exists()


def test_a_summary_has_the_coefficients_of_all_curves(tmp_path: Path) -> None:
    times = {n: 8.0 * (0.1 + 0.9 / n + 0.004 * (n - 1)) for n in (1, 2, 4, 8, 16)}
    text = ONE_FACTOR.replace('levels = "1,2,4"', 'levels = "1,2,4,8,16"')
    summary = summarize(findings_of(tmp_path, runs_of(times, 6, spread=0.002), text), f"{COMMIT}/x")
    assert summary.commit == COMMIT and summary.coefficients["best level"] == 16
    assert summary.coefficients["sigma"] == pytest.approx(0.1, abs=0.03)
    assert summary.coefficients["kappa"] == pytest.approx(0.004, abs=0.002)
    assert summary.coefficients["peak"] == pytest.approx(15, abs=4)
