"""What a parallel build shows beside its times, from runs that are made up."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.findings import table
from scalograph.findings.answer import Answer
from scalograph.findings.table import Table
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.findings import Claim, TableDoc
from scalograph.questions.parallel_build.answer import answer, applies, jobs_factor
from scalograph.questions.parallel_build.tables import Memory
from scalograph.text.cell_numbers import cell_number, matrix_scale
from tests.kit.findings import write_journal
from tests.kit.records import recorded

STUDY = """\
version = 1
name = "built"
title = "t"
work = "total"
seed = 0

[workload]
command = ["make", "-j{jobs}"]

[factors.jobs]
title = "-j"
levels = [1, 2, 4]

[factors.policy]
control = "policy"
levels = ["other", "batch"]

[baseline]
jobs = 1

[responses.wall]
from = "run.wall"
unit = "s"

[responses.user]
title = "user time"
from = "run.user"
unit = "s"

[responses.largest]
from = "run.max_rss"
unit = "bytes"
better = "none"
"""
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


def built(folder: Path, text: str = STUDY, timeline: bool = True, n_warmup: int = 0, **head: Any) -> Table:
    jitters = (0.998, 1.0, 1.002, 1.001)
    configurations = [{"jobs": j, "policy": p} for j in WALLS for p in ("other", "batch")]
    runs = [(t, one(int(t["jobs"]), x, timeline)) for x in jitters for t in configurations]
    file = write_journal(
        folder / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [4] * 6}, **head
    )
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[1 : 1 + n_warmup]:
        line["warmup"] = True
        line["record"]["run"] |= {"n_blocks_in": 20_000, "n_major_faults": 44}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return table.load(file)


def told(read: Table) -> Answer:
    return answer(read, comparable_samples(read), []) if applies(read) is None else Answer()


def by_name(found: Answer) -> dict[str, TableDoc]:
    return {doc.id: doc for doc in found.tables}


def claim_of(found: Answer) -> Claim:
    assert found.claim is not None
    return found.claim


def cell(raw: object) -> Estimate:
    assert isinstance(raw, Estimate)
    return raw


def test_how_parallel_each_was(tmp_path: Path) -> None:
    doc = by_name(told(built(tmp_path)))["parallelism"]
    rows = {(row[0], row[1]): row for row in doc.rows}
    assert len(rows) == 6
    alone, four = rows[1, "other"], rows[4, "batch"]
    assert cell(alone[2]).value == pytest.approx(1.0, rel=0.01)
    assert (alone[3], four[3]) == (1, 2)
    assert cell(alone[6]).value is None, "one task is all that -j 1 can have: no tail"
    assert cell(four[2]).value == pytest.approx(2.0 / 1.1, rel=0.01)
    assert cell(four[5]).value == pytest.approx(0.2, abs=0.02)
    assert cell(four[6]).value == pytest.approx(0.2, abs=0.02)


def test_where_the_tasks_were_few(tmp_path: Path) -> None:
    """The last 0.2 of 1.1 s: all of the last tenth, and nearly all of the ninth."""
    doc = by_name(told(built(tmp_path)))["course"]
    rows = {(row[0], row[1]): row[2:] for row in doc.rows}
    assert [column.name for column in doc.columns[2:]] == [f"to {n}%" for n in range(10, 101, 10)]
    assert rows[1, "other"] == pytest.approx([1.0] * 10, rel=0.01)
    assert rows[4, "other"][:8] == pytest.approx([2.0] * 8, rel=0.01)
    assert rows[4, "other"][8] == pytest.approx(1.18, abs=0.03)
    assert rows[4, "other"][9] == pytest.approx(1.0, rel=0.01)


def test_the_best_is_a_set(tmp_path: Path) -> None:
    doc = by_name(told(built(tmp_path)))["best"]
    assert [row[-1] for row in doc.rows if row[0] == "other"] == ["no", "yes", "yes"]
    levels = {cell(row[2]).confidence for row in doc.rows}
    assert levels == {1 - (1 - 0.95) / 2}, "those of both groups hold at once"


def test_user_time_grows_and_the_test_says_where_it_does_not(tmp_path: Path) -> None:
    doc = by_name(told(built(tmp_path)))["inflation"]
    rows = {row[1]: row for row in doc.rows if row[0] == "other"}
    assert rows[2][3] == "the same within 2%"
    assert rows[4][3] == "different"
    assert cell(rows[4][2]).value == pytest.approx(2.1 / 1.9, rel=0.01)


def test_a_policy_that_makes_no_difference_is_shown_to_make_none(tmp_path: Path) -> None:
    doc = by_name(told(built(tmp_path)))["same-policy"]
    assert [row[0] for row in doc.rows] == [1, 2, 4]
    assert {row[3] for row in doc.rows} == {"the same within 2%"}


def test_memory_is_bounded_by_the_largest_process(tmp_path: Path) -> None:
    doc = by_name(told(built(tmp_path, machine={"n_cpus": 2, "memory_bytes": 1000 * MIB})))["memory"]
    rows = {row[1]: row[2:] for row in doc.rows if row[0] == "other"}
    assert rows[4] == [100 * MIB, None, 400 * MIB, 10]
    assert "no run has a group that counts its memory" in doc.note


def test_the_peak_of_the_tree_goes_before_the_bound(tmp_path: Path) -> None:
    found = Memory(100.0, {1: 100.0, 4: 90.0}, {1: 120.0, 4: 300.0})
    assert (found.need(4), found.need(6), found.bound(6)) == (300.0, 500.0, 600.0)
    assert Memory(100.0, {1: 100.0}, {}).need(6) == 600.0


def test_a_failed_configuration_that_needs_more_memory_than_there_is(tmp_path: Path) -> None:
    """All runs of -j 4 were killed: what it would need is told by the others."""
    file = built(tmp_path).file
    assert file is not None
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[0]["machine"]["memory_bytes"] = 350 * MIB
    for line in lines[1:]:
        if line["configuration"] == {"jobs": 4, "policy": "batch"}:
            line["record"]["run"] |= {"status": "failed", "reason": "make ended with exit code 2: cc: Killed"}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (said,) = told(table.load(file)).warnings
    assert said.startswith("-j 4, policy batch: would need about 0.391 GiB, ")
    assert "this machine has 0.342 GiB, which may do for -j 3" in said
    assert told(built(tmp_path)).warnings == []


def test_what_was_built_stands_in_the_journal(tmp_path: Path) -> None:
    line = "redis 5:7.0.15-1, redis_7.0.15.orig.tar.gz, sha256 abc"
    doc = by_name(told(built(tmp_path, uses={"jvms": {}, "program": None, "prepared": {"redis": line}})))["prepared"]
    assert doc.rows == [["redis", line]]
    assert "prepared" not in by_name(told(built(tmp_path)))


def test_what_was_discarded_and_why(tmp_path: Path) -> None:
    doc = by_name(told(built(tmp_path, n_warmup=2)))["discarded"]
    assert [row[0] for row in doc.rows[:2]] == ["r0", "r1"]
    assert doc.rows[0][1:3] == [20_000 * 512.0, 44]
    assert "discarded" not in by_name(told(built(tmp_path)))


def test_the_claim_names_what_may_be_fastest_and_its_cost(tmp_path: Path) -> None:
    said = claim_of(told(built(tmp_path)))
    first, cost = said.cases
    assert said.answered and (first.case, first.values["best"], first.values["where"]) == ("several", [2, 4], "")
    assert (cost.case, cost.values["who"], cost.values["base"]) == ("cost", "-j 4", "-j 1")
    assert cost.values["gain"][0].value == pytest.approx(2.1 / 1.9, rel=0.01)
    assert said.matrix and [row.cells[-1].text for row in said.matrix.rows] == ["no", "yes", "yes"] * 2


def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(tmp_path: Path) -> None:
    said = claim_of(told(built(tmp_path)))
    assert said.matrix is not None
    scale = matrix_scale(said.matrix)
    cells = {(c.text or cell_number(c.estimate, scale)).split()[0] for row in said.matrix.rows for c in row.cells}
    numbers = re.findall(r"([0-9.]+)(?:\N{MULTIPLICATION SIGN}| s )", " ".join(said.sentences))
    assert len(numbers) == 2 and {*numbers} <= cells, (said.sentences, cells)


def test_user_time_that_grows_by_a_factor_is_told_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(USERS, 1, USERS[4] / 3)
    cost = claim_of(told(built(tmp_path))).cases[1]
    assert cost.case == "cost" and cost.values["gain"][0].value == pytest.approx(3, rel=0.01)


def test_disturbed_runs_name_no_best(tmp_path: Path) -> None:
    """All runs of -j 2 under one policy lost a third of their CPU time; the other policy answers."""
    file = built(tmp_path).file
    assert file is not None
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[1:]:
        if line["configuration"] == {"jobs": 2, "policy": "other"}:
            line["record"]["run"] |= {"neighbor_ns": 600_000_000}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found = told(table.load(file))
    docs = by_name(found)
    assert {row[-1] for row in docs["best"].rows if row[0] == "other"} == {
        "no, on disturbed runs", "yes, on disturbed runs"
    }  # fmt: skip
    assert {row[-1] for row in docs["best"].rows if row[0] == "batch"} == {"no", "yes"}
    said = claim_of(found)
    first, elsewhere = said.cases[:2]
    assert (first.values["best"], first.values["where"]) == ([2, 4], "with policy batch"), "it was not disturbed there"
    assert elsewhere.values["left"] == "with policy other"
    assert said.matrix and [bool(row.cells[0].doubt) for row in said.matrix.rows] == [False] * 4 + [True, False]
    rows = {row[0]: row[-1] for row in docs["same-policy"].rows}
    assert rows[2] == "the same within 2%, on disturbed runs"
    assert rows[4] == "the same within 2%"


def test_without_timelines_the_rest_is_told(tmp_path: Path) -> None:
    found = told(built(tmp_path, timeline=False))
    assert "parallelism" not in by_name(found)
    assert {"best", "inflation"} <= by_name(found).keys()
    assert claim_of(found).answered


def test_other_studies_are_left_alone(tmp_path: Path) -> None:
    assert jobs_factor(built(tmp_path)) == "jobs"
    threads = STUDY.replace("jobs", "n").replace('"make", "-jn"', '"make"')
    assert jobs_factor(built_as(tmp_path, threads)) == "n"
    assert jobs_factor(built_as(tmp_path, threads.replace("-j{n}", "-t{n}"))) is None


def built_as(folder: Path, text: str) -> Table:
    configurations = [{"n": j, "policy": "other"} for j in WALLS]
    runs = [(t, one(int(t["n"]), 1.0)) for t in configurations]
    return table.load(
        write_journal(folder / "other.jsonl", runs, text, design={"configurations": configurations, "runs": [1] * 3})
    )


def test_jobs_that_each_build_something_are_no_parallel_build(tmp_path: Path) -> None:
    for work, factor in (("total", "jobs"), ("per-worker", None)):
        read = built(tmp_path, STUDY.replace('work = "total"', f'work = "{work}"'))
        assert jobs_factor(read) == factor
        assert bool(told(read).tables) == (factor is not None)
