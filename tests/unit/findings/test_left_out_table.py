"""Results with and without the disturbed runs, and whether configurations lost them alike."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scalograph.findings import missing_balance
from scalograph.protocol.findings import Findings, TableDoc
from scalograph.questions.assemble import findings
from tests.kit.findings import ONE_FACTOR, Made, findings_of, table_of
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
    assert "; 1 more configuration changes by at most 11 %; " in shown.note
    found = findings_of(tmp_path, study({1: 0.5, 2: 0.2, 4: 0.05}, MANY), ONE_FACTOR)
    told = "longer runs were lost more often (50 % against 5 %): read those at 1 thread as optimistic"
    assert told in found.trust.causes and found.trust.level == "doubt"
    assert "5 % of the third that runs shortest, 50 % of the one that runs longest" in excluded_table(found).note


@pytest.mark.parametrize(("lost", "told"), [
    ({1: 0.05, 2: 0.2, 4: 0.5}, "shorter runs were lost more often (50 % against 5 %): read those at 4 threads"),
    ({1: 0.05, 2: 0.5, 4: 0.05}, "runs at 2 threads were lost most often (50 % against 20 % of all): read them"),
], ids=["short ones", "one that stands out"])  # fmt: skip
def test_what_is_unfair_in_another_way_is_a_doubt_too(tmp_path: Path, lost: dict[int, float], told: str) -> None:
    causes = findings_of(tmp_path, study(lost, MANY), ONE_FACTOR).trust.causes
    assert f"{told} as optimistic" in causes


def test_neither_lost_time_nor_repeated_runs_turn_the_shares(tmp_path: Path) -> None:
    made = []
    for block in range(MANY):
        for n, wall in ((1, 0.9), (2, 1.0), (4, 1.1)):
            slow = {"wall_s": 1.5 * wall, "neighbor_s": 0.5} if n == 1 and block % 5 < 3 else {"wall_s": wall}
            made.append(({"threads": n}, recorded(**slow, cpu_s=0.5, cpus=(0, 1, 2, 3))))
    causes = findings_of(tmp_path, made, ONE_FACTOR).trust.causes
    assert any(text.startswith("shorter runs were lost more often (60 % against 0 %)") for text in causes)
    read = table_of(tmp_path, study({1: 0.5, 2: 0.2, 4: 0.05}, MANY), ONE_FACTOR)
    again: list[Any] = [
        replace(row, run=f"{row.run}r{i}", is_planned=False, verdict="clean", causes=())
        for row in read.rows
        if row.verdict == "disturbed"
        for i in (1, 2, 3)
    ]
    read.rows.extend(again)
    assert any("(50 % against 5 %)" in text for text in findings(read).trust.causes)


@pytest.mark.parametrize(("share", "told"), [
    ({1: 0.3, 2: 0.3, 4: 0.3}, "each configuration lost 30 % of its runs"),
    ({1: 0.1, 2: 0.05, 4: 0.05}, "5 % to 10 % of their runs: too few outside of busy blocks to tell whether"),
    ({1: 0.3, 2: 0.25, 4: 0.2}, "no more unlike than chance makes them"),
], ids=["alike", "few", "nearly"])  # fmt: skip
def test_shares_that_chance_makes_are_no_doubt(tmp_path: Path, share: dict[int, float], told: str) -> None:
    found = findings_of(tmp_path, study(share, MANY), ONE_FACTOR)
    assert not any("lost more" in text for text in found.trust.causes)
    assert told in excluded_table(found).note
