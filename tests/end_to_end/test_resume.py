"""What may be resumed, and what may not; that nothing is lost by a kill is test_kills."""

from pathlib import Path

import pytest

from scalograph.findings import table
from tests.kit.command import in_process, study
from tests.kit.results import complete, events_in, run_names_in

pytestmark = pytest.mark.guarantee


def test_other_factors_are_another_study(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]')
    complete("run", file, "-o", "results", cwd=tmp_path)
    before = (tmp_path / "results" / "journal.jsonl").read_bytes()
    file.write_text(file.read_text().replace('"1,2"', '"1,2,3"'))
    accept = ["--accept-difference", "study_hash", "--accept-difference", "configurations"]
    again = complete("run", file, "-o", "results", "--resume", *accept, cwd=tmp_path, codes=(2,))
    assert "resume: configurations" in again.stderr and "start anew" in again.stderr
    assert (tmp_path / "results" / "journal.jsonl").read_bytes() == before


def test_a_finished_study_gets_further_runs(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]', runs=2)
    complete("run", file, "-o", "results", cwd=tmp_path)
    before = run_names_in(tmp_path / "results")
    complete("run", file, "-o", "results", "--resume", "--runs", "4", cwd=tmp_path)
    after = run_names_in(tmp_path / "results")
    assert after[: len(before)] == before and {str(run)[:5] for run in after} == {f"b000{block}" for block in range(4)}
    assert [event["accepted"] for event in events_in(tmp_path / "results", "resume")] == [[]]
    plain = in_process("run", file, "-o", "results", "--resume", cwd=tmp_path)
    assert "nothing left to run" in plain.stderr and run_names_in(tmp_path / "results") == after
    assert set(table.load(tmp_path / "results" / "journal.jsonl").n_asked) == {4}


def test_further_runs_that_were_interrupted_go_on(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]', runs=2)
    complete("run", file, "-o", "results", cwd=tmp_path)
    n, results = len(run_names_in(tmp_path / "results")), tmp_path / "results"
    in_process("run", file, "-o", "results", "--resume", "--runs", "4", "--max-runs", str(n + 2), cwd=tmp_path)
    assert n < len(run_names_in(results)) and all("b0003" not in str(run) for run in run_names_in(results))
    in_process("run", file, "-o", "results", "--resume", cwd=tmp_path)
    assert {str(run)[:5] for run in run_names_in(results)} == {f"b000{block}" for block in range(4)}


def test_an_edited_program_is_another_study(tmp_path: Path) -> None:
    program = tmp_path / "prog"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = study(tmp_path, '["./prog", "{n}"]')
    complete("run", file, "-o", "results", cwd=tmp_path)
    program.write_text("#!/bin/sh\nexit 0\n")
    again = complete("run", file, "-o", "results", "--resume", cwd=tmp_path, codes=(2,))
    assert "resume: study_hash" in again.stderr


def test_a_finished_study_resumes_to_nothing(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]')
    complete("run", file, "-o", "results", cwd=tmp_path)
    before = run_names_in(tmp_path / "results")
    ended = table.load(tmp_path / "results" / "journal.jsonl").ended
    again = complete("run", file, "-o", "results", "--resume", cwd=tmp_path)
    assert f"nothing left to run, {len(before)} runs done before" in again.stderr
    assert run_names_in(tmp_path / "results") == before
    assert events_in(tmp_path / "results")[-1]["event"] == "end"
    assert table.load(tmp_path / "results" / "journal.jsonl").ended == ended
