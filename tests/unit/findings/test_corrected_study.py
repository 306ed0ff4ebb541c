"""A study goes by undisturbed time as a whole, checks itself by its clean runs, and says so."""

import math
from pathlib import Path
from typing import Any

import pytest

from scalograph.design.stopping_rule import score, work_time
from scalograph.findings import table
from scalograph.findings.sample import run_time, samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from scalograph.study.load import parse
from scalograph.study.responses import UNDISTURBED
from tests.kit.findings import ONE_FACTOR, load_journal, write_journal
from tests.kit.records import read as parsed
from tests.kit.records import recorded
from tests.kit.studies import a_study

S = 10**9
SPEEDUP = {1: 1.0, 2: 0.5, 4: 0.25}


def run(work_s: float, taken_s: float = 0.0, **figures: Any) -> dict[str, Any]:
    """A run of one task that others delayed; `work_s` of it is its own."""
    usual = {
        "neighbor_s": taken_s, "per_cpu_s": (work_s, 0.0), "n_tasks": 1, "wait_ns": round(taken_s * S),
        "cpu_source": "cgroup", "wait_scope": "preemption", "neighbors": [{"pid": 7, "name": "hog", "taken_ns": S}],
    }  # fmt: skip
    return recorded(work_s + taken_s, work_s, **{"cpus": (0, 1, 2, 3), **usual, **figures})


def study(folder: Path, *taken: float, level: float = 1.0, **figures: Any) -> Table:
    """One run of each configuration in each block; `taken` has the share that others took in it."""
    runs = [
        ({"threads": n}, run(s * (1 + i % 3 / 500) * (level if share > 0.1 and n > 1 else 1), share * s, **figures))
        for i, share in enumerate(taken)
        for n, s in SPEEDUP.items()
    ]
    design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [len(taken)] * 3}
    return load_journal(folder, runs, ONE_FACTOR, design=design)


def speedups(found: Findings) -> list[float]:
    (curve,) = found.curves
    return [round(float(point.speedup), 2) for point in curve.points if point.speedup]


def test_beside_others_it_answers_as_on_a_quiet_machine(tmp_path: Path) -> None:
    read = study(tmp_path, 0.5, 0.9, 0.2, 1.5, 0.7)
    assert [row.verdict for row in read.rows] == ["corrected"] * 15
    found = findings(read)
    assert found.study.primary == UNDISTURBED and speedups(found) == [1.0, 2.0, 4.0]
    assert found.trust.level == "caution" and "corrected" in found.trust.codes  # nothing checks it
    (curve,) = found.curves
    wall, time = (curve.points[0].responses[name] for name in ("wall", UNDISTURBED))
    assert time.estimate.value == pytest.approx(1.0, abs=0.01) and max(wall.scores) > 2  # wall time stays as it was


def test_clean_runs_confirm_it_and_count_by_their_undisturbed_time_too(tmp_path: Path) -> None:
    read = study(tmp_path, 0.5, 0.01, 0.9, 0.015, 0.4, 0.0)
    assert {row.verdict for row in read.rows} == {"corrected", "clean"}
    assert read.correction and (read.correction.check, read.correction.n_clean) == ("checked", 9)
    assert read.rows[3].verdict == "clean" and read.rows[3].scores[UNDISTURBED] == pytest.approx(1.002, abs=1e-6)
    trust = findings(read).trust
    assert trust.level == "reliable", trust
    assert any("confirmed by 9 clean runs" in point for point in trust.points)


def test_few_corrected_runs_beside_many_clean_ones_raise_no_doubt(tmp_path: Path) -> None:
    read = study(tmp_path, *[0.0] * 9, 0.5)
    trust = findings(read).trust
    assert trust.level == "reliable" and "corrected few" in trust.codes and "corrected" not in trust.codes
    assert any("3 of 30 runs corrected" in point for point in trust.points)


@pytest.mark.parametrize("taken", [[0.0] * 8 + [0.5], [0.0, 0.0, 0.5]])
def test_more_than_a_tenth_corrected_needs_a_confirmation(tmp_path: Path, taken: list[float]) -> None:
    trust = findings(study(tmp_path, *taken)).trust
    assert trust.level == "caution" and "corrected" in trust.codes and "corrected few" not in trust.codes


def test_a_correction_that_does_not_fit_is_withdrawn(tmp_path: Path) -> None:
    read = study(tmp_path, 0.5, 0.0, 0.9, 0.01, 0.4, 0.0, level=1.2)
    assert read.correction and read.correction.check == "withdrawn"
    assert {row.verdict for row in read.rows} == {"disturbed", "clean"}
    found = findings(read)
    assert found.study.primary == "wall" and speedups(found) == [1.0, 2.0, 4.0]
    assert "withdrawn" in found.trust.codes and found.trust.level == "caution"


def test_a_study_on_a_quiet_machine_stays_with_wall_time_unless_it_is_compared(tmp_path: Path) -> None:
    read = study(tmp_path, 0.0, 0.01, 0.015)
    assert read.correction is None and read.view.primary == "wall" and UNDISTURBED not in read.study.responses
    assert read.file is not None
    forced = table.load(read.file, correct=True)
    assert forced.view.primary == UNDISTURBED and forced.rows[3].scores[UNDISTURBED] == pytest.approx(1.002)
    assert not {"corrected", "corrected checked", "corrected alone"} & {*findings(forced).trust.codes}


def test_other_values_rest_on_clean_runs_and_cpu_times_on_all(tmp_path: Path) -> None:
    read = study(tmp_path, 0.5, 0.0, 0.9, 0.0, 0.4)
    sample = next(iter(samples_by_configuration(read).values()))
    counts = {name: len(sample.rows(name)) for name in read.study.responses}
    assert counts[UNDISTURBED] == counts["cpu"] == 5 and counts["wall"] == 2


def test_of_runs_that_cannot_be_corrected_wall_time_is_kept_as_it_was(tmp_path: Path) -> None:
    runs = [({"threads": n}, run(s, 0.5 * s, n_tasks=2 if n == 4 else 1)) for _ in range(3) for n, s in SPEEDUP.items()]
    design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [3] * 3}
    (curve,) = findings(load_journal(tmp_path, runs, ONE_FACTOR, design=design)).curves
    point = curve.points[2]
    assert point.responses[UNDISTURBED].estimate.value is None
    assert point.speedup is not None and point.speedup.value is None
    assert point.responses["wall"].estimate.value == pytest.approx(0.375) and point.responses["wall"].falls_back
    assert len(point.responses["cpu"].scores) == 3 and point.doubt


def test_the_doubt_of_threads_widens_every_interval(tmp_path: Path) -> None:
    def threads(s: float, doubt: float) -> dict[str, Any]:
        ends = {"low_ns": round(s * S * (1 - doubt)), "high_ns": round(s * S * (1 + doubt))}
        replay = {**ends, "overlap_ns": round(s * S), "sleep_ns": 0, "n_wakes": 9}
        return run(s, 0.5 * s, n_tasks=4, per_cpu_s=(s / 2, s / 2), replay=replay)

    widths = []
    for doubt in (0.0, 0.03):
        runs = [({"threads": n}, threads(s * (1 + i % 3 / 500), doubt)) for i in range(4) for n, s in SPEEDUP.items()]
        design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [4] * 3}
        file = write_journal(tmp_path / f"{doubt}.jsonl", runs, ONE_FACTOR, design=design)
        (curve,) = findings(table.load(file)).curves
        point = curve.points[1]
        assert point.speedup and point.speedup.low and point.speedup.high
        time = point.responses[UNDISTURBED].estimate
        assert time.low and time.high
        widths.append((math.log(point.speedup.high / point.speedup.low), math.log(time.high / time.low)))
    (exact, of_time), (open_, of_open_time) = widths
    assert open_ - exact == pytest.approx(4 * math.atanh(0.03), rel=0.02)  # the doubt of both, to each side
    assert of_open_time - of_time == pytest.approx(2 * math.atanh(0.03), rel=0.02)


def test_a_response_of_the_same_name_leaves_the_study_uncorrected(tmp_path: Path) -> None:
    own = ONE_FACTOR + '[responses.wall]\nfrom = "run.wall"\n[responses.undisturbed]\nfrom = "run.max_rss"\n'
    runs = [({"threads": n}, run(s, s * share)) for share in (0.5, 0.0, 0.9) for n, s in SPEEDUP.items()]
    design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [3] * 3}
    read = load_journal(tmp_path, runs, own, design=design)
    assert read.correction is None and {row.verdict for row in read.rows} == {"disturbed", "clean"}
    record = parsed(runs[0][1])
    assert score(read.study, record) == pytest.approx(1.5)


def test_by_wall_time_a_corrected_run_is_a_disturbed_one(tmp_path: Path) -> None:
    read = study(tmp_path, 0.5, 0.0, 0.9, 0.0)
    assert read.file is not None
    raw = table.load(read.file, correct=False)
    assert raw.view.primary == "wall" and [row.verdict for row in raw.rows[::3]] == ["disturbed", "clean"] * 2


CLAIMS = """
[[published.claims]]
id = "b"
sentence = "Four threads take a fourth of the time."
kind = "ratio"
of = {threads = 1}
over = {threads = 4}
holds = [3.9, 4.1]
"""

TABLE = """
[[tables]]
title = "Times"
rows = "threads"
response = "wall"
"""


@pytest.mark.parametrize("response", ["", 'response = "wall"\n'])
def test_a_claim_about_time_is_decided_by_undisturbed_time(tmp_path: Path, response: str) -> None:
    # Beside others four threads take the time of one.
    taken = {1: 0.1, 2: 0.5, 4: 0.85}
    runs = [({"threads": n}, run(s * (1 + i % 3 / 500), taken[n])) for i in range(5) for n, s in SPEEDUP.items()]
    design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [5] * 3}
    text = f"{ONE_FACTOR}{CLAIMS}{response}{TABLE}"
    found = findings(load_journal(tmp_path, runs, text, design=design))
    (claim,) = found.published_claims
    assert claim.decision == "holds" and claim.quantity.startswith("undisturbed time") and not claim.doubt
    (times,) = [table for table in found.tables if table.id == "declared-0"]
    assert [round(row[1].value, 1) for row in times.rows] == [1.0, 0.5, 0.3]


@pytest.mark.parametrize(
    ("n_tasks", "overlap_s", "is_used"), [(1, None, True), (2, None, False), (4, 0.002, True), (4, 0.4, False)]
)
def test_the_speed_of_the_cpus_is_used_of_one_task_at_a_time_alone(
    tmp_path: Path, n_tasks: int, overlap_s: float | None, is_used: bool
) -> None:
    """Threads on the two siblings of a core slow each other and the loop: that is what a study of threads asks."""
    speed = {"mean_ns": [45_000, None], "p10_ns": [44_000, None], "p90_ns": [46_000, None], "n": [12, 0], "cost_ns": 1}
    ends = {"low_ns": S, "high_ns": S, "sleep_ns": 0, "n_wakes": 0}
    replay = None if overlap_s is None else {**ends, "overlap_ns": round(overlap_s * S)}
    read = study(tmp_path, 0.0, n_tasks=n_tasks, speed=speed, replay=replay)
    assert [math.isnan(row.loop_log) for row in read.rows] == [not is_used] * 3


def test_a_run_of_which_nobody_knows_what_others_took_counts_in_no_undisturbed_time(tmp_path: Path) -> None:
    # The study was resumed with records: before there were none.
    unknown = {"neighbor_s": None, "wait_ns": None, "neighbors": None}
    runs = [
        ({"threads": n}, run(s * (1 + i % 3 / 500), 1.2 * s if n > 1 else 0.3, **unknown if i < 3 else {}))
        for i in range(6)
        for n, s in SPEEDUP.items()
    ]
    design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [6] * 3}
    read = load_journal(tmp_path, runs, ONE_FACTOR, design=design)
    assert [row.verdict for row in read.rows] == ["unverified"] * 9 + ["corrected"] * 9
    found = findings(read)
    assert speedups(found) == [1.0, 2.0, 4.0]
    (curve,) = found.curves
    assert len(curve.points[0].responses["cpu"].scores) == 6 and "used" in found.trust.codes
    assert any(text.startswith("9 of 18 runs used") for text in (found.trust.sentence, *found.trust.points))


@pytest.mark.parametrize("free", [0, 1])
def test_tasks_that_only_ever_ran_on_one_cpu_may_be_bound_to_it(tmp_path: Path, free: int) -> None:
    replay = {"low_ns": S // 2, "high_ns": S // 2, "overlap_ns": S // 2, "sleep_ns": 0, "n_wakes": 9}
    each = [(0.7, 0.3) if i < free else (0.9, 0.1) for i in range(5)]
    figures = {"n_tasks": 2, "replay": replay}
    runs = [({"threads": 2}, run(1.0, 0.5 + i / 5, per_cpu_s=used, **figures)) for i, used in enumerate(each)]
    read = load_journal(tmp_path, runs, ONE_FACTOR, design={"configurations": [{"threads": 2}], "runs": [5]})
    assert {row.verdict for row in read.rows} == {"corrected" if free else "disturbed"}


@pytest.mark.parametrize(("others", "verdict"), [((0.7, 0.3), "corrected"), ((0.9, 0.1), "disturbed")])
def test_a_run_on_one_cpu_while_others_kept_all_busy_is_judged_as_the_others_are(
    tmp_path: Path, others: tuple[float, float], verdict: str
) -> None:
    replay = {"low_ns": S // 2, "high_ns": S // 2, "overlap_ns": S // 2, "sleep_ns": 0, "n_wakes": 9}
    figures = {"n_tasks": 2, "replay": replay, "cpus": (0, 1)}
    kept = run(1.0, 0.5, per_cpu_s=(1.0, 0.0), machine_busy_ns=3 * S, **figures)
    idle = run(1.0, 0.5, per_cpu_s=others, machine_busy_ns=2 * S, **figures)
    levels = [{"threads": 2}, {"threads": 4}]
    read = load_journal(
        tmp_path, [*zip(levels, (kept, idle), strict=True)], ONE_FACTOR,
        design={"configurations": levels, "runs": [1, 1]},
    )  # fmt: skip
    assert [row.verdict for row in read.rows] == [verdict] * 2


def test_a_search_is_replayed_with_the_times_that_it_took(tmp_path: Path) -> None:
    def replayed(wall_s: float, own_s: float, taken_s: float) -> dict[str, Any]:
        own = {"low_ns": round(own_s * S), "high_ns": round(own_s * S), "overlap_ns": 0, "sleep_ns": 0, "n_wakes": 9}
        return recorded(wall_s, own_s / 2, neighbor_s=taken_s, replay=own)

    # Others had the CPU for less than 2% of the first, whose replay tells more; of the last they took little.
    runs = [replayed(1.0, 0.9, 0.005), replayed(1.0, 0.5, 0.5), replayed(1.0, 0.99, 0.011)]
    text = a_study({"threads": "1:512"}, question="cliff")
    levels = [{"threads": n} for n in (1, 2, 4)]
    design = {"configurations": levels, "runs": [1] * 3}
    read = load_journal(tmp_path, [*zip(levels, runs, strict=True)], text, design=design)
    assert [row.verdict for row in read.rows] == ["clean", "corrected", "corrected"]
    plain = parse(text)
    live = [work_time(plain, score(plain, parsed(record))) for record in runs]
    assert [run_time(read, row) for row in read.rows] == live == [pytest.approx(x) for x in (0.9, 0.5, 1.0)]


def test_a_study_that_is_no_search_has_one_kind_of_time_in_all_runs(tmp_path: Path) -> None:
    read = study(tmp_path, 0.5, 0.01, 0.9, 0.015, 0.4, 0.0)
    assert [run_time(read, row) for row in read.rows] == [row.scores[UNDISTURBED] for row in read.rows]


def test_a_slower_cpu_in_some_configurations_is_told_and_nothing_is_taken_out(tmp_path: Path) -> None:
    def at(n: int, mean_ns: int) -> dict[str, Any]:
        speed = {"mean_ns": [mean_ns], "p10_ns": [mean_ns], "p90_ns": [mean_ns], "n": [12], "cost_ns": 1}
        return run(SPEEDUP[n], n_tasks=n, per_cpu_s=(SPEEDUP[n],), speed=speed)

    told = []
    for slow_ns in (48_000, 66_000):
        runs = [({"threads": n}, at(n, slow_ns if n > 1 else 45_000)) for _ in range(3) for n in SPEEDUP]
        design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [3] * 3}
        found = findings(load_journal(tmp_path, runs, ONE_FACTOR, design=design))
        told.append([text for text in found.residue if text.startswith("CPU speed: ")])
        assert speedups(found) == [1.0, 2.0, 4.0]
    assert told == [
        [],
        ["CPU speed: a fixed loop took 45 to 66 \N{MICRO SIGN}s, by configuration; the CPU was slower in some"],
    ]
