from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from scalograph.cli.analyze_steps import exit_code
from scalograph.findings.curves import make_curves
from scalograph.findings.quality_flags import bias_bounds, find_flags, summarize_flags
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow, Trust
from scalograph.questions.assemble import findings
from scalograph.text import summaries
from scalograph.text.warning_catalog import flag_text
from tests.kit.findings import ONE_FACTOR, findings_of, point_at, table_of, texts
from tests.kit.records import recorded

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
    for index, (configuration, _) in enumerate(made):
        if left and threads in (None, configuration["threads"]):
            made[index], left = (
                (configuration, recorded(1.0 / configuration["threads"], cpus=(0, 1, 2, 3), **changes)),
                left - 1,
            )
    return made


def others(threads: int) -> list[Run]:
    """Many more runs of the other configurations."""
    return [run for run in runs(40) if run[0]["threads"] != threads]


def trust(tmp_path: Path, made: list[Run], text: str = ONE_FACTOR) -> Trust:
    return findings_of(tmp_path, made, text).trust


def test_a_clean_study_is_believed_and_one_whose_runs_never_differ_measures_nothing(tmp_path: Path) -> None:
    found = trust(tmp_path, runs())
    assert (found.level, found.causes, found.responses) == ("reliable", [], {})
    assert found.sentence == "36 of 36 runs used." and found.error_percent == 1
    assert found.points[0] == "Systematic error at most 1%." and found.codes == ["used", "error", "detectable"]
    same = [({"threads": n}, recorded(1 / n, cpus=(0, 1, 2, 3))) for _ in range(6) for n in (1, 2)]
    found = findings_of(tmp_path, same, ONE_FACTOR)
    assert found.trust.level == "caution" and found.trust.codes[0] == "identical"
    assert "detectable" not in found.trust.codes
    assert found.noise and "0%" not in summaries.noise(found.noise)


def timed(wall_s: Callable[[int, int], float], cpu_s: float = 1.0) -> list[Run]:
    """The runs with other times, each of its number and its threads."""
    return [(t, recorded(wall_s(i, t["threads"]), cpu_s, cpus=(0, 1, 2, 3))) for i, (t, _) in enumerate(runs())]


WILD = [({"threads": n}, recorded((0.1, 0.4, 1.6)[i % 3] / n, 0.01, cpus=(0, 1))) for i in range(6) for n in (1, 2)]


@pytest.mark.parametrize(("made", "level", "codes"), [
    (timed(lambda i, n: (1 + 0.01 * (i // 3)) / n), "caution", ["drift"]),
    (runs(5), "reliable", ["used", "drift unchecked"]),
    (timed(lambda i, n: (1 + 0.01 * (i // 3 % 3)) / n * (1.3 if i % 5 < 2 else 1), 0.2), "caution", ["bimodal"]),
    (WILD, "caution", ["noisy"]),
    (changed(3, status="failed", reason="exit code 1"), "reliable", ["used"]),
    (changed(19, status="failed", reason="exit code 1"), "unusable", ["mostly failed"]),
    (changed(12, neighbor_s=1.0), "reliable", ["used"]),
    (changed(30, neighbor_s=1.0), "unusable", ["mostly disturbed"]),
    (runs(2), "reliable", ["used"]),
    ([run for run in runs() if run[0]["threads"] == 1], "reliable", ["open", "used", "error"]),  # no other
], ids=["drift", "drift unchecked", "two modes", "noise", "few failed", "most failed", "a third disturbed",
        "most disturbed", "two runs", "one configuration"])  # fmt: skip
def test_each_has_its_verdict(tmp_path: Path, made: list[Run], level: str, codes: list[str]) -> None:
    found = trust(tmp_path, made)
    assert (found.level, found.codes[0]) == (level, codes[0]) and {*codes} <= {*found.codes}
    assert len({str(t) for t, _ in made}) > 1 or "detectable" not in found.codes


@pytest.mark.parametrize(("taken", "cause"), [("neighbor_s", "other processes"), ("steal_s", "CPU steal")])
def test_a_busy_machine_is_told_with_its_cause_and_what_to_do(tmp_path: Path, taken: str, cause: str) -> None:
    found = trust(tmp_path, changed(30, **{taken: 1.0}))
    assert found.sentence == f"30 of 36 runs were disturbed by {cause}."
    assert found.points == ["Rerun with --wait-quiet 10m."]


@pytest.mark.parametrize(("made", "code"), [
    (changed(4, status="failed", reason="exit code 1"), "failed"),
    (changed(18, neighbor_s=None), "unverified"),
    (runs(1), "single"),
    ([(t, recorded(1.0, kind="native" if i else "degraded")) for i, (t, _) in enumerate(runs())], "undeclared"),
], ids=["failed", "unverified", "one run", "residue"])  # fmt: skip
def test_each_doubt_has_its_cause_and_says_what_it_does(tmp_path: Path, made: list[Run], code: str) -> None:
    found = trust(tmp_path, made)
    assert (found.level, found.codes[0]) == ("caution", code)
    assert f"{found.causes[0]}." in (found.sentence, *found.points) and 0 < len(found.points) <= 3


def test_a_few_undecided_runs_are_told_once_at_their_worst_and_are_not_short(tmp_path: Path) -> None:
    made = [run for n in (1, 2, 4) for run in changed(5, threads=n, neighbor_s=None)]
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert found.trust.level == "reliable" and "unchecked" in found.trust.codes
    assert any("included: 15;" in text for text in found.trust.causes)
    assert (found.runs.n_short, exit_code(found)) == (0, 0)
    made = [run for n in (1, 2, 4) for run in changed(1, threads=n, steal_s=0.02)]
    made[0][1]["run"]["cpu_ns"] = made[0][1]["run"]["wall_ns"] = 500_000_000
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert "unchecked" not in found.trust.codes, "a few are no news"
    (told,) = [text for text in found.trust.causes if "not checked" in text]
    worst = "the hypervisor took the CPU for less than 5.7% of the CPU time that it wanted"
    assert told == f"Runs not checked (CPU steal), included: 3; worst: {worst}"


LATE, BUSY, BASELINE = (flag_text(code) for code in ("timeout", "disturbed", "baseline"))
UNCHECKED = flag_text("unverified", unverified=11, runs=12)


@pytest.mark.parametrize(("made", "doubts", "codes"), [
    ([*changed(11, threads=4, neighbor_s=None), *others(4)], ["", "", UNCHECKED], ["unverified", "error"]),
    (changed(1, status="timeout", reason="still running"), [LATE, "", ""], ["timeout"]),
    ([*changed(11, threads=2, neighbor_s=1.0), *others(2)], ["", BUSY, ""], ["disturbed"]),
    ([*changed(11, threads=1, neighbor_s=1.0), *others(1)], [BUSY, BASELINE, BASELINE], ["baseline", "disturbed"]),
], ids=["unverified", "timeout", "disturbed", "baseline"])  # fmt: skip
def test_a_configuration_that_says_less_is_marked_and_the_others_are_not(
    tmp_path: Path, made: list[Run], doubts: list[str], codes: list[str]
) -> None:
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert [point_at(found, n).doubt for n in (1, 2, 4)] == doubts
    assert {*codes} <= {*found.trust.codes}
    if doubts[0] == BUSY:
        assert (found.trust.level, found.trust.codes[0]) == ("caution", "baseline")
        assert texts(point_at(found, 1).flags) == [f"{BUSY}: 11 of 12"]


def test_a_claim_that_rests_on_a_marked_configuration_is_doubted(tmp_path: Path) -> None:
    made = [*changed(11, threads=4, neighbor_s=None), *others(4)]
    read = table_of(tmp_path, made, ONE_FACTOR)
    taken = comparable_samples(read)
    bound = bias_bounds(read, taken)
    found = find_flags(read, make_curves(read, taken), taken, bound, {})
    cell = MatrixCell(text="4×", doubt=UNCHECKED)
    matrix = Matrix(title="t", rows_are="", columns=["4"], rows=[MatrixRow(label="l", cells=[cell])])
    claims = [Claim(sentences=["s"], matrix=matrix), Claim(sentences=["s"]), None]
    assert [summarize_flags(read, found, bound, claim).reasons[0].whole for claim in claims] == [True, False, False]


@pytest.mark.parametrize(("reason", "why"), [
    ("budget", "the first block would end after the time limit"),
    ("busy", "the machine was busy"),
])  # fmt: skip
def test_a_study_without_a_run_says_why_and_not_that_runs_failed(tmp_path: Path, reason: str, why: str) -> None:
    table = table_of(tmp_path, runs(1), ONE_FACTOR)
    table.rows.clear()
    table.end_reason = reason
    assert findings(table).trust.sentence == f"No run was made: {why}."


@pytest.mark.parametrize(("last", "told"), [("app: no answer", ""), ("no memory", "; it said: no memory")])
def test_what_a_failed_run_said_is_told_unless_its_reason_has_it(tmp_path: Path, last: str, told: str) -> None:
    made = changed(19, status="failed", reason="app: no answer")
    for _, found in made:
        found["copies"][0]["stderr_tail"] = f"{last}\n"
    (why,) = findings_of(tmp_path, made, ONE_FACTOR).runs.failures
    assert why == f"app: no answer{told}"


def test_disturbed_runs_that_count_are_not_told_as_left_out(tmp_path: Path) -> None:
    made = [*changed(11, threads=2, neighbor_s=1.0), *others(2)]
    found = trust(tmp_path, made)
    assert "included" in found.codes and "excluded" not in found.codes
    made = [*changed(3, threads=2, neighbor_s=1.0), *others(2)]
    told = trust(tmp_path, made)
    assert "113 of 116 runs used; 3 excluded because other processes used the CPU." in (told.sentence, *told.points)


def slept(i: int, busy_s: float) -> dict[str, Any]:
    """A run of a program that sleeps, on two CPUs that were busy for so long together."""
    found = recorded(0.2 + 0.0001 * i, 0.002, cpus=(0, 1))
    found["run"].update(n_tasks=1, n_switches=1, n_preemptions=0, machine_busy_ns=round(busy_s * 1e9))
    return found


@pytest.mark.parametrize(("busy_s", "level"), [(0.4, "caution"), (0.2, "reliable")], ids=["both CPUs", "one of them"])
def test_runs_that_slept_while_all_cpus_were_busy_are_not_believed(tmp_path: Path, busy_s: float, level: str) -> None:
    found = trust(tmp_path, [({"threads": 1}, slept(i, busy_s)) for i in range(3)])
    assert found.level == level
    if level == "caution":
        assert found.codes[0] == "unverified" and "unchecked" not in found.codes
        assert any("others kept its CPUs busy" in cause for cause in found.causes)


def test_what_is_taken_from_a_program_that_sleeps_is_weighed_by_its_time(tmp_path: Path) -> None:
    """0.5 ms of 200 ms, though a fifth of the CPU time that it wanted."""
    made = [({"threads": 1}, recorded(0.2 + 0.0001 * i, 0.002, neighbor_s=0.0005)) for i in range(10)]
    found = trust(tmp_path, made)
    assert (found.level, found.error_percent) == ("reliable", 1)


@pytest.mark.parametrize(("n", "level", "percent"), [(1, "reliable", 3), (3, "reliable", 8), (5, "caution", None)])
def test_a_tick_of_steal_bounds_the_error_of_a_sleeper(tmp_path: Path, n: int, level: str, percent: int | None) -> None:
    """One tick may be 10% of a run of 0.2 s; of ten runs one, or three, move the estimate by little."""
    sleeps = [recorded(0.2027 + 0.0003 * (i % 4), 0.0018, steal_s=0.01 if i < n else 0.0) for i in range(10)]
    found = trust(tmp_path, [({"threads": 1}, one) for one in sleeps])
    assert (found.level, found.error_percent) == (level, percent)
    assert found.causes[-1].endswith("the hypervisor took the CPU for less than 9.9% of its time")


def test_declared_order_is_a_doubt_and_at_most_three_points_are_told(tmp_path: Path) -> None:
    found = trust(tmp_path, runs(), ONE_FACTOR.replace("runs = 3", 'runs = 3\norder = "declared"'))
    assert found.level == "caution" and found.codes[0] == "declared order"
    made = changed(18, neighbor_s=None)[:30] + changed(6, status="failed", reason="exit code 1")[:6]
    made[0] = (made[0][0], recorded(1.0, kind="degraded", neighbor_s=None))
    found = trust(tmp_path, [*made, ({"threads": 8}, recorded(1.0))], ONE_FACTOR.replace('"1,2,4"', '"1,2,4,8"'))
    assert len(found.points) == 3 and len(found.causes) > 4


def test_the_set_up_that_changed_and_processes_left_behind_are_told(tmp_path: Path) -> None:
    plain = table_of(tmp_path, runs(), ONE_FACTOR)
    resumed = replace(plain, accepted=[("kernel", "6.1", "6.12")])
    found = findings(resumed)
    assert found.residue == ["kernel: 6.1 before a resume, 6.12 after it; accepted as a difference"]
    assert (found.trust.level, found.trust.codes[0]) == ("caution", "accepted") and "(kernel)" in found.trust.sentence
    read = table_of(tmp_path, runs(), ONE_FACTOR)
    read.rows[0] = structs.replace(read.rows[0], n_survivors=1)
    found = findings(read)
    assert point_at(found, 1).doubt == "left processes behind"
    assert "survivors" in found.trust.codes
    assert texts(point_at(found, 1).flags) == ["1 of 12 runs left processes behind, which were killed"]


def test_runs_that_cannot_be_or_left_their_cpus_are_no_busy_machine(tmp_path: Path) -> None:
    made = [(t, recorded(1.0 / t["threads"], 50.0, cpus=(0, 1, 2, 3))) for t, _ in runs()]
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert (found.trust.level, found.trust.codes[0]) == ("unusable", "mostly invalid")
    assert "busy" not in " ".join([*found.trust.causes, *found.trust.points, *found.claim.sentences])
    made = runs()
    for _, found in made:
        found["run"].update(per_cpu_ns=[0, 0, 0, 0, 70_000_000], outside_ns=70_000_000)
        found["copies"][0]["changed"] = {"cpus": [4]}
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert (found.trust.level, found.runs.n_failed) == ("unusable", 36)
    (why,) = found.runs.failures
    assert why.startswith("at least 100% of its CPU time was not on CPUs 0-3")
