import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from scalograph.cli.last_stops import exit_code
from scalograph.protocol.findings import Trust
from scalograph.questions.assemble import findings
from scalograph.text import wording

from ..flags import texts
from ..records import recorded
from .made import ONE_FACTOR, at, found_in, loaded

Run = tuple[dict[str, Any], dict[str, Any]]
N_BLOCKS = 12


def runs(n_blocks: int = N_BLOCKS) -> list[Run]:
    return [
        ({"threads": n}, recorded((1 + 0.01 * (i % 3)) / n, cpus=(0, 1, 2, 3)))
        for i in range(n_blocks)
        for n in (1, 2, 4)
    ]


def changed(which: int, threads: int | None = None, **changes: Any) -> list[Run]:
    """The first runs (of so many threads) with other records."""
    made, left = runs(), which
    for index, (treatment, _) in enumerate(made):
        if left and threads in (None, treatment["threads"]):
            made[index], left = (
                (treatment, recorded(1.0 / treatment["threads"], cpus=(0, 1, 2, 3), **changes)),
                left - 1,
            )
    return made


def trust(tmp_path: Path, made: list[Run], text: str = ONE_FACTOR) -> Trust:
    return found_in(tmp_path, made, text).trust


def test_a_clean_study_is_believed(tmp_path: Path) -> None:
    found = trust(tmp_path, runs())
    assert (found.level, found.causes) == ("believe", [])
    assert found.sentence.startswith("Believe it: 36 runs, none of them disturbed; a typical treatment varies by")


def test_a_machine_that_drifts_from_block_to_block_is_a_doubt(tmp_path: Path) -> None:
    slower = [(t, recorded((1 + 0.01 * (i // 3)) / t["threads"], cpus=(0, 1, 2, 3))) for i, (t, _) in enumerate(runs())]
    found = trust(tmp_path, slower)
    assert found.level == "doubt"
    assert "the machine drifted from block to block (p = " in found.sentence


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        (changed(4, status="failed", reason="exit code 1"), "4 of 36 runs failed"),
        (changed(18, neighbor_s=None), "whether 18 of 36 runs were disturbed could not be checked"),
        (changed(4, neighbor_s=1.0), "4 of 36 runs were disturbed (they are left out where enough clean ones remain)"),
        (runs(1), "3 of 3 treatments have one run, which has no interval at all"),
        (
            [(t, recorded(1.0, kind="native" if i else "degraded")) for i, (t, _) in enumerate(runs())],
            "something varied",
        ),
    ],
    ids=["failed", "undecided", "disturbed", "one run", "residue"],
)
def test_each_doubt_has_its_cause(tmp_path: Path, made: list[Run], cause: str) -> None:
    found = trust(tmp_path, made)
    assert found.level == "doubt"
    assert any(text.startswith(cause) for text in found.causes)
    assert found.sentence.startswith("Be careful: ") and cause in found.sentence


@pytest.mark.parametrize(
    "made",
    [changed(3, status="failed", reason="exit code 1"), changed(3, neighbor_s=1.0), runs(2)],
    ids=["few failed", "few disturbed", "two runs"],
)
def test_what_is_within_the_limits_is_believed(tmp_path: Path, made: list[Run]) -> None:
    assert trust(tmp_path, made).level == "believe"


def test_a_few_undecided_runs_are_told_and_are_not_short(tmp_path: Path) -> None:
    made = [run for n in (1, 2, 4) for run in changed(5, threads=n, neighbor_s=None)]
    found = found_in(tmp_path, made, ONE_FACTOR)
    assert found.trust.level == "believe"
    assert (
        "none of them found disturbed, and whether 15 of 108 runs were disturbed could not be checked"
        in found.trust.sentence
    )
    assert any("are undecided, and count as clean" in text for text in found.trust.causes)
    assert (found.runs.n_short, exit_code(found)) == (0, 0)


def test_reasons_that_differ_in_figures_only_are_told_once_at_their_worst(tmp_path: Path) -> None:
    made = [run for n in (1, 2, 4) for run in changed(1, threads=n, steal_s=0.02)]
    made[0][1]["run"]["cpu_ns"] = made[0][1]["run"]["wall_ns"] = 500_000_000
    found = found_in(tmp_path, made, ONE_FACTOR)
    (told,) = [text for text in found.trust.causes if "are undecided" in text]
    worst = "at worst the hypervisor took the CPU for less than 5.7 % of the CPU time that it wanted (3)"
    assert told.endswith(f"count as clean: {worst}")


def test_a_treatment_of_which_nothing_could_tell_is_a_doubt_and_says_so(tmp_path: Path) -> None:
    made = [*changed(11, threads=4, neighbor_s=None)] + [({"threads": n}, r) for n in (1, 2) for _, r in runs(14)]
    found = found_in(tmp_path, made, ONE_FACTOR)
    assert found.trust.level == "doubt"
    assert "whether the runs of 1 of 3 treatments were disturbed could not be checked" in found.trust.causes[0]
    assert any(flag.startswith("undecided: whether 11 of 12 runs") for flag in texts(at(found, 4).flags))
    assert not any("undecided" in flag for flag in texts(at(found, 2).flags))


def test_runs_that_ended_at_their_timeout_leave_the_faster_part(tmp_path: Path) -> None:
    found = trust(tmp_path, changed(1, status="timeout", reason="still running"))
    assert found.level == "doubt" and "1 of 36 runs ended at their timeout" in found.sentence


def test_a_study_that_sees_only_what_doubles_a_time_is_a_doubt(tmp_path: Path) -> None:
    wild = [({"threads": n}, recorded((0.1, 0.4, 1.6)[i % 3] / n, cpus=(0, 1, 2, 3))) for i in range(6) for n in (1, 2)]
    found = trust(tmp_path, wild)
    assert found.level == "doubt"
    (told,) = [text for text in found.causes if "only effects" in text]
    assert re.fullmatch(r"runs of one treatment differ so much that only effects from \d{3,} % are visible", told)


def test_runs_that_never_differ_measure_no_effect(tmp_path: Path) -> None:
    same = [({"threads": n}, recorded(1 / n, cpus=(0, 1, 2, 3))) for _ in range(6) for n in (1, 2)]
    found = found_in(tmp_path, same, ONE_FACTOR)
    assert found.trust.level == "doubt" and "too coarse" in found.trust.sentence
    assert found.noise and "0 %" not in wording.noise(found.noise)


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("budget", "the first block would be past the budget"),
        ("busy", "the machine was busy, and the study ends there"),
    ],
)
def test_a_study_without_a_run_says_why_and_not_that_runs_failed(tmp_path: Path, reason: str, why: str) -> None:
    table = loaded(tmp_path, runs(1), ONE_FACTOR)
    table.rows.clear()
    table.end_reason = reason
    assert findings(table).trust.sentence == f"No run was made: {why}."


def test_a_study_that_mostly_failed_is_not_believed(tmp_path: Path) -> None:
    found = trust(tmp_path, changed(19, status="failed", reason="exit code 1"))
    assert (found.level, found.sentence) == ("reject", "Do not believe it: 19 of 36 runs failed.")


def test_a_treatment_that_rests_on_disturbed_runs_is_a_doubt(tmp_path: Path) -> None:
    # 11 of 120 runs, below the limit for the whole.
    made = [*changed(11, threads=2, neighbor_s=1.0)] + [({"threads": n}, r) for n in (1, 4) for _, r in runs(14)]
    found = found_in(tmp_path, made, ONE_FACTOR)
    assert found.trust.level == "doubt"
    assert found.trust.causes[0] == "1 of 3 treatments rest on disturbed runs: fewer than two clean ones are left"
    assert not any("its baseline" in flag for point in found.curves[0].points for flag in texts(point.flags))


def test_a_baseline_that_rests_on_disturbed_runs_marks_every_point_over_it(tmp_path: Path) -> None:
    made = [*changed(11, threads=1, neighbor_s=1.0)] + [({"threads": n}, r) for n in (2, 4) for _, r in runs(14)]
    found = found_in(tmp_path, made, ONE_FACTOR)
    assert found.trust.causes[0].startswith("1 of 1 baselines rest on disturbed runs, and so do the speedups")
    for level in (2, 4):
        assert "its baseline rests on disturbed runs" in texts(at(found, level).flags)
    assert texts(at(found, 1).flags) == ["rests on disturbed runs: 11 of 12 were contaminated"]


def test_declared_order_is_a_doubt(tmp_path: Path) -> None:
    found = trust(tmp_path, runs(), ONE_FACTOR.replace("runs = 3", 'runs = 3\norder = "declared"'))
    assert found.level == "doubt" and "a drift of the machine looks like an effect" in found.sentence


def test_many_doubts_are_counted_in_the_sentence_and_all_are_causes(tmp_path: Path) -> None:
    made = changed(18, neighbor_s=None)[:30] + changed(6, status="failed", reason="exit code 1")[:6]
    made[0] = (made[0][0], recorded(1.0, kind="degraded", neighbor_s=None))
    found = trust(tmp_path, [*made, ({"threads": 8}, recorded(1.0))], ONE_FACTOR.replace('"1,2,4"', '"1,2,4,8"'))
    assert found.sentence.endswith("further causes for doubt.")
    assert found.sentence.count(", and ") == 3


def test_accepted_differences_are_residue_and_a_doubt(tmp_path: Path) -> None:
    plain = loaded(tmp_path, runs(), ONE_FACTOR)
    resumed = replace(plain, accepted=[("kernel", "6.1", "6.12")])
    found = findings(resumed)
    assert found.residue == ["kernel: 6.1 before a resume, 6.12 after it; accepted as a difference"]
    assert found.trust.level == "doubt"
    assert "the study was resumed on a set-up that differs: kernel" in found.trust.causes


def test_processes_left_behind_are_a_doubt_and_a_flag(tmp_path: Path) -> None:
    read = loaded(tmp_path, runs(), ONE_FACTOR)
    read.rows[0] = structs.replace(read.rows[0], n_survivors=1)
    found = findings(read)
    assert found.trust.level == "doubt" and "1 of 36 runs left processes behind" in found.trust.sentence
    assert texts(at(found, 1).flags) == ["1 of 12 runs left processes behind, which were killed"]
