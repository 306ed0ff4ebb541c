"""Findings of runs whose truth is known: what is answered, counted, flagged, left over and listed."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from pydantic import ValidationError

from scalograph.findings import overview
from scalograph.findings.run_notes import Note
from scalograph.findings.table import load
from scalograph.protocol.findings import Findings, RunLog
from scalograph.questions.assemble import findings
from tests.kit.findings import (
    CONFIGURATIONS,
    JITTER,
    ONE_FACTOR,
    load_journal,
    runs_of,
    table_named,
    table_of,
    texts,
    write_journal,
)
from tests.kit.records import recorded
from tests.kit.studies import VALID

# Seconds by (threads, lock): `none` scales, `cas` collapses.
TRUTH = {(1, "none"): 1.0, (2, "none"): 0.5, (4, "none"): 0.25, (1, "cas"): 1.0, (2, "cas"): 2.0, (4, "cas"): 4.0}
Runs = list[tuple[dict[str, Any], dict[str, Any]]]


def runs(**changes: Any) -> Runs:
    """Make three blocks that take the true times, with other figures in each record."""
    return [
        (t, recorded(j * TRUTH[t["threads"], t["lock"]], cpus=(0, 1, 2, 3), **changes))
        for j in JITTER
        for t in CONFIGURATIONS
    ]


def of(folder: Path, made: Runs, text: str = VALID, **changes: Any) -> Findings:
    return findings(load_journal(folder, made, text, **changes), folder)


def point(found: Findings, lock: str, threads: int) -> Any:
    (curve,) = [c for c in found.curves if c.group == {"lock": lock}]
    (chosen,) = [p for p in curve.points if p.level == threads]
    return chosen


def test_what_the_truth_says_and_long_texts_are_told_at_their_length(tmp_path: Path) -> None:
    found = of(tmp_path, runs())
    scaling, collapsed, first = (point(found, *at) for at in (("none", 4), ("cas", 4), ("none", 1)))
    speedups = [scaling.speedup.value, scaling.efficiency.value, collapsed.speedup.value, first.speedup.value]
    assert speedups == pytest.approx([4.0, 1.0, 0.25, 1.0]) and found.trust.level == "reliable"
    assert "at 4 threads with lock none" in found.answer[0]
    assert found.answer[1].startswith("It is lower with lock cas (0.25")
    loaded = table_of(tmp_path, runs(), VALID)
    loaded.notes.append(Note("x" * 10_000))
    long = next(text for text in findings(loaded, tmp_path).warnings if text.startswith("xxx"))
    assert len(long) == 4096 and long.endswith("x ...")


def test_disturbed_runs_are_left_out_and_count_under_a_flag_where_too_few_others_remain(tmp_path: Path) -> None:
    shown = point(of(tmp_path, [*runs(), (CONFIGURATIONS[0], recorded(9.0, neighbor_s=4.0))]), "none", 1)
    wall = shown.responses["wall"]
    assert wall.estimate.value == pytest.approx(1.0, rel=0.01)
    assert wall.verdicts.count("disturbed") == 1 and 9.0 in wall.scores
    assert texts(shown.flags) == ["1 of 4 runs disturbed, excluded"]
    found = of(tmp_path, runs(neighbor_s=1.0))
    assert found.trust.level == "unusable" and "18 of 18 runs were disturbed" in found.trust.sentence
    shown = point(found, "none", 1)
    assert shown.responses["wall"].estimate.n == 3 and texts(shown.flags) == ["includes disturbed runs: 3 of 3"]
    assert of(tmp_path, runs(neighbor_s=None)).trust.level == "caution"


def test_failed_runs_are_counted_and_a_configuration_without_success_is_empty(tmp_path: Path) -> None:
    failed = recorded(status="failed", reason="exit code 3")
    found = of(tmp_path, [(t, failed if t == CONFIGURATIONS[0] else r) for t, r in runs()])
    assert (found.runs.n_failed, found.runs.n_empty, found.runs.failures) == (3, 1, {"exit code 3": 3})
    speedup = point(found, "none", 2).speedup
    assert found.trust.level == "caution" and speedup.value is None
    assert any("need runs of the baseline" in warning for warning in speedup.warnings)
    found = of(tmp_path, [])
    assert (found.trust.level, found.runs.n_short) == ("unusable", 6)
    assert found.answer == ["No answer: no run was made."]


def test_runs_are_counted_and_compared_as_numbers(tmp_path: Path) -> None:
    records = [recorded(1.0, iterations=[(1.0, 1.0, work)]) for work in (9, 1_900_000_000, 20)]
    found = of(tmp_path, [(CONFIGURATIONS[0], record) for record in (*records, recorded(1.0))])
    assert texts(point(found, "none", 1).flags) == [
        "the work differs between runs: 9 to 1,900,000,000 units", "1 of 4 runs did not count their work",
    ]  # fmt: skip
    loaded = table_of(tmp_path, runs_of({1: 1.0}, 4), ONE_FACTOR)
    loaded.n_asked[:] = [3]
    loaded.rows[:] = [structs.replace(row, is_planned=index < 3) for index, row in enumerate(loaded.rows)]
    counts = findings(loaded).runs
    assert (counts.n_asked, counts.n_done, counts.n_repeated) == (3, 3, 1)


def test_detectable_effects_grow_with_the_confidence_and_no_time_is_below_zero(tmp_path: Path) -> None:
    sure = of(tmp_path, runs(), VALID.replace("runs = 3", 'runs = 3\nconfidence = "99%"')).noise
    usual = of(tmp_path, runs()).noise
    assert sure and usual and sure.sd_log_percent == usual.sd_log_percent
    assert sure.minimum_detectable_percent > 1.3 * usual.minimum_detectable_percent
    # CPU time is counted in ticks: a run of a few milliseconds may have none, and 0 has no log.
    loaded = table_of(tmp_path, runs_of({1: 1.0, 2: 1.0}), ONE_FACTOR)
    loaded.rows[:] = [
        structs.replace(row, scores={**row.scores, "cpu": 0.01 * (i < 2)}) for i, row in enumerate(loaded.rows)
    ]
    for shown in findings(loaded).curves[0].points:
        cpu = shown.responses["cpu"].estimate
        assert cpu.value is not None and cpu.low == 0.0 < (cpu.high or 0.0)


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


def test_work_that_differs_is_residue_unless_a_driver_sends_it_and_so_are_two_instruments(tmp_path: Path) -> None:
    made = [(t, recorded(1.0, iterations=[(1.0, 1.0, 1000 * t["threads"])])) for _ in JITTER for t in CONFIGURATIONS]
    (residue,) = of(tmp_path, made).residue
    assert residue.startswith("work: 1,000 to 4,000 units counted, though the study declares it the same ")
    start, end = VALID.index("[workload]"), VALID.index("[factors")
    assert of(tmp_path, made, VALID[:start] + DRIVEN + VALID[end:]).residue == []
    (residue,) = of(tmp_path, [(CONFIGURATIONS[0], recorded(1.0, kind="degraded")), *runs()[1:]]).residue
    assert residue.startswith("probe: degraded 0.1.0, native 0.1.0 in one study")


def test_baselines_are_compared_across_cpu_counts(tmp_path: Path) -> None:
    cpus = '[factors.cpus]\ncontrol = "cpus"\nlevels = [1, 2]'
    text = VALID.replace('[factors.lock]\nlevels = ["none", "cas"]', cpus)
    grid = [{"threads": n, "cpus": m} for n in (1, 2, 4) for m in (1, 2)]
    made = [(t, recorded(j * (1.0, 1.5)[t["cpus"] - 1], cpus=tuple(range(t["cpus"])))) for j in JITTER for t in grid]
    found = of(tmp_path, made, text, design={"configurations": grid, "runs": [3] * 6})
    (*pair, ratio, words), *_ = table_named(found, "baseline-across-cpus").rows
    assert (pair, ratio.value, words) == ([2, 1], pytest.approx(1.5), "slower on more CPUs")


def test_a_pivot_needs_one_configuration_in_each_cell(tmp_path: Path) -> None:
    wish = '[[tables]]\ntitle = "t"\nrows = "threads"\nresponse = "wall"\n'
    made = [(t, recorded(t["threads"] * factor)) for t in CONFIGURATIONS for factor in (1.0, 1.01)]
    for more, cells in (('columns = "lock"\n', 2), ('where = { lock = "cas" }\n', 1), ("", 0)):
        pivot, *_ = of(tmp_path, made, VALID + wish + more).tables
        assert [row[0] for row in pivot.rows] == [1, 2, 4]
        values = [[cell.value for cell in row[1:]] for row in pivot.rows]
        assert values == [[pytest.approx(n, rel=0.01)] * cells or [None] for n in (1, 2, 4)]


LISTED = [
    *((CONFIGURATIONS[0], recorded(wall_s, neighbor_s=taken_s)) for wall_s, taken_s in ((1.0, 0), (2.5, 1), (1.2, 0))),
    (CONFIGURATIONS[1], recorded(status="failed", reason="exit code 1")),
]


def test_runs_are_listed_in_order_with_what_became_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = of(tmp_path, LISTED).log
    assert log is not None and log.configurations == CONFIGURATIONS[:2]
    assert [*zip(log.run, log.configuration, log.verdict, log.counted, log.cause, strict=True)] == [
        ("r0", 0, "clean", True, ""), ("r1", 0, "disturbed", False, "neighbor"), ("r2", 0, "clean", True, ""),
        ("r3", 1, "failed", False, "status"),
    ]  # fmt: skip
    assert log.relative == [*map(pytest.approx, (1.0 / 1.1, 2.5 / 1.1, 1.2 / 1.1)), None]
    assert log.amount[1] == pytest.approx(0.5)
    monkeypatch.setattr(overview, "MAX_RUNS", 3)
    found = of(tmp_path, LISTED)
    assert found.log is None and any("list of runs" in text for text in found.warnings)


def test_a_run_started_before_its_line_was_written(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "journal.jsonl", LISTED)
    head, *lines = file.read_text().splitlines()
    late = [line.replace("00:00:01.000Z", f"00:01:{10 * n:02d}.500Z") for n, line in enumerate(lines)]
    file.write_text("\n".join([head, *late]) + "\n")
    log = findings(load(file)).log
    assert log is not None and log.start_s == [59.5, 68.0, 79.3, 89.5]


@pytest.mark.parametrize("broken", [{"status": []}, {"configuration": [1]}, {"configuration": [-1]}])
def test_a_list_whose_columns_do_not_fit_is_refused(broken: dict[str, Any]) -> None:
    columns: dict[str, Any] = {
        "configurations": [{"n": 1}], "run": ["r"], "configuration": [0], "start_s": [0.0], "status": ["ok"],
        "verdict": ["clean"], "cause": [""], "amount": [None], "counted": [True], "relative": [1.0],
    }  # fmt: skip
    assert RunLog(**columns).run == ["r"]
    with pytest.raises(ValidationError):
        RunLog(**columns | broken)
