"""The document beside a journal: its tables after those of the study, and nothing of it where it is none."""

from pathlib import Path

import pytest

from scalograph.profile.profile_tables import profiled, tables
from scalograph.profile.values import (
    FILE,
    MAX_BYTES,
    Profile,
    Profiled,
    RecordedTasks,
    Stack,
    Waited,
    Waits,
)
from scalograph.protocol.findings import Findings
from scalograph.report.cells import sheet

from ..findings.made import ONE_FACTOR, found_in
from ..records import recorded

PARKS = Waits(n=30, mean_s=0.002, on=(Waited(on="java.util.concurrent.ForkJoinPool", n=30, mean_s=0.002),))
STACKS = (Stack(frames=("a.b.C.d", "a.E.f", "G.h", "I.j"), n=150, share=0.75),)
SEEN = RecordedTasks(n_samples=200, stacks=STACKS, parks=PARKS)


@pytest.fixture
def study(tmp_path: Path) -> Findings:
    return found_in(tmp_path, [({"threads": n}, recorded()) for n in (1, 2)], ONE_FACTOR)


def profile(study_hash: str) -> Profile:
    ran = Profiled(
        treatment={"threads": 2}, n_tasks=10, n_iterations=12, seen=SEEN, switches=24, preemptions=6, score=3.0,
        measured=2.0,
    )  # fmt: skip
    lacking = Profiled(treatment={"threads": 1}, reason="the JVM 8 is release 8")
    return Profile(study="small", study_hash=study_hash, at="", period_s=0.01, profiled=(lacking, ran))


def test_tables_tell_stacks_parks_and_switches() -> None:
    stacks, methods, waits = map(sheet, tables(profile("0" * 64)))
    lacking, ran = ([str(cell) for cell in row] for row in stacks.rows)
    assert lacking[0] == "1" and lacking[-1] == "not profiled: the JVM 8 is release 8"
    assert ran[:4] == ["2", "200", "75", "C.d < E.f < G.h"] and ran[4].strip() == "1.5"
    assert methods.rows == []
    told = {str(heading): str(cell) for heading, cell in zip(waits.headings, waits.rows[0], strict=True)}
    assert told == {
        "threads": "2", "parks a task": "3", "mean park (ms)": "2", "parked for, a task": "ForkJoinPool 3",
        "switches an iteration": "2", "preemptions an iteration": "0.5",
    }  # fmt: skip


def test_a_valid_profile_comes_after_the_tables_of_its_study(study: Findings, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(profile(study.study.hash).model_dump_json())
    found = profiled(study, tmp_path)
    assert [table.id for table in found.tables[len(study.tables) :]] == ["profile", "profile-methods", "profile-waits"]
    assert found.warnings == study.warnings and found.answer == study.answer
    assert profiled(study, None) == study


@pytest.mark.parametrize("content", ["", "[]", '{"protocol": 2}', "x" * (MAX_BYTES + 1), "\0", "another study"])
def test_what_is_no_profile_of_this_study_is_a_warning(study: Findings, tmp_path: Path, content: str) -> None:
    other = profile("1" * 64).model_dump_json() if content == "another study" else content
    (tmp_path / FILE).write_text(other)
    found = profiled(study, tmp_path)
    assert found.tables == study.tables
    (warning,) = found.warnings[len(study.warnings) :]
    assert warning.startswith(FILE) and "expected" in warning


def test_numbers_that_no_run_has_are_refused(study: Findings, tmp_path: Path) -> None:
    text = profile(study.study.hash).model_dump_json()
    assert '"share":0.75' in text
    (tmp_path / FILE).write_text(text.replace('"share":0.75', '"share":75'))
    assert "share" in profiled(study, tmp_path).warnings[-1]
