"""A study that goes on by CPU time where the machine is busy."""

from dataclasses import replace
from pathlib import Path

import pytest

from scalograph.cli.analyze_steps import exit_code
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from tests.kit.findings import ONE_FACTOR, Made, point_at, table_of, texts
from tests.kit.records import recorded

N_BLOCKS = 8


def study(n_disturbed: int, n_impossible: int = 0) -> Made:
    """Blocks of threads 1 and 2; the last of the blocks are disturbed: twice the time, and 1 % more CPU time."""
    made = []
    for block in range(N_BLOCKS):
        for n in (1, 2):
            busy = block >= N_BLOCKS - n_disturbed
            wall, cpu = (2.0 / n, 1.01) if busy else ((1 + block / 1000) / n, 1.0)
            cpu = 50.0 if block < n_impossible else cpu
            made.append(({"threads": n}, recorded(wall, cpu, cpus=(0, 1, 2, 3), neighbor_s=1.0 if busy else 0.0)))
    return made


def found(tmp_path: Path, made: Made, when_busy: str = "cpu-time", text: str = ONE_FACTOR) -> Findings:
    read = table_of(tmp_path, made, text)
    protocol = read.study.protocol.model_copy(update={"when_busy": when_busy})
    return findings(replace(read, study=read.study.model_copy(update={"protocol": protocol})))


def test_cpu_times_count_disturbed_runs_and_wall_times_do_not(tmp_path: Path) -> None:
    shown = point_at(found(tmp_path, study(3)), 2).responses
    assert (shown["cpu"].estimate.n, shown["wall"].estimate.n) == (8, 5)
    assert shown["wall"].estimate.value == pytest.approx(0.501, abs=0.001)
    assert shown["cpu"].estimate.value == pytest.approx(1.004, abs=0.001)
    told = found(tmp_path, study(3))
    assert texts(point_at(told, 2).flags) == ["3 of 8 runs disturbed, left out of all but CPU times"]
    assert any("left out (neighbor)" in point for point in told.trust.points)
    shown = point_at(found(tmp_path, study(3, n_impossible=2)), 2).responses
    assert (shown["cpu"].estimate.n, shown["wall"].estimate.n) == (6, 3)


@pytest.mark.parametrize("when_busy", ["report", "stop"])
def test_otherwise_both_leave_them_out(tmp_path: Path, when_busy: str) -> None:
    shown = point_at(found(tmp_path, study(3), when_busy), 2).responses
    assert (shown["cpu"].estimate.n, shown["wall"].estimate.n) == (5, 5)


def test_too_busy_is_a_doubt_by_cpu_time_and_a_reject_otherwise(tmp_path: Path) -> None:
    by_cpu = found(tmp_path, study(6)).trust
    assert (by_cpu.level, by_cpu.responses) == ("doubt", {"wall": "reject", "cpu": "believe"})
    assert by_cpu.sentence.startswith("12 of 16 runs were disturbed: believe CPU times")
    rejected = found(tmp_path, study(6), "report").trust
    assert (rejected.level, rejected.responses) == ("reject", {})
    text = ONE_FACTOR + '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n'
    assert found(tmp_path, study(6), text=text).trust.level == "reject"
    text = ONE_FACTOR + '\n[responses.cpu]\nfrom = "window.cpu"\nunit = "s"\n'
    assert exit_code(found(tmp_path, study(6), text=text)) == 0
    assert exit_code(found(tmp_path, study(6), "report", text)) == 5


@pytest.mark.parametrize(("n_blocks", "is_rejected"), [(4, False), (5, True)])
def test_a_claim_is_withheld_where_the_verdict_rejects_its_runs(
    tmp_path: Path, n_blocks: int, is_rejected: bool
) -> None:
    told = found(tmp_path, study(n_blocks), "report")
    assert (told.trust.level == "reject") is is_rejected
    assert told.claim and ("were disturbed" in told.claim.sentences[0]) is is_rejected


@pytest.mark.parametrize(("when_busy", "is_doubted"), [("cpu-time", False), ("report", True)])
def test_runs_that_count_are_not_lost(tmp_path: Path, when_busy: str, is_doubted: bool) -> None:
    text = ONE_FACTOR + '\n[responses.cpu]\nfrom = "window.cpu"\nunit = "s"\n'
    ((_, clean), *_) = study(0)
    made = 2 * [(t, run if t["threads"] == 1 else clean) for t, run in study(6)]
    causes = found(tmp_path, made, when_busy, text).trust.causes
    assert any("were lost more often" in cause for cause in causes) is is_doubted
