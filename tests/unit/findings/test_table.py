"""Rows of a journal: scores, states, what a resume changes, and lines that no study could have left."""

import json
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import ProtocolError
from scalograph.findings import table
from scalograph.questions.assemble import findings
from scalograph.study.identity import dump_study
from scalograph.study.load import parse
from scalograph.study.responses import Windows, observe, run_units, windows
from tests.kit.findings import CONFIGURATIONS, load_journal, write_journal
from tests.kit.records import read, record, recorded
from tests.kit.studies import VALID

FIRST, SECOND, *_ = CONFIGURATIONS
ITERATED = VALID.replace("runs = 3", "runs = 3\niterations = 4\nwarmup = 1")
TWICE = VALID.replace("runs = 3", "runs = 3\niterations = 2")


def row_of(folder: Path, record: dict[str, Any], text: str = VALID) -> Any:
    """Return the row of a journal of one run."""
    (row,) = load_journal(folder, [(FIRST, record)], text).rows
    return row


def append(file: Path, **event: Any) -> Path:
    with file.open("a") as stream:
        stream.write(json.dumps({"at": "2026-01-01T00:00:02.000Z", **event}) + "\n")
    return file


def test_scores_are_medians_after_warmup_and_copies_share_a_window(tmp_path: Path) -> None:
    every = [(5.0, 1.0, 7), (1.0, 2.0, 7), (3.0, 2.5, 7), (2.0, 2.1, 7)]
    row = row_of(tmp_path, recorded(10.0, iterations=every), ITERATED)
    assert row.observations["wall"] == pytest.approx((1.0, 3.0, 2.0))
    assert (row.scores, row.work) == (pytest.approx({"wall": 2.0, "cpu": 2.1}), 7)
    assert row_of(tmp_path, recorded(1.5, 1.25)).scores == {"wall": 1.5, "cpu": 1.25}
    run = recorded(3.0, iterations=[(1.0, 1.0, 5)])
    late = {**run["iterations"][0], "copy": 0, "start_ns": [500_000_000], "end_ns": [2_000_000_000]}
    assert windows(read({**run, "iterations": [run["iterations"][0], late]})) == Windows([2.0], [2.0], [10])
    run = recorded(2.0, values={"rate": [100.0, 90.0, 500.0]})
    both = read({**run, "values": [*run["values"], {"copy": 1, "values": {"rate": [40.0]}}]})
    # Two of them do 140: not twice what the typical one does.
    assert observe("value.rate", both, Windows(), 0) == (70.0,)


def test_failed_runs_and_iterations_that_contradict_the_study_have_no_scores(tmp_path: Path) -> None:
    runs = [(FIRST, recorded(status="timeout", reason="still running")), (SECOND, recorded())]
    failed, clean = (loaded := load_journal(tmp_path, runs)).rows
    assert (failed.verdict, failed.scores, failed.reason) == ("failed", {}, "still running")
    assert clean.verdict == "clean" and loaded.successful_rows() == [clean]
    row = row_of(tmp_path, recorded(iterations=[(0.5, 0.5, 7)]), ITERATED)
    assert (row.status, row.verdict, row.scores) == ("failed", "failed", {})
    assert row.reason == "reported 1 of 4 iterations"
    row = row_of(tmp_path, recorded(iterations=[(0.5, 0.5, 7), (0.5, 0.5, 8)]), TWICE)
    assert (row.status, row.work) == ("ok", None)  # work that differs is none of the run


@pytest.mark.parametrize(("source", "value"), [
    ("run.wall", [2.0]), ("run.cpu", [1.5]), ("run.cpu_percent", [75.0]), ("run.busiest_cpu_share", [0.75]),
    ("run.steal", [0.0]), ("value.nice", [-5.0]), ("value.absent", []), ("run.wait", []),
])  # fmt: skip
def test_sources_of_responses(source: str, value: list[float]) -> None:
    run = record(2.0, 1.5, per_cpu_s=(1.5, 0.5), values={"nice": [-5]})
    assert [*observe(source, run, windows(run), 0)] == value


@pytest.mark.parametrize(("wall_s", "think_s"), [(2.0, 0), (4.0, 2)], ids=["no thought", "two seconds of it"])
def test_startup_is_what_the_windows_and_the_time_between_them_leave(wall_s: float, think_s: int) -> None:
    written = recorded(wall_s, iterations=[(0.5, 0.5, 1), (0.5, 0.5, 1)])
    for end in ("start_ns", "end_ns"):
        written["iterations"][0][end][1] += think_s * 10**9
    run = read(written)
    assert observe("run.startup", run, windows(run), 0) == pytest.approx([1.0])
    assert "startup" in run_units() and "max_rss" in run_units() and "status" not in run_units()


def copies(run: dict[str, Any], *ends_s: float | None) -> dict[str, Any]:
    """Give a run copies that end at these seconds, each of a command of its own."""
    (copy,) = run["copies"]
    ends = [None if end is None else round(end * 1e9) for end in ends_s]
    return {**run, "copies": [{**copy, "copy": i, "command": i, "end_ns": end} for i, end in enumerate(ends)]}


@pytest.mark.parametrize(("run", "finish_s"), [
    # The first ends with its last iteration; of a command that reports none, a copy ends with its process.
    (copies(recorded(3.0, iterations=[(1.0, 1.0, 5)] * 2), 2.5, 3.0), (2.0, 3.0)),
    (copies(recorded(3.0), 2.5, None), ()),
    (recorded(values={"finish_ns": [1e9, 2e9]}), (1.0, 2.0)),
    (recorded(), ()),
    (copies(recorded(status="timeout"), 1.0, 2.0), ()),
], ids=["copies", "one end is not known", "threads", "one worker", "failed"])  # fmt: skip
def test_workers_finish_at_their_ends(tmp_path: Path, run: dict[str, Any], finish_s: tuple[float, ...]) -> None:
    assert row_of(tmp_path, run, TWICE if run["iterations"] else VALID).finish_s == finish_s


def test_a_changed_verdict_is_reported_and_a_resume_brings_what_was_accepted(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(FIRST, recorded(neighbor_s=0.5))])
    loaded = table.load(append(file, event="verdict", run="r0", verdict="clean", causes=[]))
    assert loaded.rows[0].verdict == "disturbed"
    assert loaded.warnings == ["1 run judged by newer rules than when it was made"]
    differences = [{"key": "kernel", "before": "6.1", "now": "6.12"}]
    design = {"configurations": CONFIGURATIONS[::-1], "runs": [9, 8, 7, 6, 5, 4]}
    loaded = table.load(append(file, event="resume", machine={}, differences=differences, design=design))
    assert (loaded.accepted, loaded.n_asked) == ([("kernel", "6.1", "6.12")], [4, 5, 6, 7, 8, 9])


def test_a_run_that_was_made_again_is_no_planned_one_when_more_are_asked_for(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(FIRST, recorded())] * 25)  # six are one replicate here
    lines = file.read_text().splitlines()
    more, fewer = ({"configurations": CONFIGURATIONS, "runs": [n] * len(CONFIGURATIONS)} for n in (6, 3))
    file.write_text("\n".join(lines[:20]) + "\n")
    assert [row.is_planned for row in table.load(file).rows] == [True] * 18 + [False]
    append(file, event="resume", machine={}, differences=[], design=more)
    with file.open("a") as stream:
        stream.write("\n".join(lines[20:]) + "\n")
    loaded = table.load(append(file, event="resume", machine={}, differences=[], design=fewer))
    assert loaded.paused_s == 1.0  # from the last run of one start to the next start
    assert (loaded.n_asked[0], [row.is_planned for row in loaded.rows]) == (3, [True] * 18 + [False] + [True] * 6)


def test_a_run_is_held_against_the_study_as_it_was_when_it_was_asked_for(tmp_path: Path) -> None:
    before, after = (recorded(iterations=[(0.5, 0.5, 7)] * n) for n in (1, 2))
    file = write_journal(tmp_path / "journal.jsonl", [(FIRST, before), (SECOND, after)])
    lines = file.read_text().splitlines()
    resume = {"event": "resume", "at": "2026-01-01T00:00:01.000Z", "study": dump_study(parse(TWICE))}
    file.write_text("\n".join([*lines[:2], json.dumps(resume), *lines[2:]]) + "\n")
    loaded = table.load(file)
    assert [row.status for row in loaded.rows] == ["ok", "ok"] and loaded.study.protocol.iterations == 2


GRID = {"configurations": CONFIGURATIONS, "runs": [3] * 6}
UNPLANNED = [
    ({**FIRST, "ghost": 1}, "expected a level of "),
    ({"threads": 1}, "expected a level of "),
    ({**FIRST, "lock": "ghost"}, "= 'ghost', expected "),
    ({**FIRST, "threads": True}, "= True, expected "),
    ({**FIRST, "threads": [1]}, r"found \[1\], expected a number, text or a boolean"),
    ({**FIRST, "threads": 10**30}, ""),
]
# Of each line what is changed, and words of the refusal; the third line is a copy of the second.
REFUSED: list[tuple[int, dict[str, Any], str]] = [
    *((1, {"configuration": configuration}, f"a broken `run` event.*{words}") for configuration, words in UNPLANNED),
    *(
        (0, {"design": {**GRID, "configurations": [configuration, *CONFIGURATIONS[1:]]}}, f"a broken `study`.*{words}")
        for configuration, words in UNPLANNED
    ),
    *(
        (0, {"design": {**GRID, "runs": [n] * 6 if n is not None else []}}, "expected a count for each of")
        for n in (None, 1.5, "3", True, -1, 10**30)
    ),
    *(
        (0, {"machine": machine}, "a broken `study` event")
        for machine in (3, {"n_cpus": [2]}, {"n_cpus": 0}, {"memory_bytes": "8 GiB"}, {"cpu_quota": {}})
    ),
    (1, {"record": None}, "a broken `run` event"),
    (1, {"record": {**recorded(), "run": {"status": "fine"}}}, "a broken `run` event"),
    (1, {"block": None, "record": {}}, "a broken `run` event"),
    (1, {"run": 5}, "a broken `run` event"),
    (1, {"block": "x"}, "a broken `run` event"),
    (1, {"block": 1 << 70}, "a broken `run` event"),
    (1, {"warmup": "yes"}, "a broken `run` event"),
    (1, {"replicate": None}, "a broken `run` event"),
    (1, {"configuration": 3}, "a broken `run` event"),
    (2, {}, 'a second run "r0"'),
    (2, {"event": "resume", "differences": [{"key": "kernel"}]}, "a broken `resume` event"),
    (2, {"event": "resume", "differences": 3}, "a broken `resume` event"),
    (2, {"event": "resume", "design": {**GRID, "runs": [1]}}, "a broken `resume` event"),
    (2, {"event": "resume", "design": {"configurations": [{"threads": []}], "runs": [1]}}, "a broken `resume` event"),
    (2, {"event": "resume", "study": {"name": "no more than a name"}}, "a broken `resume` event"),
    (2, {"event": "ceiling", "ceiling": {"kinds": {"arithmetic": [{"n_cpus": 10**400}]}}}, "a broken `ceiling` event"),
]


@pytest.mark.parametrize(("line", "changes", "words"), REFUSED)
def test_a_broken_line_is_refused_by_its_number(tmp_path: Path, line: int, changes: dict[str, Any], words: str) -> None:
    file = write_journal(tmp_path / "journal.jsonl", [(FIRST, recorded())])
    events = [json.loads(text) for text in file.read_text().splitlines()]
    events[line : line + 1] = [{**events[min(line, 1)], **changes}]
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    with pytest.raises(ProtocolError, match=rf"journal\.jsonl:{line + 1}: .*{words}"):
        table.load(file)


@pytest.mark.parametrize(
    ("question", "levels"),
    [("cliff", {"lock": ["none"], "threads": [1, 2, 4]}), ("break-even", {"lock": [1, 2, 4], "threads": [1, 2]})],
)
def test_a_journal_that_no_search_left_is_refused(tmp_path: Path, question: str, levels: dict[str, list[Any]]) -> None:
    """As a plan of these configurations would be: nothing can be searched among them."""
    study = {**dump_study(parse(VALID)), "question": question}
    for name, own in levels.items():
        study["factors"][name]["levels"] = own
    alone = {"threads": 1, "lock": levels["lock"][0]}
    with pytest.raises(ProtocolError, match="take a whole copy"):
        findings(load_journal(tmp_path, [], study=study, design={"configurations": [alone], "runs": [1]}))
