"""What a parallel build shows beside its times, from runs that are made up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.findings import table
from scalograph.findings.answer import Answer
from scalograph.findings.table import Table
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.findings import TableDoc
from scalograph.questions.parallel_build.answer import answer, applies, jobs_factor
from scalograph.questions.parallel_build.tables import Memory
from tests.kit.findings import cases_of, claim_of, write_journal
from tests.kit.records import recorded
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study

RESPONSES = {
    "wall": {"from": "run.wall", "unit": "s"}, "user": {"title": "user time", "from": "run.user", "unit": "s"},
    "largest": {"from": "run.max_rss", "unit": "bytes", "better": "none"},
}  # fmt: skip
POLICY = {"control": "policy", "levels": ["other", "batch"]}
STUDY = a_study(
    {"jobs": {"title": "-j", "levels": [1, 2, 4]}, "policy": POLICY},
    command="make -j{jobs}", baseline={"jobs": 1}, responses=RESPONSES,
)  # fmt: skip
WALLS = {1: 2.0, 2: 1.1, 4: 1.1}
USERS = {1: 1.90, 2: 1.905, 4: 2.1}
STEP_MS = 10
MIB = 1 << 20


def one(jobs: int, jitter: float, timeline: bool = True) -> dict[str, Any]:
    """Two tasks on two CPUs all the time but for the last 0.2 s; with -j 1 one task."""
    wall = WALLS[jobs] * jitter
    made = recorded(wall, USERS[jobs] * jitter, cpus=(0, 1), per_cpu_s=(wall, wall))
    made["run"]["max_rss_bytes"] = 100 * MIB
    full = STEP_MS * 1_000_000
    both = 0.0 if jobs == 1 else wall - 0.2
    rows = [_bins(wall, full), _bins(both, full)]
    n = len(rows[0])
    rows[1] += [0] * (n - len(rows[1]))
    if timeline:
        bins = {"bin_ns": full, "cpus": [0, 1], "busy_ns": rows, "waiting_ns": [0] * n, "tasks": []}
        made["timeline"] = {"source": "records", **bins}
    return made


def _bins(until_s: float, width: int) -> list[int]:
    """A CPU that is busy until then; the last bin ends there."""
    whole, rest = divmod(round(until_s * 1e9), width)
    return [width] * whole + ([rest] if rest else [])


Line = dict[str, Any]


def built(
    folder: Path, text: str = STUDY, timeline: bool = True, factor: str = "jobs",
    change: Callable[[int, Line], object] = lambda number, line: None, **head: Any,
) -> Table:  # fmt: skip
    """The table of four runs of each configuration; `change` does to the lines of the journal what a test is about."""
    configurations = [{factor: j, "policy": p} for j in WALLS for p in ("other", "batch")]
    runs = [(t, one(int(t[factor]), x, timeline)) for x in (0.998, 1.0, 1.002, 1.001) for t in configurations]
    design = {"configurations": configurations, "runs": [4] * 6}
    file = write_journal(folder / "journal.jsonl", runs, text, design=design, **head)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for number, line in enumerate(lines):
        change(number, line)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return table.load(file)


def changed(configuration: Line, **run: Any) -> Callable[[int, Line], object]:
    """What changes the runs of a configuration."""
    return lambda n, line: n and line["configuration"] == configuration and line["record"]["run"].update(run)


def told(read: Table) -> Answer:
    return answer(read, comparable_samples(read), []) if applies(read) is None else Answer()


def by_name(found: Answer) -> dict[str, TableDoc]:
    return {doc.id: doc for doc in found.tables}


def cell(raw: object) -> Estimate:
    assert isinstance(raw, Estimate)
    return raw


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    return told(built(tmp_path_factory.mktemp("usual")))


def test_how_parallel_each_was_and_where_the_tasks_were_few(usual: Answer) -> None:
    rows = {(row[0], row[1]): row for row in by_name(usual)["parallelism"].rows}
    assert len(rows) == 6
    alone, four = rows[1, "other"], rows[4, "batch"]
    assert cell(alone[2]).value == pytest.approx(1.0, rel=0.01)
    assert (alone[3], four[3]) == (1, 2)
    assert cell(alone[6]).value is None, "one task is all that -j 1 can have: no tail"
    assert cell(four[2]).value == pytest.approx(2.0 / 1.1, rel=0.01)
    assert [cell(four[i]).value for i in (5, 6)] == pytest.approx([0.2, 0.2], abs=0.02)
    # The last 0.2 of 1.1 s: all of the last tenth, and nearly all of the ninth.
    course = by_name(usual)["course"]
    tenths = {(row[0], row[1]): row[2:] for row in course.rows}
    assert [column.name for column in course.columns[2:]] == [f"to {n}%" for n in range(10, 101, 10)]
    assert tenths[1, "other"] == pytest.approx([1.0] * 10, rel=0.01)
    assert tenths[4, "other"][:8] == pytest.approx([2.0] * 8, rel=0.01)
    assert tenths[4, "other"][8] == pytest.approx(1.18, abs=0.03)
    assert tenths[4, "other"][9] == pytest.approx(1.0, rel=0.01)


def test_a_timeline_in_which_others_had_the_cpus_shows_no_parallelism(usual: Answer, tmp_path: Path) -> None:
    def disturb(number: int, line: Line) -> None:
        if 1 <= number <= 12:
            run = line["record"]["run"]
            own, lost = run["wall_ns"], round(0.7 * run["wall_ns"])
            replay = {"low_ns": own, "high_ns": own, "overlap_ns": own, "sleep_ns": 0, "n_wakes": 9}
            line["record"]["copies"][0]["end_ns"] = run["wall_ns"] = run["wall_outer_ns"] = own + lost
            run.update(neighbor_ns=lost, wait_ns=lost, replay=replay)

    read = built(tmp_path, change=disturb)
    assert [row.verdict for row in read.rows] == ["corrected"] * 12 + ["clean"] * 12
    quiet, busy = (by_name(found)["parallelism"].rows for found in (usual, told(read)))
    assert [cell(row[2]).value for row in busy] == pytest.approx([cell(row[2]).value for row in quiet], rel=0.01)


def test_the_best_is_a_set_and_user_time_grows_where_the_test_says_so(usual: Answer) -> None:
    best = by_name(usual)["best"]
    assert [row[-1] for row in best.rows if row[0] == "other"] == ["no", "yes", "yes"]
    assert {cell(row[2]).confidence for row in best.rows} == {1 - (1 - 0.95) / 2}, "those of both groups hold at once"
    rows = {row[1]: row for row in by_name(usual)["inflation"].rows if row[0] == "other"}
    assert (rows[2][3], rows[4][3]) == ("the same within 2%", "different")
    assert cell(rows[4][2]).value == pytest.approx(2.1 / 1.9, rel=0.01)
    policy = by_name(usual)["same-policy"]
    assert [(row[0], row[3]) for row in policy.rows] == [(n, "the same within 2%") for n in (1, 2, 4)]


def test_a_claim_names_the_fastest_and_its_cost(usual: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = claim_of(usual)
    first, cost = said.cases
    assert said.answered and (first.case, first.values["best"], first.values["where"]) == ("several", [2, 4], "")
    assert (cost.case, cost.values["who"], cost.values["base"]) == ("cost", "-j 4", "-j 1")
    assert cost.values["gain"][0].value == pytest.approx(2.1 / 1.9, rel=0.01)
    assert said.matrix and [row.cells[-1].text for row in said.matrix.rows] == ["no", "yes", "yes"] * 2
    check_numbers(said)
    assert usual.warnings == [] and not {"prepared", "discarded"} & by_name(usual).keys()
    monkeypatch.setitem(USERS, 1, USERS[4] / 3)  # what grows by a factor is told as one
    assert cases_of(told(built(tmp_path)))["cost"]["gain"][0].value == pytest.approx(3, rel=0.01)


def test_memory_is_bounded_by_the_largest_process_or_the_peak_of_the_tree(tmp_path: Path) -> None:
    doc = by_name(told(built(tmp_path, machine={"n_cpus": 2, "memory_bytes": 1000 * MIB})))["memory"]
    rows = {row[1]: row[2:] for row in doc.rows if row[0] == "other"}
    assert rows[4] == [100 * MIB, None, 400 * MIB, 10]
    assert "no run has a group that counts its memory" in doc.note
    found = Memory(100.0, {1: 100.0, 4: 90.0}, {1: 120.0, 4: 300.0})
    assert (found.need(4), found.need(6), found.bound(6)) == (300.0, 500.0, 600.0)
    assert Memory(100.0, {1: 100.0}, {}).need(6) == 600.0


def test_a_failed_configuration_that_needs_more_memory_than_there_is(tmp_path: Path) -> None:
    """All runs of -j 4 were killed: what it would need is told by the others."""
    killed = changed({"jobs": 4, "policy": "batch"}, status="failed", reason="make ended with exit code 2: cc: Killed")
    machine = {"n_cpus": 2, "memory_bytes": 350 * MIB}
    (said,) = told(built(tmp_path, change=killed, machine=machine)).warnings
    assert said.startswith("-j 4, policy batch: would need about 0.391 GiB, ")
    assert "this machine has 0.342 GiB, which may do for -j 3" in said


def test_what_was_built_and_what_was_discarded_and_why_stand_in_the_journal(tmp_path: Path) -> None:
    def warm_up(number: int, line: Line) -> None:
        if number in (1, 2):
            line["warmup"] = True
            line["record"]["run"] |= {"n_blocks_in": 20_000, "n_major_faults": 44}

    text = "redis 5:7.0.15-1, redis_7.0.15.orig.tar.gz, sha256 abc"
    uses = {"jvms": {}, "program": None, "prepared": {"redis": text}}
    docs = by_name(told(built(tmp_path, change=warm_up, uses=uses)))
    assert docs["prepared"].rows == [["redis", text]]
    assert [row[0] for row in docs["discarded"].rows[:2]] == ["r0", "r1"]
    assert docs["discarded"].rows[0][1:3] == [20_000 * 512.0, 44]


def test_disturbed_runs_name_no_best(tmp_path: Path) -> None:
    """All runs of -j 2 under one policy lost a third of their CPU time; the other policy answers."""
    found = told(built(tmp_path, change=changed({"jobs": 2, "policy": "other"}, neighbor_ns=600_000_000)))
    best = {(row[0], row[-1]) for row in by_name(found)["best"].rows}
    disturbed = {("other", f"{word}, on disturbed runs") for word in ("no", "yes")}
    assert best == {*disturbed, ("batch", "no"), ("batch", "yes")}
    said = claim_of(found)
    first, elsewhere = said.cases[:2]
    assert (first.values["best"], first.values["where"]) == ([2, 4], "with policy batch"), "it was not disturbed there"
    assert elsewhere.values["left"] == "with policy other"
    assert said.matrix and [bool(row.cells[0].doubt) for row in said.matrix.rows] == [False] * 4 + [True, False]
    rows = {row[0]: row[-1] for row in by_name(found)["same-policy"].rows}
    assert (rows[2], rows[4]) == ("the same within 2%, on disturbed runs", "the same within 2%")


def test_without_timelines_the_rest_is_told(tmp_path: Path) -> None:
    found = told(built(tmp_path, timeline=False))
    assert "parallelism" not in by_name(found)
    assert {"best", "inflation"} <= by_name(found).keys()
    assert claim_of(found).answered


@pytest.mark.parametrize(("factor", "command", "work", "jobs"), [
    ("jobs", "make -j{jobs}", "total", "jobs"), ("n", "./prog -j{n}", "total", "n"),
    ("n", "./prog -t{n}", "total", None), ("jobs", "make -j{jobs}", "per-worker", None),
], ids=["make", "its option alone", "threads", "jobs that each build something"])  # fmt: skip
def test_other_studies_are_left_alone(tmp_path: Path, factor: str, command: str, work: str, jobs: str | None) -> None:
    factors = {factor: {"title": "-j", "levels": [1, 2, 4]}, "policy": POLICY}
    text = a_study(factors, command=command, baseline={factor: 1}, responses=RESPONSES, work=work)
    read = built(tmp_path, text, factor=factor)
    assert jobs_factor(read) == jobs and bool(told(read).tables) == (jobs is not None)
