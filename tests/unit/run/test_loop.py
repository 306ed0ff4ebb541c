import itertools
import os
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design
from scalograph.design.replay import replay, seconds_per_block, timed_runs
from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.protocol import journal
from scalograph.protocol.journal import Journal
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import EndedService, ServicesEnded
from scalograph.run import loop
from scalograph.run.interrupts import record_signal
from scalograph.run.loop import Budget, RunContext, run_study
from scalograph.run.quiet_gate import GateResult
from scalograph.study.levels import Run
from scalograph.study.load import parse
from scalograph.verdict.judge import Judgment
from tests.kit.records import placed, record
from tests.kit.studies import VALID


def small() -> Design:
    return Design(
        parse(VALID), tuple({"threads": n, "lock": k} for n in (1, 2, 4) for k in ("none", "cas")), (), {0: 2}
    )


class Told:
    def __init__(self) -> None:
        self.runs: list[str] = []
        self.notes: list[str] = []

    def run_started(self, run: Run, n_left: int) -> None:
        assert n_left > 0

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None:
        self.runs.append(run.run)

    def run_warned(self, text: str, about: str = "") -> None:
        self.notes.append(text)


class FakeHost:
    """Ends as it is told: after `stop_after` runs it raises `error`. Runs named in `disturbed` have a neighbor."""

    def __init__(
        self, stop_after: int = 10**9, error: BaseException | None = None, disturbed: Collection[str] = ()
    ) -> None:
        self.measured: list[str] = []
        self.stop_after, self.error, self.disturbed = stop_after, error, disturbed

    def measure(self, run: Run) -> Record:
        if len(self.measured) >= self.stop_after and self.error:
            raise self.error
        self.measured.append(run.run)
        return record(neighbor_s=0.5 if run.run in self.disturbed else 0.0)


def started(file: Path) -> Journal:
    book = Journal(file)
    book.append("study", protocol=1)
    return book


def run_once(file: Path, host: FakeHost, planner: GridPlanner, book: Journal | None = None) -> str:
    book = book or started(file)
    try:
        return run_study(planner, RunContext(host, book, Told()), Budget(None)).reason
    finally:
        book.close()


def test_ask_is_written_before_the_run_and_run_before_the_next_ask(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    assert run_once(file, FakeHost(), GridPlanner(small())) == "complete"
    events = [event["event"] for event in journal.read(file)]
    assert events == ["study", *["ask", "run", "verdict"] * 21, "end"]


class Signaled(Told):
    """Sends this process a signal when a run has ended: the loop is at work, and no run is."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__()
        self.number = number

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None:
        super().run_finished(run, found, judgment)
        os.kill(os.getpid(), self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_between_two_runs_ends_the_study_in_order(tmp_path: Path, number: signal.Signals) -> None:
    file, progress = tmp_path / "journal.jsonl", Signaled(number)
    before = signal.signal(number, signal.default_int_handler)  # whatever the shell left
    book = started(file)
    try:
        assert run_study(GridPlanner(small()), RunContext(FakeHost(), book, progress), Budget(None))[:2] == (
            "interrupted",
            signal.SIGTERM if number == signal.SIGHUP else number,
        )
        assert signal.getsignal(number) == signal.default_int_handler
    finally:
        book.close()
        signal.signal(number, before)
    assert len(progress.runs) == 1
    assert [event["event"] for event in journal.read(file)] == ["study", "ask", "run", "verdict", "end"]


@pytest.mark.guarantee
@pytest.mark.parametrize("stop_after", [0, 1, 7, 20])
def test_a_study_killed_anywhere_resumes_to_the_same_runs(tmp_path: Path, stop_after: int) -> None:
    whole = FakeHost()
    run_once(tmp_path / "whole.jsonl", whole, GridPlanner(small()))

    file, first = tmp_path / "killed.jsonl", FakeHost(stop_after, HostError("disk", "full"))
    with pytest.raises(HostError):
        run_once(file, first, GridPlanner(small()))
    planner, second = GridPlanner(small()), FakeHost()
    assert replay(planner, journal.read(file)) == stop_after
    run_once(file, second, planner, Journal(file))
    assert first.measured + second.measured == whole.measured


def test_ctrl_c_loses_no_finished_run_and_the_broken_one_is_asked_again(tmp_path: Path) -> None:
    file, host = tmp_path / "journal.jsonl", FakeHost(3, KeyboardInterrupt())
    assert run_once(file, host, GridPlanner(small())) == "interrupted"
    planner = GridPlanner(small())
    replay(planner, journal.read(file))
    asked = [event["run"] for event in journal.read(file) if event["event"] == "ask"]
    again = planner.ask()
    assert again is not None and again.run == asked[-1] and len(asked) == 4


def test_a_run_without_its_verdict_is_still_told(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    run_once(file, FakeHost(), GridPlanner(small()))
    events = [event for event in journal.read(file) if event["event"] != "verdict"]
    planner = GridPlanner(small())
    assert replay(planner, events) == 21
    assert planner.ask() is None


def test_a_budget_stops_before_a_block_and_never_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, 10.0)  # each look at the clock is 10 s later: a block takes 10 s
    monkeypatch.setattr(loop.time, "monotonic", lambda: next(clock))
    book, host = started(tmp_path / "journal.jsonl"), FakeHost()
    assert run_study(GridPlanner(small()), RunContext(host, book, Told()), Budget(25.0)).reason == "budget"
    book.close()
    assert len(host.measured) == 14  # two whole blocks of seven


def block(number: int) -> Run:
    return Run(f"b{number:04d}-0000", number, {}, 0)


@pytest.mark.parametrize(
    ("blocks", "next_block", "allowed"),
    [
        ({}, 0, True),
        ({0: 5.0}, 1, True),
        ({0: 5.1}, 1, False),  # as long as the one before
        ({0: 5.0, 1: 4.0}, 1, True),  # a part of it is done already
        ({0: 5.0, 1: 5.1}, 1, False),
        ({-1: 6.0, 0: 3.0}, 1, False),  # warm-up runs take time
        ({-1: 6.0}, 0, True),  # and say nothing about a block
        ({0: 10.1}, 0, False),
    ],
)
def test_time_before_a_resume_counts_block_by_block(blocks: dict[int, float], next_block: int, allowed: bool) -> None:
    assert Budget(10.0, blocks).allows(block(next_block)) is allowed


def test_the_time_of_blocks_is_read_from_the_journal() -> None:
    events = [
        {"event": event, "at": f"2026-01-01T00:00:{second:02d}.000Z", **run_event(f"b000{n}-0000", n)}
        for second, (event, n) in enumerate([("ask", 0), ("ask", 0), ("run", 0), ("ask", 1), ("run", 1), ("ask", 1)])
    ]
    assert seconds_per_block(events) == {0: 1.0, 1: 1.0}


def test_a_clock_that_was_set_forward_takes_no_budget() -> None:
    events = [{"event": "ask", "at": "2026-01-01T00:00:00.000Z", **run_event("b0000-0000")}]
    set_forward = record().replace_values(clock_step_ns=3600 * 10**9)
    again = run_event("b0000-0000", record=set_forward)
    events.append({"event": "run", "at": "2026-01-01T01:00:02.000Z", **again})
    assert seconds_per_block(events) == {0: 2.0}


class Once:
    """A host that has one record, and is then stopped."""

    def __init__(self, *answers: Record) -> None:
        self.answers = list(answers)

    def measure(self, run: Run) -> Record:
        if not self.answers:
            raise KeyboardInterrupt
        return self.answers.pop()


def first_run(tmp_path: Path, answer: Record) -> Record:
    """What the journal keeps of it."""
    book = started(tmp_path / "journal.jsonl")
    with closing(book):
        run_study(GridPlanner(small()), RunContext(Once(answer), book, Told()), Budget(None))
    found = next(event for event in journal.read(tmp_path / "journal.jsonl") if event["event"] == "run")
    return cast(Record, found["record"])


def test_copies_that_write_much_to_stderr_lose_its_end_and_not_the_run(tmp_path: Path) -> None:
    answer = placed(*[None] * 70)
    wordy = [msgspec.structs.replace(copy, stderr_tail="x" * (64 << 10)) for copy in answer.copies]
    kept = first_run(tmp_path, msgspec.structs.replace(answer, copies=wordy))
    assert kept.run.status == "ok" and len(kept.copies) == 70 and not any(copy.stderr_tail for copy in kept.copies)


def run_event(name: str, block: int = 0, **more: Any) -> dict[str, Any]:
    """Fields of a run event, changed as told."""
    first = {"threads": 1, "lock": "none"}
    return {
        "run": name,
        "block": block,
        "configuration": first,
        "replicate": 0,
        "warmup": False,
        "record": record(),
        **more,
    }


NAMES = [run.run for run in GridPlanner(small())._planned.values()]
FIRST = NAMES[:7]  # the first block


def test_disturbed_runs_are_asked_again_at_the_end_of_their_block(tmp_path: Path) -> None:
    file, host = tmp_path / "journal.jsonl", FakeHost(disturbed=[FIRST[4], FIRST[1], NAMES[9]])
    assert run_once(file, host, GridPlanner(small())) == "complete"
    again = [f"{FIRST[1]}r1", f"{FIRST[4]}r1"]
    assert host.measured == [*FIRST, *again, *NAMES[7:14], f"{NAMES[9]}r1", *NAMES[14:]]
    runs = [event for event in journal.read(file) if event["event"] == "run"]
    keys = [(str(event["configuration"]), event["replicate"]) for event in runs]
    assert len(set(keys)) == len(keys) and all(event["block"] == 0 for event in runs[:9])
    assert "note" not in [event["event"] for event in journal.read(file)]


def test_one_that_is_disturbed_again_is_given_up(tmp_path: Path) -> None:
    host = FakeHost(disturbed=[FIRST[0], f"{FIRST[0]}r1"])
    run_once(tmp_path / "journal.jsonl", host, GridPlanner(small()))
    assert [name for name in host.measured if "r" in name] == [f"{FIRST[0]}r1"]


def test_on_a_busy_machine_nothing_is_repeated_and_the_journal_says_so(tmp_path: Path) -> None:
    file, host = tmp_path / "journal.jsonl", FakeHost(disturbed=FIRST[:4])
    run_once(file, host, GridPlanner(small()))
    assert host.measured == NAMES
    (note,) = (event["text"] for event in journal.read(file) if event["event"] == "note")
    assert note.startswith("machine busy, not measurable now: 4 of 7 runs of block 1 were disturbed; not repeated")


@pytest.mark.parametrize("protocol", [{}, {"wait_quiet_s": 60.0}, {"when_busy": "stop"}])
def test_what_cannot_be_is_no_busy_machine(tmp_path: Path, protocol: dict[str, Any]) -> None:
    class Wrong(FakeHost):
        def measure(self, run: Run) -> Record:
            self.measured.append(run.run)
            return record(1.0, 1.5 if run.run in FIRST[:4] else 1.0)

    file, host = tmp_path / "journal.jsonl", Wrong()
    assert run_once(file, host, GridPlanner(changed(**protocol))) == "complete"
    assert host.measured == NAMES
    (note,) = (event["text"] for event in journal.read(file) if event["event"] == "note")
    assert note == "not measurable: 4 of 7 runs of block 1 cannot be as recorded; not repeated"


def changed(**fields: Any) -> Design:
    made = small()
    protocol = made.study.protocol.model_copy(update=fields)
    return replace(made, study=made.study.model_copy(update={"protocol": protocol}))


def test_a_study_that_waits_for_quiet_repeats_a_busy_block(tmp_path: Path) -> None:
    host = FakeHost(disturbed=FIRST[:4])
    run_once(tmp_path / "journal.jsonl", host, GridPlanner(changed(wait_quiet_s=60.0)))
    assert host.measured == [*FIRST, *sorted(f"{name}r1" for name in FIRST[:4]), *NAMES[7:]]


def test_a_study_that_stops_when_busy_ends_after_the_block(tmp_path: Path) -> None:
    file, host = tmp_path / "journal.jsonl", FakeHost(disturbed=FIRST[:4])
    assert run_once(file, host, GridPlanner(changed(when_busy="stop"))) == "busy"
    assert host.measured == FIRST


def test_one_that_stopped_on_a_busy_machine_goes_on_in_another_start(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    run_once(file, FakeHost(disturbed=FIRST[:4]), GridPlanner(changed(when_busy="stop")))
    planner, quiet = GridPlanner(changed(when_busy="stop")), FakeHost()
    assert replay(planner, journal.read(file)) == 7
    assert run_once(file, quiet, planner, Journal(file)) == "complete"
    assert quiet.measured == NAMES[7:]


class FakeGate:
    def __init__(self, passages: Sequence[GateResult]) -> None:
        self.passages, self.blocks = list(passages), list[int]()

    def wait_until_quiet(self, block: int, interrupted: Callable[[], bool]) -> GateResult:
        self.blocks.append(block)
        assert not interrupted()
        return self.passages.pop(0) if self.passages else GateResult(True)

    def observe_run(self, record: Record) -> None:
        assert record.run.status


def gated(file: Path, host: FakeHost, gate: FakeGate, stop: bool = False) -> str:
    book = started(file)
    try:
        return run_study(GridPlanner(small()), RunContext(host, book, Told()), Budget(None), gate, stop).reason
    finally:
        book.close()


def test_each_block_and_each_round_of_repeats_passes_the_gate(tmp_path: Path) -> None:
    gate = FakeGate([GateResult(True), GateResult(False, "busy")])
    assert gated(tmp_path / "journal.jsonl", FakeHost(disturbed=[FIRST[0]]), gate) == "complete"
    assert gate.blocks == [0, 0, 1, 2]
    notes = [event["text"] for event in journal.read(tmp_path / "journal.jsonl") if event["event"] == "note"]
    assert notes == ["busy"]


def test_a_busy_machine_stops_a_study_that_says_so(tmp_path: Path) -> None:
    host, gate = FakeHost(), FakeGate([GateResult(True), GateResult(False, "busy")])
    assert gated(tmp_path / "journal.jsonl", host, gate, stop=True) == "busy"
    assert host.measured == FIRST


class SignalingGate(FakeGate):
    """Somebody wants us to stop while we wait for quiet."""

    def wait_until_quiet(self, block: int, interrupted: Callable[[], bool]) -> GateResult:
        signal.raise_signal(signal.SIGTERM)
        assert interrupted()
        return GateResult(False, "busy")


def test_a_signal_while_we_wait_for_quiet_is_no_busy_machine(tmp_path: Path) -> None:
    assert gated(tmp_path / "journal.jsonl", FakeHost(), SignalingGate([]), stop=True) == "interrupted"


@pytest.mark.parametrize(("runs", "n_done", "measured"), [(21, 0, 21), (20, 0, 14), (6, 0, 0), (14, 7, 7), (13, 7, 0)])
def test_a_budget_of_runs_begins_no_block_that_it_cannot_end(
    tmp_path: Path, runs: int, n_done: int, measured: int
) -> None:
    book, host, planner = started(tmp_path / "journal.jsonl"), FakeHost(), GridPlanner(small())
    for name in NAMES[:n_done]:
        planner.tell(planner._planned[name], {}, "clean")
    run_study(planner, RunContext(host, book, Told()), Budget(None, runs=runs, n_done=n_done, block_size=7))
    book.close()
    assert len(host.measured) == measured


@pytest.mark.parametrize("verdict", ["failed", "unverified", "clean"])
def test_only_disturbed_runs_are_repeated(verdict: str) -> None:
    planner = GridPlanner(small())
    for name in FIRST:
        planner.tell(planner._planned[name], {}, verdict)
    assert planner.n_left == 14


def test_an_impossible_run_is_repeated_and_a_warmup_run_is_not() -> None:
    made = small()
    protocol = made.study.protocol.model_copy(update={"warmup_runs": 2})
    planner = GridPlanner(replace(made, study=made.study.model_copy(update={"protocol": protocol})))
    planner.tell(planner._planned["w0000"], {}, "disturbed")
    planner.tell(planner._planned["w0001"], {}, "disturbed")
    assert planner.n_left == 21
    for name in FIRST:
        planner.tell(planner._planned[name], {}, "invalid" if name == FIRST[2] else "clean")
    assert (again := planner.ask()) and again.run == f"{FIRST[2]}r1"


@pytest.mark.guarantee
@pytest.mark.parametrize("stop_after", range(0, 25, 3))
def test_repeats_after_a_kill_are_the_same(tmp_path: Path, stop_after: int) -> None:
    disturbed = [FIRST[1], FIRST[4], f"{FIRST[4]}r1", NAMES[9], NAMES[20]]
    whole = FakeHost(disturbed=disturbed)
    run_once(tmp_path / "whole.jsonl", whole, GridPlanner(small()))
    file, first = tmp_path / "killed.jsonl", FakeHost(stop_after, HostError("disk", "full"), disturbed)
    with pytest.raises(HostError):
        run_once(file, first, GridPlanner(small()))
    planner, second = GridPlanner(small()), FakeHost(disturbed=disturbed)
    replay(planner, [event for event in journal.read(file) if event["event"] != "verdict"])
    run_once(file, second, planner, Journal(file))
    assert first.measured + second.measured == whole.measured


def test_a_name_that_means_another_configuration_is_refused() -> None:
    other = run_event(FIRST[0], configuration={"threads": 99, "lock": "none"})
    with pytest.raises(StudyError, match=r"resume: design: now b0000-0000 of .*; start anew"):
        replay(GridPlanner(small()), [{"event": "run", **other}])


@pytest.mark.parametrize(
    "changed",
    [
        {"run": 7},
        {"block": "x"},
        {"configuration": []},
        {"replicate": None},
        {"record": {}},
        {"record": []},
        {"warmup": 1},
    ],
)
def test_a_broken_run_event_is_a_protocol_error(changed: dict[str, Any]) -> None:
    event = {"event": "run", "at": "2026-01-01T00:00:00.000Z", **run_event("b0000-0000", **changed)}
    with pytest.raises(ProtocolError, match="event 1: a broken `run` event"):
        replay(GridPlanner(small()), [event])


@pytest.mark.parametrize("event", [{"event": "ask"}, {"event": "run", "at": 5, **run_event("a")}, {"event": "run"}])
def test_a_broken_event_has_no_time(event: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError, match="event 1: a broken"):
        list(timed_runs([event]))


def test_one_name_is_one_run() -> None:
    event = {"event": "run", **run_event(FIRST[0])}
    event["configuration"] = GridPlanner(small())._planned[FIRST[0]].configuration
    with pytest.raises(ProtocolError, match='event 2: a second run "b0000-0000"'):
        replay(GridPlanner(small()), [event, event])


def test_a_record_too_large_for_a_line_is_a_failed_run_for_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Large(FakeHost):
        def measure(self, run: Run) -> Record:
            return record(neighbor_s=0.5, values={"x": [0.5] * 9000})

    monkeypatch.setattr(journal, "MAX_LINE_BYTES", 9000)
    file, told = tmp_path / "journal.jsonl", Large()
    run_once(file, told, GridPlanner(small()))
    events = list(journal.read(file))
    assert {event["verdict"] for event in events if event["event"] == "verdict"} == {"failed"}
    runs = [event["record"].run for event in events if event["event"] == "run"]
    assert {run.status for run in runs} == {"failed"}
    assert {run.reason.partition("most of it ")[2] for run in runs} == {"9000 values of the workload: report fewer"}
    assert not [event for event in events if event["event"] == "note"], "what failed is not disturbed"


def test_a_run_that_fails_while_we_are_stopped_has_not_happened(tmp_path: Path) -> None:
    class Stopped(FakeHost):
        def measure(self, run: Run) -> Record:
            signal.raise_signal(signal.SIGTERM)
            return record(status="failed", reason="prepare failed: sh: exit code 143")

    file = tmp_path / "journal.jsonl"
    assert run_once(file, Stopped(), GridPlanner(small())) == "interrupted"
    assert [event["event"] for event in journal.read(file)] == ["study", "ask", "end"]


def test_an_interrupted_record_is_no_run(tmp_path: Path) -> None:
    class Interrupted(FakeHost):
        def measure(self, run: Run) -> Record:
            return record(status="interrupted")

    file = tmp_path / "journal.jsonl"
    assert run_once(file, Interrupted(), GridPlanner(small())) == "interrupted"
    assert [event["event"] for event in journal.read(file)] == ["study", "ask", "end"]


class HeardByProbe(FakeHost):
    """A signal comes while a probe is at work, which hears it in our place and passes it on."""

    def measure(self, run: Run) -> Record:
        if len(self.measured) == 2:
            record_signal(signal.SIGTERM)
            raise KeyboardInterrupt
        return super().measure(run)


def test_a_signal_that_a_probe_has_heard_is_told_as_what_ended_the_runs(tmp_path: Path) -> None:
    book = started(tmp_path / "journal.jsonl")
    assert run_study(GridPlanner(small()), RunContext(HeardByProbe(), book, Told()), Budget(None))[:2] == (
        "interrupted",
        signal.SIGTERM,
    )
    book.close()


KILLED = EndedService(name="web", stop_signal="TERM", stopped_by="KILL", stop_ns=5_000_000_000, signal=9)


def test_how_services_ended_is_journaled_where_it_is_known_and_the_last_ones_before_the_end(tmp_path: Path) -> None:
    file, progress, asked = tmp_path / "journal.jsonl", Told(), list[bool]()

    def ended(is_last: bool) -> list[ServicesEnded]:
        asked.append(is_last)
        block = {2: 0, 22: 1}.get(len(asked))
        return [] if block is None else [ServicesEnded(block=block, services=[KILLED], n_survivors=0)]

    with closing(started(file)) as book:
        run_study(GridPlanner(small()), RunContext(FakeHost(), book, progress, service_ends=ended), Budget(None))
    assert asked == [False] * 21 + [True]
    events = [event["event"] for event in journal.read(file)]
    assert events[:8] == ["study", "ask", "run", "verdict", "ask", "services", "run", "verdict"]
    assert events[-2:] == ["services", "end"]
    assert len(progress.notes) == 2 and "had to be killed after block 1" in progress.notes[0]
