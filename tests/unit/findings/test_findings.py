from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from scalograph.findings import table
from scalograph.findings.run_notes import Note
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from tests.kit.findings import CONFIGURATIONS, ONE_FACTOR, table_of, texts, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID

# Seconds by (threads, lock): `none` scales, `cas` collapses.
TRUTH = {(1, "none"): 1.0, (2, "none"): 0.5, (4, "none"): 0.25, (1, "cas"): 1.0, (2, "cas"): 2.0, (4, "cas"): 4.0}
JITTER = (0.99, 1.0, 1.01)


def runs(**changes: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [
        (t, recorded(j * TRUTH[t["threads"], t["lock"]], cpus=(0, 1, 2, 3), **changes))
        for j in JITTER
        for t in CONFIGURATIONS
    ]


def of(tmp_path: Path, made: list[tuple[dict[str, Any], dict[str, Any]]], text: str = VALID) -> Findings:
    return findings(table.load(write_journal(tmp_path / "journal.jsonl", made, text)), tmp_path)


def point(found: Findings, lock: str, threads: int) -> Any:
    (curve,) = [c for c in found.curves if c.group == {"lock": lock}]
    (chosen,) = [p for p in curve.points if p.level == threads]
    return chosen


def test_speedups_are_the_declared_truth(tmp_path: Path) -> None:
    found = of(tmp_path, runs())
    assert point(found, "none", 4).speedup.value == pytest.approx(4.0)
    assert point(found, "cas", 4).speedup.value == pytest.approx(0.25)
    assert point(found, "none", 4).efficiency.value == pytest.approx(1.0)
    assert point(found, "none", 1).speedup.value == 1.0
    assert found.trust.level == "believe"


def test_the_answer_says_what_scales_and_what_collapses(tmp_path: Path) -> None:
    first, *_ = of(tmp_path, runs()).answer
    assert "4 threads are 4" in first and "but not with lock cas" in first and "only make it slower" in first


def test_contaminated_runs_leave_by_cause_and_stay_in_sight(tmp_path: Path) -> None:
    made = runs()
    slow = (CONFIGURATIONS[0], recorded(9.0, neighbor_s=4.0))
    shown = point(of(tmp_path, [*made, slow]), "none", 1)
    assert shown.responses["wall"].estimate.value == pytest.approx(1.0, rel=0.01)
    assert shown.responses["wall"].verdicts.count("disturbed") == 1
    assert 9.0 in shown.responses["wall"].scores
    assert texts(shown.flags) == ["1 of 4 runs disturbed, left out"]


def test_where_too_few_clean_runs_remain_all_count_under_a_flag(tmp_path: Path) -> None:
    found = of(tmp_path, runs(neighbor_s=1.0))
    assert found.trust.level == "reject"
    assert "18 of 18 runs were disturbed" in found.trust.sentence
    shown = point(found, "none", 1)
    assert shown.responses["wall"].estimate.n == 3
    assert texts(shown.flags) == ["rests on disturbed runs: 3 of 3"]


def test_failed_runs_are_counted_and_a_configuration_without_success_is_empty(tmp_path: Path) -> None:
    made = [(t, recorded(status="failed", reason="exit code 3") if t == CONFIGURATIONS[0] else r) for t, r in runs()]
    found = of(tmp_path, made)
    assert (found.runs.n_failed, found.runs.n_empty, found.runs.failures) == (3, 1, {"exit code 3": 3})
    assert found.trust.level == "doubt"
    assert point(found, "none", 2).speedup.value is None
    assert any("need runs of the baseline" in w for w in point(found, "none", 2).speedup.warnings)


def test_no_run_at_all_is_an_answer(tmp_path: Path) -> None:
    found = of(tmp_path, [])
    assert found.trust.level == "reject"
    assert found.runs.n_short == 6
    assert found.answer == ["Cannot be said: no run was made."]


def test_undecided_runs_make_one_careful(tmp_path: Path) -> None:
    assert of(tmp_path, runs(neighbor_s=None)).trust.level == "doubt"


def test_work_is_compared_as_numbers(tmp_path: Path) -> None:
    made = [({**CONFIGURATIONS[0]}, recorded(1.0, iterations=[(1.0, 1.0, work)])) for work in (9, 1_900_000_000, 20)]
    found = of(tmp_path, [*made, (CONFIGURATIONS[0], recorded(1.0))])
    assert texts(point(found, "none", 1).flags) == [
        "the work differs between runs: 9 to 1,900,000,000 units", "1 of 4 runs did not count their work",
    ]  # fmt: skip


def test_the_detectable_effect_grows_with_the_confidence(tmp_path: Path) -> None:
    sure = of(tmp_path, runs(), VALID.replace("runs = 3", 'runs = 3\nconfidence = "99%"')).noise
    usual = of(tmp_path, runs()).noise
    assert sure and usual and sure.sd_log_percent == usual.sd_log_percent
    assert sure.minimum_detectable_percent > 1.3 * usual.minimum_detectable_percent


def test_work_that_differs_is_residue(tmp_path: Path) -> None:
    made = [(t, recorded(1.0, iterations=[(1.0, 1.0, 1000 * t["threads"])])) for _ in JITTER for t in CONFIGURATIONS]
    assert of(tmp_path, made).residue == [
        "work: 1,000 to 4,000 units counted, though the study declares it the same in all configurations"
    ]


DRIVEN = """
[[workload.process]]
name = "server"
role = "service"
argv = ["server", "{lock}"]
[[workload.process]]
name = "driver"
role = "driver"
argv = ["driver", "{threads}"]
"""


def test_what_a_driver_sends_is_no_residue(tmp_path: Path) -> None:
    made = [(t, recorded(1.0, iterations=[(1.0, 1.0, 1000 * t["threads"])])) for _ in JITTER for t in CONFIGURATIONS]
    start, end = VALID.index("[workload]"), VALID.index("[factors")
    assert of(tmp_path, made, VALID[:start] + DRIVEN + VALID[end:]).residue == []


def test_two_instruments_are_residue(tmp_path: Path) -> None:
    made = runs()
    made[0] = (made[0][0], recorded(1.0, kind="degraded"))
    (text,) = of(tmp_path, made).residue
    assert text.startswith("probe: degraded 0.1.0, native 0.1.0 in one study")


def test_baselines_are_compared_across_cpu_counts(tmp_path: Path) -> None:
    text = VALID.replace(
        '[factors.lock]\nlevels = ["none", "cas"]', '[factors.cpus]\ncontrol = "cpus"\nlevels = [1, 2]'
    )
    grid = [{"threads": n, "cpus": m} for n in (1, 2, 4) for m in (1, 2)]
    made = [
        (t, recorded(j * (1.5 if t["cpus"] == 2 else 1.0), cpus=tuple(range(t["cpus"])))) for j in JITTER for t in grid
    ]
    file = write_journal(tmp_path / "journal.jsonl", made, text, design={"configurations": grid, "runs": [3] * 6})
    (shown,) = [t for t in findings(table.load(file)).tables if t.id == "baseline-across-cpus"]
    assert shown.rows[0][:2] == [2, 1]
    assert shown.rows[0][2].value == pytest.approx(1.5)
    assert shown.rows[0][3] == "slower on more CPUs"


def test_repeated_runs_are_counted_apart(tmp_path: Path) -> None:
    read = table_of(tmp_path, [({"threads": 1}, recorded(1.0)) for _ in range(4)], ONE_FACTOR)
    read.n_asked[:] = [3]
    read.rows[:] = [structs.replace(row, is_planned=index < 3) for index, row in enumerate(read.rows)]
    runs = findings(read).runs
    assert (runs.n_asked, runs.n_done, runs.n_repeated) == (3, 3, 1)


def test_no_time_has_an_interval_that_begins_below_zero(tmp_path: Path) -> None:
    """CPU time is counted in ticks: a run of a few milliseconds may have none, and 0 has no log."""
    read = table_of(tmp_path, [({"threads": n}, recorded(1.0, 1.0)) for _ in range(3) for n in (1, 2)], ONE_FACTOR)
    read.rows[:] = [
        structs.replace(row, scores={**row.scores, "cpu": 0.01 * (i < 2)}) for i, row in enumerate(read.rows)
    ]
    for point in findings(read).curves[0].points:
        cpu = point.responses["cpu"].estimate
        assert cpu.value is not None and cpu.low == 0.0 < (cpu.high or 0.0)


def test_a_text_longer_than_the_findings_hold_is_cut(tmp_path: Path) -> None:
    read = table_of(tmp_path, runs(), VALID)
    read.notes.append(Note("x" * 10_000))
    long = next(text for text in findings(read, tmp_path).warnings if text.startswith("xxx"))
    assert len(long) == 4096 and long.endswith("x ...")
