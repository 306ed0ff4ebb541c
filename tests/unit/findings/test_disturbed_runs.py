"""Disturbed runs: results with and without them, whether configurations lost them alike, and going on by CPU time."""

from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scalograph.cli.analyze_steps import exit_code
from scalograph.findings import missing_balance
from scalograph.protocol.findings import Findings, TableDoc
from scalograph.questions.assemble import findings
from tests.kit.findings import ONE_FACTOR, Made, findings_of, point_at, table_of, texts
from tests.kit.records import recorded

CLEAN = (0.99, 1.0, 1.01, 1.0)
MANY = 40  # blocks, enough for a share to be no chance
WALLS = {1: 4.0, 2: 2.0, 4: 1.0}


def excluded_table(found: Findings) -> TableDoc:
    return next(table for table in found.tables if table.id == "excluded")


def study(lost: dict[int, float], n_blocks: int = 12) -> Made:
    """Blocks of threads 1, 2 and 4; of each, this share of the runs is disturbed, evenly over the blocks."""
    made = []
    for block in range(n_blocks):
        for n, wall in WALLS.items():
            is_lost = int((block + 1) * lost.get(n, 0.0)) > int(block * lost.get(n, 0.0))
            jitter = CLEAN[block % len(CLEAN)]
            slow = {"wall_s": 1.5 * wall * jitter, "neighbor_s": 0.5 * wall} if is_lost else {"wall_s": wall * jitter}
            made.append(({"threads": n}, recorded(**slow, cpu_s=wall, cpus=(0, 1, 2, 3))))
    return made


def test_a_study_that_leaves_nothing_out_has_no_such_table(tmp_path: Path) -> None:
    assert all(table.id != "excluded" for table in findings_of(tmp_path, study({}), ONE_FACTOR).tables)
    made = [(t, {**r, "run": {**r["run"], "neighbor_ns": 10**9}}) for t, r in study({})]
    assert all(table.id != "excluded" for table in findings_of(tmp_path, made, ONE_FACTOR).tables)


def test_each_configuration_says_what_leaving_out_did(tmp_path: Path) -> None:
    shown = excluded_table(findings_of(tmp_path, study({1: 0.25, 2: 0.5}), ONE_FACTOR))
    assert shown.title == "With and without the disturbed runs"
    assert [row[0] for row in shown.rows] == [2, 1], "the most moved first, none for what lost nothing"
    _, n, causes, without, with_all, change, beyond = shown.rows[0]
    assert (n, causes, without.n, with_all.n, beyond) == (6, "neighbor 6", 6, 12, "yes")
    assert without.value == pytest.approx(2.0, rel=0.01)
    assert change == pytest.approx(100 * (1.5**0.5 - 1), abs=1)
    assert with_all.value == pytest.approx(without.value * (1 + change / 100), rel=1e-3)
    made = [({"threads": n}, recorded(CLEAN[i % 4] / n, 1 / n, cpus=(0, 1, 2, 3))) for i in range(8) for n in WALLS]
    made[0] = ({"threads": 1}, recorded(1.0, 1.0, cpus=(0, 1, 2, 3), neighbor_s=0.3))
    (row,) = excluded_table(findings_of(tmp_path, made, ONE_FACTOR)).rows
    assert row[-1] == "no" and abs(row[-2]) < 1
    made = [*study({}), ({"threads": 1}, recorded(9.0, 90.0, cpus=(0, 1, 2, 3)))]
    (row,) = excluded_table(findings_of(tmp_path, made, ONE_FACTOR)).rows
    assert (row[0], row[2]) == (1, "CPU time 1")


def test_rows_are_bounded_and_lost_long_runs_are_a_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_balance, "MAX_ROWS", 1)
    shown = excluded_table(findings_of(tmp_path, study({1: 0.25, 2: 0.5}), ONE_FACTOR))
    assert [row[0] for row in shown.rows] == [2]
    assert "Configurations not listed: 1, changed by at most 11%. " in shown.note
    found = findings_of(tmp_path, study({1: 0.5, 2: 0.2, 4: 0.05}, MANY), ONE_FACTOR)
    told = "Longer runs were excluded more often (50% vs. 5%); times at 1 thread are probably too low"
    assert told in found.trust.causes and found.trust.level == "caution"
    assert "5% of the shortest third, 50% of the longest" in excluded_table(found).note


@pytest.mark.parametrize(("lost", "told"), [
    ({1: 0.05, 2: 0.2, 4: 0.5}, "Shorter runs were excluded more often (50% vs. 5%); times at 4 threads are "),
    ({1: 0.05, 2: 0.5, 4: 0.05}, "Runs at 2 threads were excluded most often (50% vs. 20% overall); their times are "),
], ids=["short ones", "one that stands out"])  # fmt: skip
def test_what_is_unfair_in_another_way_is_a_doubt_too(tmp_path: Path, lost: dict[int, float], told: str) -> None:
    causes = findings_of(tmp_path, study(lost, MANY), ONE_FACTOR).trust.causes
    assert f"{told}probably too low" in causes


def test_neither_lost_time_nor_repeated_runs_turn_the_shares(tmp_path: Path) -> None:
    made = []
    for block in range(MANY):
        for n, wall in ((1, 0.9), (2, 1.0), (4, 1.1)):
            slow = {"wall_s": 1.5 * wall, "neighbor_s": 0.5} if n == 1 and block % 5 < 3 else {"wall_s": wall}
            made.append(({"threads": n}, recorded(**slow, cpu_s=0.5, cpus=(0, 1, 2, 3))))
    causes = findings_of(tmp_path, made, ONE_FACTOR).trust.causes
    assert any(text.startswith("Shorter runs were excluded more often (60% vs. 0%)") for text in causes)
    read = table_of(tmp_path, study({1: 0.5, 2: 0.2, 4: 0.05}, MANY), ONE_FACTOR)
    again: list[Any] = [
        replace(row, run=f"{row.run}r{i}", is_planned=False, verdict="clean", causes=())
        for row in read.rows
        if row.verdict == "disturbed"
        for i in (1, 2, 3)
    ]
    read.rows.extend(again)
    assert any("(50% vs. 5%)" in text for text in findings(read).trust.causes)


@pytest.mark.parametrize(("share", "told"), [
    ({1: 0.3, 2: 0.3, 4: 0.3}, "Each configuration: 30% of its runs excluded"),
    ({1: 0.1, 2: 0.05, 4: 0.05}, "5% to 10% of the runs excluded; too few outside of busy blocks"),
    ({1: 0.3, 2: 0.25, 4: 0.2}, "as uneven as by chance"),
], ids=["alike", "few", "nearly"])  # fmt: skip
def test_shares_that_chance_makes_are_no_doubt(tmp_path: Path, share: dict[int, float], told: str) -> None:
    found = findings_of(tmp_path, study(share, MANY), ONE_FACTOR)
    assert not any("excluded more" in text for text in found.trust.causes)
    assert told in excluded_table(found).note


N_BLOCKS = 8


def busy_study(n_disturbed: int, n_impossible: int = 0) -> Made:
    """Blocks of threads 1 and 2; the last of the blocks are disturbed: twice the time, and 1% more CPU time."""
    made = []
    for block in range(N_BLOCKS):
        for n in (1, 2):
            busy = block >= N_BLOCKS - n_disturbed
            wall, cpu = (2.0 / n, 1.01) if busy else ((1 + block / 1000) / n, 1.0)
            cpu = 50.0 if block < n_impossible else cpu
            made.append(({"threads": n}, recorded(wall, cpu, cpus=(0, 1, 2, 3), neighbor_s=1.0 if busy else 0.0)))
    return made


def busy_findings(tmp_path: Path, made: Made, when_busy: str = "cpu-time", text: str = ONE_FACTOR) -> Findings:
    read = table_of(tmp_path, made, text)
    protocol = read.study.protocol.model_copy(update={"when_busy": when_busy})
    return findings(changed(read, study=read.study.model_copy(update={"protocol": protocol})))


def test_cpu_times_count_disturbed_runs_and_wall_times_do_not(tmp_path: Path) -> None:
    shown = point_at(busy_findings(tmp_path, busy_study(3)), 2).responses
    assert (shown["cpu"].estimate.n, shown["wall"].estimate.n) == (8, 5)
    assert shown["wall"].estimate.value == pytest.approx(0.501, abs=0.001)
    assert shown["cpu"].estimate.value == pytest.approx(1.004, abs=0.001)
    told = busy_findings(tmp_path, busy_study(3))
    assert texts(point_at(told, 2).flags) == ["3 of 8 runs disturbed, excluded from all but CPU times"]
    assert "used" in told.trust.codes
    shown = point_at(busy_findings(tmp_path, busy_study(3, n_impossible=2)), 2).responses
    assert (shown["cpu"].estimate.n, shown["wall"].estimate.n) == (6, 3)


@pytest.mark.parametrize("when_busy", ["report", "stop"])
def test_otherwise_both_leave_them_out(tmp_path: Path, when_busy: str) -> None:
    shown = point_at(busy_findings(tmp_path, busy_study(3), when_busy), 2).responses
    assert (shown["cpu"].estimate.n, shown["wall"].estimate.n) == (5, 5)


def test_too_busy_is_a_doubt_by_cpu_time_and_a_reject_otherwise(tmp_path: Path) -> None:
    by_cpu = busy_findings(tmp_path, busy_study(6)).trust
    assert (by_cpu.level, by_cpu.responses) == ("caution", {"wall": "unusable", "cpu": "reliable"})
    assert by_cpu.codes[0] == "busy" and by_cpu.sentence.startswith("12 of 16 runs were disturbed; only CPU times")
    rejected = busy_findings(tmp_path, busy_study(6), "report").trust
    assert (rejected.level, rejected.responses) == ("unusable", {})
    text = ONE_FACTOR + '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n'
    assert busy_findings(tmp_path, busy_study(6), text=text).trust.level == "unusable"
    text = ONE_FACTOR + '\n[responses.cpu]\nfrom = "window.cpu"\nunit = "s"\n'
    assert exit_code(busy_findings(tmp_path, busy_study(6), text=text)) == 0
    assert exit_code(busy_findings(tmp_path, busy_study(6), "report", text)) == 5


@pytest.mark.parametrize(("n_blocks", "is_rejected"), [(4, False), (5, True)])
def test_a_claim_is_withheld_where_its_runs_are_rejected(tmp_path: Path, n_blocks: int, is_rejected: bool) -> None:
    told = busy_findings(tmp_path, busy_study(n_blocks), "report")
    assert (told.trust.level == "unusable") is is_rejected
    assert told.claim and ("were disturbed" in told.claim.sentences[0]) is is_rejected


@pytest.mark.parametrize(("when_busy", "is_doubted"), [("cpu-time", False), ("report", True)])
def test_runs_that_count_are_not_lost(tmp_path: Path, when_busy: str, is_doubted: bool) -> None:
    text = ONE_FACTOR + '\n[responses.cpu]\nfrom = "window.cpu"\nunit = "s"\n'
    ((_, clean), *_) = busy_study(0)
    made = 2 * [(t, run if t["threads"] == 1 else clean) for t, run in busy_study(6)]
    causes = busy_findings(tmp_path, made, when_busy, text).trust.causes
    assert any("were excluded more often" in cause for cause in causes) is is_doubted
