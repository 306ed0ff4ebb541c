import itertools
import os
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design
from scalograph.design.replay import replay, seconds_per_block, timed_runs
from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.protocol import journal
from scalograph.protocol.journal import Journal
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import EndedService, JobStep, ServicesEnded
from scalograph.run import loop
from scalograph.run.interrupts import record_signal
from scalograph.run.loop import Budget, LoopResult, NodeTime, RunContext, no_service_ends, run_study
from scalograph.run.quiet_gate import GateResult
from scalograph.study.levels import Run
from scalograph.study.load import parse
from scalograph.verdict.judge import Judgment
from tests.kit.findings import CONFIGURATIONS
from tests.kit.records import placed, record
from tests.kit.refusals import refuses
from tests.kit.studies import VALID


def grid(**protocol: Any) -> GridPlanner:
    """The valid study with these keys of its protocol: three blocks of seven runs, as one configuration runs twice."""
    study = parse(VALID)
    changed = study.model_copy(update={"protocol": study.protocol.model_copy(update=protocol)})
    return GridPlanner(Design(changed, tuple(CONFIGURATIONS), (), {0: 2}))


def told_of(planner: GridPlanner, *names: str, verdict: str = "clean") -> GridPlanner:
    for name in names:
        planner.tell(planner._planned[name], {}, verdict)
    return planner


PLANNED = grid()._planned
NAMES = [*PLANNED]
FIRST = NAMES[:7]  # the first block
KILLED = EndedService(name="web", stop_signal="TERM", stopped_by="KILL", stop_ns=5_000_000_000, signal=9)
AGAIN = "Block 1 unusable: 4 of 7 runs were disturbed; repeated, each time after waiting for quiet (--wait-quiet)"
BUSY = "Block 1 unusable: 4 of 7 runs were disturbed; not repeated"
REPEATED = (FIRST[1], FIRST[4], f"{FIRST[4]}r1", NAMES[9], NAMES[20])


class Told:
    """Hears of runs and notes; sends this process a signal when a run has ended: the loop is at work, and no run is."""

    def __init__(self, signal_number: int = 0) -> None:
        self.runs, self.notes, self.signal_number = list[str](), list[str](), signal_number

    def phase_began(self, name: str) -> None:
        self.notes.append(name)

    def run_started(self, run: Run, n_left: int) -> None:
        assert n_left > 0

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None:
        self.runs.append(run.run)
        os.kill(os.getpid(), self.signal_number)

    def run_warned(self, text: str, about: str = "") -> None:
        self.notes.append(text)


class FakeHost:
    """Ends as it is told: after `stop_after` runs it raises `error`. Runs named in `disturbed` have a neighbor."""

    def __init__(
        self, stop_after: int = 10**9, error: BaseException | None = None, disturbed: Collection[str] = (),
        answer: Callable[[Run], Record] | None = None,
    ) -> None:  # fmt: skip
        self.measured: list[str] = []
        self.stop_after, self.error = stop_after, error
        self.answer = answer or (lambda run: record(neighbor_s=0.5 if run.run in disturbed else 0.0))

    def measure(self, run: Run) -> Record:
        if len(self.measured) >= self.stop_after and self.error:
            raise self.error
        self.measured.append(run.run)
        return self.answer(run)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def carry_out(
    file: Path, host: FakeHost, planner: GridPlanner | None = None, *args: Any, progress: Told | None = None,
    service_ends: loop.ServiceEnds = no_service_ends, nodes: NodeTime | None = None,
) -> LoopResult:  # fmt: skip
    """Begin a study, or go on with the one whose journal is there; `args` are a budget and a gate."""
    begins = not file.exists()
    with closing(Journal(file)) as book:
        if begins:
            book.append("study", protocol=1)
        context = RunContext(host, book, progress or Told(), service_ends=service_ends, nodes=nodes)
        return run_study(planner or grid(), context, *(args or (Budget(None),)))


def events(file: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in journal.read(file) if event["event"] == kind]


def kinds(file: Path) -> list[str]:
    return [event["event"] for event in journal.read(file)]


def test_a_run_is_written_before_the_next_and_one_without_its_verdict_is_still_told(file: Path) -> None:
    assert carry_out(file, FakeHost()).reason == "complete"
    assert kinds(file) == ["study", *["ask", "run", "verdict"] * 21, "end"]
    planner = grid()
    assert replay(planner, [event for event in journal.read(file) if event["event"] != "verdict"]) == 21
    assert planner.ask() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_between_two_runs_ends_the_study_in_order(file: Path, number: signal.Signals) -> None:
    progress = Told(number)
    before = signal.signal(number, signal.default_int_handler)  # whatever the shell left
    try:
        ended = carry_out(file, FakeHost(), progress=progress)
        assert ended[:2] == ("interrupted", signal.SIGTERM if number == signal.SIGHUP else number)
        assert signal.getsignal(number) == signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert len(progress.runs) == 1 and kinds(file) == ["study", "ask", "run", "verdict", "end"]


class ToldTwice(Told):
    """Sends a second signal, as somebody does who is in a hurry."""

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None:
        super().run_finished(run, found, judgment)
        os.kill(os.getpid(), self.signal_number)


@pytest.mark.parametrize(("kind", "is_hurried"), [(Told, False), (ToldTwice, True)])
def test_a_second_signal_says_that_somebody_is_in_a_hurry(file: Path, kind: type[Told], is_hurried: bool) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ended = carry_out(file, FakeHost(), progress=kind(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (ended.reason, ended.n_made, ended.is_hurried) == ("interrupted", 1, is_hurried)


@pytest.mark.guarantee
@pytest.mark.parametrize(
    ("stop_after", "disturbed", "lost"),
    [*((n, (), "nothing") for n in (0, 1, 7, 20)), *((n, REPEATED, "verdict") for n in range(0, 25, 3))],
)
def test_a_killed_study_has_the_same_runs(tmp_path: Path, stop_after: int, disturbed: Sequence[str], lost: str) -> None:
    whole, first = FakeHost(disturbed=disturbed), FakeHost(stop_after, HostError("disk", "full"), disturbed)
    carry_out(tmp_path / "whole.jsonl", whole)
    with pytest.raises(HostError):
        carry_out(tmp_path / "killed.jsonl", first)
    planner, second = grid(), FakeHost(disturbed=disturbed)
    left = [event for event in journal.read(tmp_path / "killed.jsonl") if event["event"] != lost]
    assert replay(planner, left) == stop_after
    carry_out(tmp_path / "killed.jsonl", second, planner)
    assert first.measured + second.measured == whole.measured


def test_ctrl_c_loses_no_finished_run_and_the_broken_one_is_asked_again(file: Path) -> None:
    assert carry_out(file, FakeHost(3, KeyboardInterrupt())).reason == "interrupted"
    planner = grid()
    replay(planner, journal.read(file))
    asked = [event["run"] for event in events(file, "ask")]
    again = planner.ask()
    assert again is not None and again.run == asked[-1] and len(asked) == 4


def test_a_budget_stops_before_a_block_and_never_inside(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, 10.0)  # each look at the clock is 10 s later: a block takes 10 s
    monkeypatch.setattr(loop.time, "monotonic", lambda: next(clock))
    host = FakeHost()
    assert carry_out(file, host, None, Budget(25.0)).reason == "budget"
    assert len(host.measured) == 14  # two whole blocks of seven


def test_node_hours_end_a_study_before_a_block_that_would_exceed_them(file: Path) -> None:
    def answer(run: Run) -> Record:
        job = JobStep(engine="slurm", job=f"{run.block}", n_nodes=4)
        return msgspec.structs.replace(record(wall_s=2.0), job=job)

    host, progress = FakeHost(answer=answer), Told()
    block_s = 4 * (5 + 7 * 2.0)  # its reference and seven runs
    nodes = NodeTime(2.5 * block_s, 5.0)
    assert carry_out(file, host, progress=progress, nodes=nodes).reason == "budget"
    assert nodes.blocks == pytest.approx({0: block_s, 1: block_s}) and len(host.measured) == 14
    assert progress.notes[-1].endswith("another block takes about 0.021; no further job is submitted")
    more, blocks = FakeHost(answer=answer), dict(nodes.blocks)
    planner = grid()
    replay(planner, journal.read(file))
    assert carry_out(file, more, planner, nodes=NodeTime(3 * block_s, 5.0, blocks)).reason == "complete"


@pytest.mark.parametrize(("blocks", "next_block", "allowed"), [
    ({}, 0, True),
    ({0: 5.0}, 1, True),
    ({0: 5.1}, 1, False),  # as long as the one before
    ({0: 5.0, 1: 4.0}, 1, True),  # a part of it is done already
    ({0: 5.0, 1: 5.1}, 1, False),
    ({-1: 6.0, 0: 3.0}, 1, False),  # warm-up runs take time
    ({-1: 6.0}, 0, True),  # and say nothing about a block
    ({0: 10.1}, 0, False),
])  # fmt: skip
def test_time_before_a_resume_counts_block_by_block(blocks: dict[int, float], next_block: int, allowed: bool) -> None:
    assert Budget(10.0, blocks).allows(Run("next", next_block, {}, 0)) is allowed


def run_event(name: str, block: int = 0, **more: Any) -> dict[str, Any]:
    first = {"threads": 1, "lock": "none"}
    event = {"run": name, "block": block, "configuration": first, "replicate": 0, "warmup": False, "record": record()}
    return event | more


def test_the_time_of_blocks_is_read_from_the_journal_but_for_a_clock_that_was_set_forward() -> None:
    timed = [
        {"event": event, "at": f"2026-01-01T00:00:{second:02d}.000Z", **run_event(f"b000{n}-0000", n)}
        for second, (event, n) in enumerate([("ask", 0), ("ask", 0), ("run", 0), ("ask", 1), ("run", 1), ("ask", 1)])
    ]
    assert seconds_per_block(timed) == {0: 1.0, 1: 1.0}
    first = {"event": "ask", "at": "2026-01-01T00:00:00.000Z", **run_event("b0000-0000")}
    set_forward = run_event("b0000-0000", record=record().replace_values(clock_step_ns=3600 * 10**9))
    assert seconds_per_block([first, {"event": "run", "at": "2026-01-01T01:00:02.000Z", **set_forward}]) == {0: 2.0}


def test_copies_that_write_much_to_stderr_lose_its_end_and_not_the_run(file: Path) -> None:
    answer = placed(*[None] * 70)
    wordy = [msgspec.structs.replace(copy, stderr_tail="x" * (64 << 10)) for copy in answer.copies]
    large = msgspec.structs.replace(answer, copies=wordy)
    carry_out(file, FakeHost(1, KeyboardInterrupt(), answer=lambda run: large))
    kept: Record = events(file, "run")[0]["record"]
    assert kept.run.status == "ok" and len(kept.copies) == 70 and not any(copy.stderr_tail for copy in kept.copies)


def test_disturbed_runs_are_asked_again_at_the_end_of_their_block_once(file: Path) -> None:
    host = FakeHost(disturbed=[FIRST[4], FIRST[1], NAMES[9]])
    assert carry_out(file, host).reason == "complete"
    again = [f"{FIRST[1]}r1", f"{FIRST[4]}r1"]
    assert host.measured == [*FIRST, *again, *NAMES[7:14], f"{NAMES[9]}r1", *NAMES[14:]]
    runs = events(file, "run")
    keys = [(str(event["configuration"]), event["replicate"]) for event in runs]
    assert len(set(keys)) == len(keys) and all(event["block"] == 0 for event in runs[:9])
    assert "note" not in kinds(file)


@pytest.mark.parametrize(("protocol", "disturbed", "reason", "measured", "note"), [
    ({}, FIRST[:4], "complete", NAMES, BUSY),
    ({"wait_quiet_s": 60.0}, FIRST[:4], "complete", [*FIRST, *sorted(f"{n}r1" for n in FIRST[:4]), *NAMES[7:]], AGAIN),
    ({"when_busy": "stop"}, FIRST[:4], "busy", FIRST, ""),
    # One that is disturbed again is given up.
    ({}, [FIRST[0], f"{FIRST[0]}r1"], "complete", [*FIRST, f"{FIRST[0]}r1", *NAMES[7:]], ""),
])  # fmt: skip
def test_on_a_busy_machine_a_study_says_so_or_repeats_or_ends(
    file: Path, protocol: dict[str, Any], disturbed: list[str], reason: str, measured: list[str], note: str
) -> None:
    host = FakeHost(disturbed=disturbed)
    assert (carry_out(file, host, grid(**protocol)).reason, host.measured) == (reason, measured)
    if note:
        assert [event["text"].startswith(note) for event in events(file, "note")] == [True]


@pytest.mark.parametrize("protocol", [{}, {"wait_quiet_s": 60.0}, {"when_busy": "stop"}])
def test_what_cannot_be_is_no_busy_machine(file: Path, protocol: dict[str, Any]) -> None:
    host = FakeHost(answer=lambda run: record(1.0, 1.5 if run.run in FIRST[:4] else 1.0))
    assert carry_out(file, host, grid(**protocol)).reason == "complete" and host.measured == NAMES
    (note,) = events(file, "note")
    assert note["text"] == "Block 1 unusable: 4 of 7 runs have impossible values; not repeated"


def test_one_that_stopped_on_a_busy_machine_goes_on_in_another_start(file: Path) -> None:
    carry_out(file, FakeHost(disturbed=FIRST[:4]), grid(when_busy="stop"))
    planner, quiet = grid(when_busy="stop"), FakeHost()
    assert replay(planner, journal.read(file)) == 7 and carry_out(file, quiet, planner).reason == "complete"
    assert quiet.measured == NAMES[7:]


class FakeGate:
    """Passes as it is told; None is a signal that comes while we wait for quiet."""

    def __init__(self, *passages: GateResult | None) -> None:
        self.passages, self.blocks = list(passages), list[int]()

    def wait_until_quiet(self, block: int, interrupted: Callable[[], bool]) -> GateResult:
        self.blocks.append(block)
        passage = self.passages.pop(0) if self.passages else GateResult(True)
        if passage is None:
            signal.raise_signal(signal.SIGTERM)
        assert interrupted() is (passage is None)
        return passage or GateResult(False, "busy")

    def observe_run(self, record: Record) -> None:
        assert record.run.status


def test_each_block_and_each_round_of_repeats_passes_the_gate_which_may_end_the_study(tmp_path: Path) -> None:
    first, host, gate = tmp_path / "first", FakeHost(), FakeGate(GateResult(True), GateResult(False, "busy"))
    assert carry_out(first, FakeHost(disturbed=[FIRST[0]]), None, Budget(None), gate).reason == "complete"
    assert gate.blocks == [0, 0, 1, 2] and [event["text"] for event in events(first, "note")] == ["busy"]
    gate = FakeGate(GateResult(True), GateResult(False, "busy"))
    assert carry_out(tmp_path / "stops", host, None, Budget(None), gate, True).reason == "busy"
    assert host.measured == FIRST
    signaled = carry_out(tmp_path / "signaled", FakeHost(), None, Budget(None), FakeGate(None), True)
    assert signaled.reason == "interrupted", "it was no busy machine"


@pytest.mark.parametrize(("runs", "n_done", "measured"), [(21, 0, 21), (20, 0, 14), (6, 0, 0), (14, 7, 7), (13, 7, 0)])
def test_a_budget_of_runs_begins_no_block_that_it_cannot_end(file: Path, runs: int, n_done: int, measured: int) -> None:
    host, planner = FakeHost(), told_of(grid(), *NAMES[:n_done])
    carry_out(file, host, planner, Budget(None, runs=runs, n_done=n_done, block_size=7))
    assert len(host.measured) == measured


@pytest.mark.parametrize("verdict", ["failed", "unverified", "clean"])
def test_only_disturbed_runs_are_repeated(verdict: str) -> None:
    assert told_of(grid(), *FIRST, verdict=verdict).n_left == 14


def test_an_impossible_run_is_repeated_and_a_warmup_run_is_not() -> None:
    planner = told_of(grid(warmup_runs=2), "w0000", "w0001", verdict="disturbed")
    assert planner.n_left == 21
    for name in FIRST:
        told_of(planner, name, verdict="invalid" if name == FIRST[2] else "clean")
    assert (again := planner.ask()) and again.run == f"{FIRST[2]}r1"


@pytest.mark.parametrize("changed", [
    {"run": 7}, {"block": "x"}, {"configuration": []}, {"replicate": None}, {"record": {}}, {"record": []},
    {"warmup": 1},
])  # fmt: skip
def test_a_broken_run_event_is_a_protocol_error(changed: dict[str, Any]) -> None:
    event = {"event": "run", "at": "2026-01-01T00:00:00.000Z", **run_event("b0000-0000", **changed)}
    refuses(ProtocolError, "event 1: a broken `run` event", replay, grid(), [event])


@pytest.mark.parametrize("event", [{"event": "ask"}, {"event": "run", "at": 5, **run_event("a")}, {"event": "run"}])
def test_a_broken_event_has_no_time(event: dict[str, Any]) -> None:
    refuses(ProtocolError, "event 1: a broken", list, timed_runs([event]))


def test_one_name_is_one_run_of_one_configuration() -> None:
    event = {"event": "run", **run_event(FIRST[0], configuration=PLANNED[FIRST[0]].configuration)}
    refuses(ProtocolError, 'event 2: a second run "b0000-0000"', replay, grid(), [event, event])
    other = run_event(FIRST[0], configuration={"threads": 99, "lock": "none"})
    with pytest.raises(StudyError, match=r"resume: design: now b0000-0000 of .*; start over"):
        replay(grid(), [{"event": "run", **other}])


def test_a_record_too_large_for_a_line_is_a_failed_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", 9000)
    carry_out(file, FakeHost(answer=lambda run: record(neighbor_s=0.5, values={"x": [0.5] * 9000})))
    assert {event["verdict"] for event in events(file, "verdict")} == {"failed"}
    runs = [event["record"].run for event in events(file, "run")]
    assert {run.status for run in runs} == {"failed"}
    assert {run.reason.partition("most of it ")[2] for run in runs} == {"9000 values of the workload: report fewer"}
    assert "note" not in kinds(file), "what failed is not disturbed"


def fail_while_stopped(run: Run) -> Record:
    signal.raise_signal(signal.SIGTERM)
    return record(status="failed", reason="prepare failed: sh: exit code 143")


@pytest.mark.parametrize("answer", [fail_while_stopped, lambda run: record(status="interrupted")])
def test_a_run_that_fails_while_we_are_stopped_has_not_happened(file: Path, answer: Callable[[Run], Record]) -> None:
    assert carry_out(file, FakeHost(answer=answer)).reason == "interrupted"
    assert kinds(file) == ["study", "ask", "end"]


def test_a_signal_that_a_probe_has_heard_is_told_as_what_ended_the_runs(file: Path) -> None:
    def hear_in_our_place(run: Run) -> Record:
        if run.run == NAMES[2]:
            record_signal(signal.SIGTERM)
            raise KeyboardInterrupt
        return record()

    assert carry_out(file, FakeHost(answer=hear_in_our_place))[:2] == ("interrupted", signal.SIGTERM)


def test_how_services_ended_is_journaled_where_it_is_known_and_the_last_ones_before_the_end(file: Path) -> None:
    progress, asked = Told(), list[bool]()

    def ended(is_last: bool) -> list[ServicesEnded]:
        asked.append(is_last)
        block = {2: 0, 22: 1}.get(len(asked))
        return [] if block is None else [ServicesEnded(block=block, services=[KILLED], n_survivors=0)]

    carry_out(file, FakeHost(), progress=progress, service_ends=ended)
    assert asked == [False] * 21 + [True]
    assert kinds(file)[:8] == ["study", "ask", "run", "verdict", "ask", "services", "run", "verdict"]
    assert kinds(file)[-2:] == ["services", "end"]
    assert len(progress.notes) == 2 and "had to be killed after block 1" in progress.notes[0]
