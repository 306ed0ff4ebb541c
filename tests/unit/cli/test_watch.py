"""`scalograph watch` of a folder of many results, and the index that it keeps."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scalograph.cli.many_results import result_summaries
from scalograph.cli.many_results.result_summaries import read_summaries
from scalograph.cli.watch_command import parse_since
from scalograph.errors import Exit, StudyError
from scalograph.exchange.compare.summarize import summarize
from scalograph.protocol.result_summary import NAME, ResultSummary, decode_note, encode_note, read_index
from scalograph.run.commit_notes import REF
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


AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a"}


def git(home: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", home, *words], env={**os.environ, **AUTHOR}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def noted(folder: Path, tmp_path: Path) -> Path:
    """A repository of two commits, without an author, whose notes hold the results before the change and after it."""
    git(tmp_path, "init", "-q", "-b", "main", "repository")
    for name in ("before", "after"):
        git(tmp_path / "repository", "commit", "-q", "--allow-empty", "-m", name)
        (tmp_path / name).mkdir()
    for i, result in enumerate(sorted(folder.iterdir(), key=lambda path: path.name.startswith(COMMIT))):
        day = json.loads((result / "first" / "findings.json").read_text())["runs"]["started"][8:10]
        result.rename(tmp_path / ("before" if int(day) < 9 else "after") / f"result{i}")
    words = ["--as", "notes", "--to", "repository", "--link", "https://example.org/1?a&b"]
    for name, revision in (("before", "HEAD~1"), ("after", "HEAD")):
        done = scalograph(["export", name, *words, "--commit", revision], tmp_path)
        assert done.code == Exit.DONE and f"push origin {REF}" in done.printed
    return tmp_path / "repository"


def test_results_noted_on_commits_are_watched_like_those_of_a_folder(noted: Path) -> None:
    words = ["watch", "--notes", "repository", "--since", "2026-01-08", "--json"]
    done = scalograph(words, noted.parent)
    document = json.loads(done.printed)
    ((change,), points) = document["series"][0]["changes"], document["series"][0]["points"]
    assert done.code == Exit.SLOWER and (change["at"], len(points)) == (8, 12)
    assert change["commit"] == git(noted, "rev-parse", "HEAD")
    again = ["export", "after", "--as", "notes", "--to", "repository"]
    assert "4 results" in scalograph(again, noted.parent).printed
    both = ["watch", "after", *words[1:]]
    assert json.loads(scalograph(both, noted.parent).printed)["n_results"] == 12, "a result counts once"
    assert git(noted, "status", "--porcelain") == "" and git(noted, "log", "--format=%s") == "after\nbefore"


def test_a_site_of_notes_leads_to_the_page_of_each_job(noted: Path) -> None:
    done = scalograph(["site", "--notes", "repository", "--to", "public"], noted.parent)
    page = (noted.parent / "public" / "hello.html").read_text()
    assert done.code == Exit.DONE and page.count('href="https://example.org/1?a&amp;b"') >= 12
    assert not (noted.parent / "public" / "results").exists()


def test_a_note_of_anybody_is_data(noted: Path) -> None:
    good = git(noted, "notes", f"--ref={REF}", "show", "HEAD").splitlines()[0]
    changes = {'"https': '"javascript', '"verdict":"': '"verdict":"x', '"logs":[': '"logs":[1e999,',
               '"protocol":1': '"protocol":2', '"study":"hello"': '"study":""'}  # fmt: skip
    lines = [good.replace("verdict", "v"), *(good.replace(old, new) for old, new in changes.items() if old in good)]
    lines += ["[" * 9999, "{}", "\x1b[2J", "commit 0123"]
    git(noted, "notes", f"--ref={REF}", "add", "-f", "-m", "\n".join(lines), "HEAD")
    done = scalograph(["watch", "--notes", "repository", "--table", "left-out"], noted.parent)
    assert "Traceback" not in done.printed and "\x1b" not in done.printed and "protocol 2, expected 1" in done.printed
    assert done.printed.count("note on") >= 6


def test_a_line_of_a_note_is_what_was_written() -> None:
    summary = ResultSummary(folder="a", study="first", names=("n=1", "n=2"), logs=(0.5, -1.5), coefficients={"knee": 4})
    line = encode_note(summary, "")
    assert "\n" not in line and decode_note(line) == ResultSummary(
        folder="", study="first", names=("n=1", "n=2"), logs=(0.5, -1.5), coefficients={"knee": 4}, link=""
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [(["watch"], "RESULTS: no results"), (["watch", "--notes", "absent"], "git says"),
     (["watch", "--notes", "bare"], f"no notes in {REF}"),
     (["export", "results/day01", "--as", "notes", "--to", "bare"], 'revision "HEAD"'),
     (["export", "results", "--as", "notes", "--to", "bare", "--link", "javascript:1"], "--link javascript:1")],
)  # fmt: skip
def test_what_cannot_be_noted_or_read_is_one_message(folder: Path, tmp_path: Path, words: list[str], text: str) -> None:
    git(tmp_path, "init", "-q", "bare")
    done = scalograph(words, tmp_path)
    assert done.code == Exit.STUDY and text in done.printed and "Traceback" not in done.printed


def test_an_acknowledged_change_alarms_nobody_until_another_one(folder: Path, tmp_path: Path) -> None:
    words = ["watch", "results", "--since", "2026-01-08"]
    known = f'[[note]]\ntext = "a safer allocator"\nacknowledged = true\ncommit = "{COMMIT}"\n'
    (folder / "annotations.toml").write_text(known)
    done = scalograph(words, tmp_path)
    assert done.code == Exit.DONE and "1 change, acknowledged" in " ".join(done.printed.split())
    assert "a safer allocator" in scalograph([*words, "--table", "changes"], tmp_path).printed
    scalograph(["site", "results", "--reports", "0", *words[2:]], tmp_path)
    assert "; acknowledged: a safer allocator" in (tmp_path / "public" / "hello.html").read_text()
    (folder / "annotations.toml").write_text(known.replace(COMMIT, "1234567"))
    assert scalograph(words, tmp_path).code == Exit.SLOWER
