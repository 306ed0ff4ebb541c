import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scalograph.errors import ProtocolError
from scalograph.findings import table
from scalograph.protocol.record import Record
from scalograph.questions.assemble import findings
from scalograph.study.identity import dump_study
from scalograph.study.load import parse
from scalograph.study.responses import Windows, observe, run_units, windows
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID


def test_a_score_is_the_median_of_the_iterations_after_warmup(tmp_path: Path) -> None:
    text = VALID.replace("runs = 3", "runs = 3\niterations = 4\nwarmup = 1")
    found = recorded(10.0, iterations=[(5.0, 1.0, 7), (1.0, 2.0, 7), (3.0, 2.5, 7), (2.0, 2.1, 7)])
    (row,) = table.load(write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], found)], text)).rows
    assert row.observations["wall"] == pytest.approx((1.0, 3.0, 2.0))
    assert row.scores == pytest.approx({"wall": 2.0, "cpu": 2.1})
    assert row.work == 7


def test_without_iterations_the_whole_run_is_the_window(tmp_path: Path) -> None:
    (row,) = table.load(write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], recorded(1.5, 1.25))])).rows
    assert row.scores == {"wall": 1.5, "cpu": 1.25}


def test_a_failed_run_is_a_row_without_scores(tmp_path: Path) -> None:
    runs = [(CONFIGURATIONS[0], recorded(status="timeout", reason="still running")), (CONFIGURATIONS[1], recorded())]
    read = table.load(write_journal(tmp_path / "journal.jsonl", runs))
    assert [row.verdict for row in read.rows] == ["failed", "clean"]
    assert read.rows[0].scores == {} and read.rows[0].reason == "still running"
    assert read.successful_rows() == [read.rows[1]]


def test_copies_share_a_window_from_first_start_to_last_end() -> None:
    one = recorded(3.0, iterations=[(1.0, 1.0, 5)])
    late = {**one["iterations"][0], "copy": 0, "start_ns": [500_000_000], "end_ns": [2_000_000_000]}
    found = msgspec.convert({**one, "iterations": [one["iterations"][0], late]}, Record)
    assert windows(found) == Windows([2.0], [2.0], [10])


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("run.wall", [2.0]),
        ("run.cpu", [1.5]),
        ("run.cpu_percent", [75.0]),
        ("run.busiest_cpu_share", [0.75]),
        ("run.steal", [0.0]),
        ("value.nice", [-5.0]),
        ("value.absent", []),
        ("run.wait", []),
    ],
)
def test_sources_of_responses(source: str, value: list[float]) -> None:
    found = msgspec.convert(recorded(2.0, 1.5, per_cpu_s=(1.5, 0.5), values={"nice": [-5]}), Record)
    assert [*observe(source, found, windows(found), 0)] == value


def test_copies_that_report_a_rate_each_have_their_mean() -> None:
    found = recorded(2.0, values={"rate": [100.0, 90.0, 500.0]})
    starved = {"copy": 1, "values": {"rate": [40.0]}}
    both = msgspec.convert({**found, "values": [*found["values"], starved]}, Record)
    assert observe("value.rate", both, Windows(), 0) == (70.0,), (
        "two of them do 140, not twice what the typical one does"
    )


def test_startup_is_what_the_windows_leave() -> None:
    found = msgspec.convert(recorded(2.0, iterations=[(0.5, 0.5, 1), (0.5, 0.5, 1)]), Record)
    assert observe("run.startup", found, windows(found), 0) == pytest.approx([1.0])
    assert "startup" in run_units() and "max_rss" in run_units() and "status" not in run_units()


@pytest.mark.parametrize(
    "broken",
    [
        {"record": None},
        {"record": {**recorded(), "run": {"status": "fine"}}},
        {"configuration": {"threads": 1}},
        {"block": None, "record": {}},
    ],
)
def test_a_broken_run_names_its_line(tmp_path: Path, broken: dict[str, Any]) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], recorded())])
    lines = file.read_text().splitlines()
    lines[1] = json.dumps({**json.loads(lines[1]), **broken})
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(ProtocolError, match=r"journal\.jsonl:2"):
        table.load(file)


def test_a_verdict_that_changed_is_reported(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], recorded(neighbor_s=0.5))])
    with file.open("a") as stream:
        stream.write('{"event":"verdict","at":"x","run":"r0","verdict":"clean","causes":[]}\n')
    read = table.load(file)
    assert read.rows[0].verdict == "disturbed"
    assert read.warnings == ["1 run judged by newer rules than when it was made"]


def test_think_time_is_no_part_of_starting_up() -> None:
    found = recorded(5.0, iterations=[(1.0, 1.0, 7), (1.0, 1.0, 7)])
    found["iterations"][0]["start_ns"][1] += 2_000_000_000  # two seconds of thought between them
    found["iterations"][0]["end_ns"][1] += 2_000_000_000
    parsed = msgspec.convert(found, Record)
    assert observe("run.startup", parsed, windows(parsed), 0) == pytest.approx([1.0])


def test_a_run_with_other_iterations_than_asked_for_has_failed(tmp_path: Path) -> None:
    text = VALID.replace("runs = 3", "runs = 3\niterations = 4\nwarmup = 1")
    found = recorded(iterations=[(0.5, 0.5, 7)])
    (row,) = table.load(write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], found)], text)).rows
    assert (row.status, row.verdict, row.reason) == ("failed", "failed", "reported 1 of 4 iterations")
    assert row.scores == {}


def test_work_that_differs_between_iterations_is_no_work_of_the_run(tmp_path: Path) -> None:
    text = VALID.replace("runs = 3", "runs = 3\niterations = 2")
    found = recorded(iterations=[(0.5, 0.5, 7), (0.5, 0.5, 8)])
    (row,) = table.load(write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], found)], text)).rows
    assert (row.status, row.work) == ("ok", None)


def appended(file: Path, **event: Any) -> Path:
    with file.open("a") as stream:
        stream.write(json.dumps({"at": "2026-01-01T00:00:02.000Z", **event}) + "\n")
    return file


def test_a_resume_brings_what_was_accepted_and_the_counts_since(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], recorded())])
    differences = [{"key": "kernel", "before": "6.1", "now": "6.12"}]
    design = {"configurations": CONFIGURATIONS[::-1], "runs": [9, 8, 7, 6, 5, 4]}
    read = table.load(appended(file, event="resume", machine={}, differences=differences, design=design))
    assert read.accepted == [("kernel", "6.1", "6.12")]
    assert read.n_asked == [4, 5, 6, 7, 8, 9]


def test_a_run_that_was_made_again_is_no_planned_one_when_more_are_asked_for(tmp_path: Path) -> None:
    made = [(CONFIGURATIONS[0], recorded())] * 25  # six are one replicate here
    file = write_journal(tmp_path / "journal.jsonl", made)
    lines = file.read_text().splitlines()
    more, fewer = ({"configurations": CONFIGURATIONS, "runs": [n] * len(CONFIGURATIONS)} for n in (6, 3))
    file.write_text("\n".join(lines[:20]) + "\n")
    assert [row.is_planned for row in table.load(file).rows] == [True] * 18 + [False]
    appended(file, event="resume", machine={}, differences=[], design=more)
    with file.open("a") as stream:
        stream.write("\n".join(lines[20:]) + "\n")
    read = table.load(appended(file, event="resume", machine={}, differences=[], design=fewer))
    assert read.paused_s == 1.0  # from the last run of one start to the next start
    assert (read.n_asked[0], [row.is_planned for row in read.rows]) == (3, [True] * 18 + [False] + [True] * 6)


def test_a_run_is_held_against_the_study_as_it_was_when_it_was_asked_for(tmp_path: Path) -> None:
    one, two = (recorded(iterations=[(0.5, 0.5, 7)] * n) for n in (1, 2))
    file = write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], one), (CONFIGURATIONS[1], two)])
    more = dump_study(parse(VALID.replace("runs = 3", "runs = 3\niterations = 2")))
    lines = file.read_text().splitlines()
    lines.insert(2, json.dumps({"event": "resume", "at": "2026-01-01T00:00:01.000Z", "study": more}))
    file.write_text("\n".join(lines) + "\n")
    read = table.load(file)
    assert [row.status for row in read.rows] == ["ok", "ok"] and read.study.protocol.iterations == 2


@pytest.mark.parametrize(
    "event",
    [
        {"event": "resume", "differences": [{"key": "kernel"}]},
        {"event": "resume", "differences": 3},
        {"event": "resume", "design": {"configurations": CONFIGURATIONS, "runs": [1]}},
        {"event": "resume", "design": {"configurations": [{"threads": []}], "runs": [1]}},
        {"event": "resume", "study": {"name": "no more than a name"}},
    ],
)
def test_a_broken_resume_is_refused_by_its_line(tmp_path: Path, event: dict[str, Any]) -> None:
    file = appended(write_journal(tmp_path / "journal.jsonl", []), **event)
    with pytest.raises(ProtocolError, match=r"journal\.jsonl:2"):
        table.load(file)


@pytest.mark.parametrize(
    "change",
    [{"run": 5}, {"block": "x"}, {"block": 1 << 70}, {"warmup": "yes"}, {"replicate": None}, {"configuration": 3},
     {"configuration": {"threads": [1, 2], "lock": "cas"}}, {"configuration": {"threads": 10**30, "lock": "cas"}}],
)  # fmt: skip
def test_a_run_of_another_shape_is_refused_by_its_line(tmp_path: Path, change: dict[str, Any]) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], recorded())])
    head, run = map(json.loads, file.read_text().splitlines())
    file.write_text(json.dumps(head) + "\n" + json.dumps({**run, **change}) + "\n")
    with pytest.raises(ProtocolError, match=r"journal\.jsonl:2: a broken `run` event"):
        table.load(file)


def test_a_ceiling_beyond_any_machine_is_refused(tmp_path: Path) -> None:
    kinds = {"arithmetic": [{"n_cpus": 10**400}]}
    file = appended(write_journal(tmp_path / "journal.jsonl", []), event="ceiling", ceiling={"kinds": kinds})
    with pytest.raises(ProtocolError, match=r"journal\.jsonl:2: a broken `ceiling` event"):
        table.load(file)


def test_a_name_stands_for_one_run(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], recorded())])
    first_run = json.loads(file.read_text().splitlines()[1])
    with pytest.raises(ProtocolError, match='a second run "r0"'):
        table.load(appended(file, **first_run))


@pytest.mark.parametrize("question", ["cliff", "break-even"])
def test_a_journal_that_no_search_could_have_left_is_refused(tmp_path: Path, question: str) -> None:
    """As a plan of these configurations would be: nothing can be searched among them."""
    document = dump_study(parse(VALID))
    if question != "break-even":
        document["factors"]["lock"]["levels"] = ["none"]
    else:
        document["factors"]["lock"]["levels"], document["factors"]["threads"]["levels"] = [1, 2, 4], [1, 2]
    alone = {"threads": 1, "lock": document["factors"]["lock"]["levels"][0]}
    study = {**document, "question": question}
    file = write_journal(tmp_path / "journal.jsonl", [], study=study, design={"configurations": [alone], "runs": [1]})
    with pytest.raises(ProtocolError, match="take a whole copy"):
        findings(table.load(file))


@pytest.mark.parametrize("machine", [3, {"n_cpus": [2]}, {"n_cpus": 0}, {"memory_bytes": "8 GiB"}, {"cpu_quota": {}}])
def test_facts_that_are_calculated_with_are_numbers(tmp_path: Path, machine: Any) -> None:
    with pytest.raises(ProtocolError, match=r"journal\.jsonl:1: a broken `study` event"):
        table.load(write_journal(tmp_path / "journal.jsonl", [], machine=machine))
