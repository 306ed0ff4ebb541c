"""What iterations did, beside the numbers that they make; the slowest of them, of all runs together and by run."""

from pathlib import Path

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.findings.whole_run import UNLIKE, WARNING
from scalograph.protocol.findings import TableDoc
from scalograph.study.responses import UNDISTURBED
from scalograph.text.warning_catalog import Caveat
from tests.kit.findings import ONE_FACTOR, Made, findings_of, point_at, texts
from tests.kit.records import recorded

TEXT = ONE_FACTOR.replace("runs = 3", "runs = 3\niterations = 60\nwarmup = 5")


def study(*courses: list[float]) -> Made:
    """Three blocks of threads 1 and 2, whose iterations take these times."""
    runs = []
    for block in range(3):
        for n, times in zip((1, 2), courses, strict=True):
            windows = [(t * (1 + 0.002 * ((i + block) % 3)) / n, t, 7) for i, t in enumerate(times)]
            runs.append(({"threads": n}, recorded(sum(times) + 1, sum(times), cpus=(0, 1, 2, 3), iterations=windows)))
    return runs


def test_only_a_warm_up_longer_than_declared_and_a_slowdown_are_told(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study([1.0] * 60, [1.0] * 60), TEXT)
    assert [texts(point.flags) for point in found.curves[0].points] == [[], []]
    warming = [3.0] * 5 + [1.0] * 55
    found = findings_of(tmp_path, study(warming, warming), TEXT)
    assert [texts(point.flags) for point in found.curves[0].points] == [[], []]
    found = findings_of(tmp_path, study([1.0] * 60, [2.0] * 25 + [1.0] * 35), TEXT)
    assert texts(point_at(found, 2).flags) == ["still warming up in 3 of 3 runs: steady from iteration 25 on"]
    assert "late" in found.trust.codes
    assert found.trust.level == "caution"
    found = findings_of(tmp_path, study([1.0] * 60, [0.5] * 10 + [1.0] * 50), TEXT)
    assert "becomes slower in 3 of 3 runs before it is steady" in texts(point_at(found, 2).flags)


def test_no_steady_state_is_flagged_and_doubted(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study([1.0] * 60, [1.0] * 52 + [1.5] * 8), TEXT)
    assert texts(point_at(found, 2).flags) == ["no steady state in 3 of 3 runs: the time of the whole run is given"]
    assert found.trust.causes[0] == Caveat("unsteady", {"n": 1, "of": 2}).text
    assert point_at(found, 2).doubt == "no steady state"
    text = TEXT.replace("warmup = 5", 'warmup = 5\nthink = "10ms"')
    found = findings_of(tmp_path, study([1.0] * 60, [1.0] * 52 + [1.5] * 8), text)
    assert texts(point_at(found, 2).flags) == ["no steady state in 3 of 3 runs: the median iteration represents none"]
    assert point_at(found, 2).responses["wall"].estimate.value == pytest.approx(0.5, rel=0.01)


UNSTEADY = [1.0] * 52 + [1.5] * 8
CPUS = TEXT.replace("[protocol]", '[factors.cpus]\ncontrol = "cpus"\nlevels = [1, 2]\n\n[protocol]')


def test_a_curve_without_a_steady_state_gives_whole_run_times_on_all_its_points(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study([1.0] * 60, UNSTEADY), TEXT)
    wall = {n: point_at(found, n).responses["wall"].estimate for n in (1, 2)}
    assert wall[1].value == pytest.approx(61.0) and wall[2].value == pytest.approx(65.0)
    assert point_at(found, 2).responses["cpu"].estimate.value == pytest.approx(64.0)
    assert all(WARNING in estimate.warnings for estimate in wall.values())
    gain = point_at(found, 2).speedup
    assert gain and gain.value == pytest.approx(61 / 65)
    assert texts(point_at(found, 1).flags) == [
        "the time of the whole run is given, because another point of this curve has no steady state"
    ]


def test_a_minority_of_unsteady_runs_and_a_response_that_reads_no_window_are_left_as_they_are(tmp_path: Path) -> None:
    made = study([1.0] * 60, [1.0] * 60)
    made[1] = study([1.0] * 60, UNSTEADY)[1]
    found = findings_of(tmp_path, made, TEXT)
    assert point_at(found, 2).responses["wall"].estimate.value == pytest.approx(0.501, abs=0.002)
    assert texts(point_at(found, 2).flags) == ["no steady state in 1 of 3 runs: the median iteration represents none"]
    assert not any("steady" in cause for cause in found.trust.causes)
    text = TEXT + '\n[responses.rate]\nfrom = "value.rate"\nunit = "1/s"\nbetter = "higher"\n'
    made = study([1.0] * 60, UNSTEADY)
    for _, run in made:
        run["values"] = [{"copy": 0, "values": {"rate": [7.0]}}]
    found = findings_of(tmp_path, made, text)
    assert point_at(found, 2).responses["rate"].estimate.value == pytest.approx(7.0)
    assert texts(point_at(found, 2).flags) == ["no steady state in 3 of 3 runs: the median iteration represents none"]
    assert "unsteady" in found.trust.codes


def on_cpus(jump_on_two: float) -> Made:
    """The study on one CPU, and on two; with a jump above 1 the runs on two have no steady state."""
    steady, jumping = study([1.0] * 60, [1.0] * 60), study([1.0] * 52 + [jump_on_two] * 8, [1.0] * 60)
    pairs = zip(steady, jumping, strict=True)
    return [({**t, "cpus": i + 1}, run) for pair in pairs for i, (t, run) in enumerate(pair)]


def test_two_kinds_of_time_are_not_compared(tmp_path: Path) -> None:
    found = findings_of(tmp_path, on_cpus(1.5), CPUS)
    (shown,) = [table for table in found.tables if table.id == "baseline-across-cpus"]
    assert shown.rows[0][-2].value is None and shown.rows[0][-2].warnings == (UNLIKE,)
    assert shown.rows[0][-1] == "undecided"
    assert not any("CPU time depends" in text for text in found.trust.causes)
    (shown,) = [t for t in findings_of(tmp_path, on_cpus(1.0), CPUS).tables if t.id == "baseline-across-cpus"]
    assert shown.rows[0][-2].value == pytest.approx(1.0)
    text = CPUS.replace("[baseline]\nthreads = 1\n", "")
    wish = '\n[[tables]]\ntitle = "Times"\nrows = "cpus"\nresponse = "wall"\nwhere = { threads = 1 }\n'
    found = findings_of(tmp_path, on_cpus(1.5), text + wish)
    assert not any(" with 1 cpu to " in sentence for sentence in found.answer)
    (shown,) = (table for table in found.tables if table.title == "Times")
    assert len({WARNING in row[1].warnings for row in shown.rows}) == 2


MANY = ONE_FACTOR.replace("runs = 3", "runs = 3\niterations = 99\nwarmup = 5")


def slow_study(n: int, slow: int) -> Made:
    """Three blocks of threads 1 and 2; of the latter so many iterations of the last block take fifty times as long."""
    runs = []
    for block in range(3):
        for threads in (1, 2):
            late = slow if block == 2 and threads == 2 else 0
            windows = [((50.0 if i >= n - late else 1.0) * (1 + 0.001 * (i % 7)), 1.0, 7) for i in range(n)]
            total = sum(wall for wall, _, _ in windows)
            runs.append(({"threads": threads}, recorded(total + 1, total, cpus=(0, 1, 2, 3), iterations=windows)))
    return runs


def tails(folder: Path, n: int, slow: int) -> TableDoc | None:
    found = findings_of(folder, slow_study(n, slow), MANY.replace("99", str(n)))
    return next((table for table in found.tables if table.id == "tails"), None)


def test_tails_are_those_of_all_runs_together(tmp_path: Path) -> None:
    table = tails(tmp_path, 1005, 20)
    assert table is not None
    fast, late = table.rows
    assert fast[0] == 1 and fast[4] == pytest.approx(1, rel=0.02) and fast[-1] == 3000
    # Twenty of three thousand are slow: they are the slowest, and not in the last hundredth.
    assert late[4] == pytest.approx(1, rel=0.02) and late[6] == pytest.approx(50, rel=0.01)
    assert late[5] is None  # of the last thousandth there are three: no quantile
    p99 = late[3]
    # Of its own run they are two in a hundred: what is told of runs has an interval that says how they differ.
    assert isinstance(p99, Estimate) and p99.low < 1 < p99.value < 50 < p99.high


def test_a_quantile_of_too_few_iterations_is_not_told(tmp_path: Path) -> None:
    table = tails(tmp_path, 205, 1)
    assert table is not None
    p50, p90, p99 = table.rows[0][1:4]
    assert isinstance(p50, Estimate) and isinstance(p90, Estimate) and isinstance(p99, Estimate)
    assert p50.value and p90.value and p99.value is None
    assert tails(tmp_path, 60, 1) is None


def corrected(made: Made, taken: list[float]) -> Made:
    """Let others have the CPU in each iteration for a share of its time; the probe replayed each."""
    for number, (_, run) in enumerate(made):
        (part,), figures, now, before = run["iterations"], run["run"], 0, 0.0
        own = [end - start for start, end in zip(part["start_ns"], part["end_ns"], strict=True)]
        part |= {"low_ns": own, "high_ns": own, "sleep_ns": [0] * len(own), "start_ns": [], "end_ns": []}
        shares = taken[number % 7 :] + taken[: number % 7]
        for ns, share in zip(own, shares, strict=True):
            part["start_ns"].append(now)
            part["end_ns"].append(now := now + round(ns * (1 + share)))
        lost = now - sum(own)
        before = figures["wall_ns"]
        run["copies"][0]["end_ns"] = figures["wall_ns"] = figures["wall_outer_ns"] = before + lost
        replay = {"low_ns": before, "high_ns": before, "overlap_ns": 0, "sleep_ns": 0, "n_wakes": 0}
        figures |= {"neighbor_ns": lost, "wait_ns": lost, "n_tasks": 1, "replay": replay}
    return made


BURSTS = [0.0] * 22 + [0.8] * 5 + [0.0] * 9 + [1.5] * 14 + [0.0] * 10


def test_what_others_took_from_iterations_is_no_course_of_the_program(tmp_path: Path) -> None:
    found = findings_of(tmp_path, corrected(study([1.0] * 60, [1.0] * 60), BURSTS), TEXT)
    assert found.study.primary == UNDISTURBED and found.runs.verdicts["corrected"] == 6
    assert [texts(point.flags) for point in found.curves[0].points] == [[], []]


def test_of_a_corrected_study_the_undisturbed_time_of_the_whole_run_is_given(tmp_path: Path) -> None:
    found = findings_of(tmp_path, corrected(study([1.0] * 60, UNSTEADY), BURSTS), TEXT)
    times = {n: point_at(found, n).responses[UNDISTURBED].estimate for n in (1, 2)}
    assert times[1].value == pytest.approx(61.0) and times[2].value == pytest.approx(65.0)
    assert all(WARNING in estimate.warnings for estimate in times.values())
    gain = point_at(found, 2).speedup
    assert gain and gain.value == pytest.approx(61 / 65)
