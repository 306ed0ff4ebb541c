"""What may be resumed, and what may not; that nothing is lost by a kill is test_campaigns."""

import re
from pathlib import Path

import pytest

from scalograph.findings import table
from tests.kit.command import in_process
from tests.kit.results import complete, events_in, run_names_in

pytestmark = pytest.mark.guarantee
RESUME = ("run", "study.toml", "-o", "results", "--resume")


def blocks_of(folder: Path) -> set[str]:
    return {str(run)[:5] for run in run_names_in(folder)}


# A file of a finished study, what is edited in it, which differences are accepted, and what is said.
DIFFERENT = [
    ("study.toml", '"1,2"', '"1,2,3"', ["study_hash", "configurations"], ["resume: configurations", "start anew"]),
    ("study.toml", "runs = 2", "runs = 3", [], ["study.protocol.runs: now 3, expected 2 as in the journal"]),
    ("prog", "exit 0", "exit 0 # edited", [], ["resume: study_hash"]),
    ("results/journal.jsonl", r'"cpu_model":\s*"[^"]*"', '"cpu_model":"Another CPU"', [],
     ["resume: cpu_model", "--accept-difference cpu_model"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "accepted", "told"), DIFFERENT)
def test_what_differs_does_not_resume_and_the_difference_is_shown(
    finished: Path, tmp_path: Path, name: str, old: str, new: str, accepted: list[str], told: list[str]
) -> None:
    text = (tmp_path / name).read_text()
    edited = re.sub(old, new, text, count=1)
    assert edited != text
    (tmp_path / name).write_text(edited)
    before = (finished / "journal.jsonl").read_bytes()
    options = [word for difference in accepted for word in ("--accept-difference", difference)]
    said = " ".join(complete(*RESUME, *options, cwd=tmp_path, codes=(2,)).stderr.split())
    assert [words for words in told if words not in said] == []
    assert (finished / "journal.jsonl").read_bytes() == before


def test_a_changed_study_resumes_where_the_difference_is_accepted(finished: Path, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace("runs = 2", "runs = 3"))
    complete(*RESUME, "--accept-difference", "study_hash", cwd=tmp_path)
    assert [event["accepted"] for event in events_in(finished, "resume")] == [["study_hash"]]


def test_a_finished_study_gets_further_runs_and_then_resumes_to_nothing(finished: Path, tmp_path: Path) -> None:
    before, ended = run_names_in(finished), table.load(finished / "journal.jsonl").ended
    again = complete(*RESUME, cwd=tmp_path)
    assert f"nothing left to run, {len(before)} runs done before" in again.stderr
    assert run_names_in(finished) == before and events_in(finished)[-1]["event"] == "end"
    assert table.load(finished / "journal.jsonl").ended == ended
    complete(*RESUME, "--runs", "4", cwd=tmp_path)
    after = run_names_in(finished)
    assert after[: len(before)] == before and blocks_of(finished) == {f"b000{block}" for block in range(4)}
    assert {tuple(event["accepted"]) for event in events_in(finished, "resume")} == {()}
    plain = in_process(*RESUME, cwd=tmp_path)
    assert "nothing left to run" in plain.stderr and run_names_in(finished) == after
    assert set(table.load(finished / "journal.jsonl").n_asked) == {4}


def test_further_runs_that_were_interrupted_go_on(finished: Path, tmp_path: Path) -> None:
    n = len(run_names_in(finished))
    in_process(*RESUME, "--runs", "4", "--max-runs", str(n + 2), cwd=tmp_path)
    assert n < len(run_names_in(finished)) and "b0003" not in blocks_of(finished)
    in_process(*RESUME, cwd=tmp_path)
    assert blocks_of(finished) == {f"b000{block}" for block in range(4)}
