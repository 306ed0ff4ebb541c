"""Services that stay up over the runs of a block, by a probe that answers at once: how they start and end."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import EndedService, ProcessEvent, ServicesEnded
from scalograph.run.hosts.base import ProbeProgram, Specification
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe_process import ProbeProcess
from scalograph.run.hosts.services import held_services
from scalograph.run.hosts.services.held_services import HeldServices
from scalograph.study.levels import Run
from scalograph.study.program import Service
from tests.kit.records import record
from tests.kit.refusals import refuses

NAMES = ("db", "web")


def recorded(*, stop_ns: int | None = None, names: Sequence[str] = NAMES, **run: Any) -> Record:
    """A record of the services and the driver; `stop_ns` is of services that were ended."""
    ends = {} if stop_ns is None else {"stop_ns": stop_ns, "stopped_by": "TERM"}
    services = [ProcessEvent(command=i, name=name, role="service", **ends) for i, name in enumerate(names, 1)]
    made = replace(record(**run), processes=[ProcessEvent(command=0, name="driver", role="driver"), *services])
    return made.replace_values(gate_ns=1_000)


def recorded_end(stop_ns: int = 7, **run: Any) -> Record:
    """The record of the probe of services: these come first, each with one copy."""
    made = recorded(stop_ns=stop_ns, **run)
    copies = [replace(made.copies[0], command=i, copy_index=i, stderr_tail=f"of {i}") for i in range(3)]
    processes = [replace(process, command=i) for i, process in enumerate([*made.processes[1:], made.processes[0]])]
    return replace(made, copies=copies, processes=processes)


class FakeProbe:
    """Answers runs at once, and for services when their pipe is closed; where they do not start, at once, too."""

    def __init__(self, tmp_path: Path) -> None:
        self.run, self.ended, self.error = recorded(), recorded_end(), None
        self.starts, self.runs, self.told = list[dict[str, Any]](), list[dict[str, Any]](), list[str]()
        self.children, self.are_up, self.released = [(100, 11), (250, 12), (400, 13)], True, 0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.folder, self.services = tmp_path, HeldServices(self.process, self.hold_folder)

    @contextmanager
    def hold_folder(self, in_callers: bool, given: str | None) -> Iterator[Path]:
        try:
            yield self.folder
        finally:
            self.released += 1

    def carry_out(self, spec: Specification) -> Record:
        return self.services.measure(spec, self.folder)

    def measure(self, line: dict[str, Any], process: object, hear: object = None) -> Record:
        command, *arguments = line["commands"][-1]["argv"]
        (self.starts if command == "cat" else self.runs).append(line)
        if command != "cat":
            return self.run
        if self.error:
            raise self.error
        if self.are_up:
            Path(arguments[0]).read_text()
        assert self.may_answer.wait(30)
        return self.ended

    def process(self) -> ProbeProcess:
        def terminate() -> None:
            self.told.append("terminate")
            self.may_answer.set()

        return cast(ProbeProcess, SimpleNamespace(process=SimpleNamespace(pid=1, terminate=terminate)))


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProbe]:
    made = FakeProbe(tmp_path)
    monkeypatch.setattr(held_services, "measure", made.measure)
    monkeypatch.setattr(held_services, "_children", lambda parent: reversed(made.children))
    monkeypatch.setattr(held_services, "_name", lambda pid: "cat" if pid == 13 else "sh")
    monkeypatch.setattr(held_services, "_LOOK_S", 0.0)
    yield made
    made.services.close()


def spec(block: int = 0, clients: int = 1, argument: str = "x", names: tuple[str, ...] = NAMES) -> Specification:
    values = {"clients": clients}
    own = [Launch(name=name, role="service", service=Service(), argv=("serve", argument, "{state}"), values=values)
           for name in names]  # fmt: skip
    driver = Launch(name="driver", role="driver", argv=("load", "{clients}"), values=values)
    return Specification(Run("r1", block, {}, 0), (*own, driver), True, True, 10.0, False, {}, keeps_services=True)


def test_the_first_run_of_a_block_starts_them_and_others_find_them_up(probe: FakeProbe) -> None:
    first, second = probe.carry_out(spec()), probe.carry_out(spec(clients=2))
    (start,) = probe.starts
    assert [command["name"] for command in start["commands"]] == ["db", "web", "driver"]
    assert (start["events"], start["stdout"], start["backend"], start["timeline"]) == (False, "null", "plain", False)
    assert start["timeout_ns"] >= 86_400 * 10**9, "no block takes longer"
    assert [line["running"] for line in probe.runs] == [[{"name": "db", "pid": 11}, {"name": "web", "pid": 12}]] * 2
    assert [[command["argv"] for command in line["commands"]] for line in probe.runs] == [[["load", n]] for n in "12"]
    for each in (first, second):
        assert [(process.command, process.name) for process in each.processes] == [(0, "db"), (1, "web"), (2, "driver")]
        assert [copy.command for copy in each.copies] == [2]
    # Each is ready when the next one starts; times count from the gate.
    times = [(process.start_ns, process.ready_ns, process.stop_ns) for process in first.processes]
    assert times == [(-900, 150, None), (-750, 150, None), (None, None, None)]
    assert {process.start_ns for process in second.processes} == {None}
    assert probe.services.collect_service_ends() == []


@pytest.mark.parametrize(
    ("other", "stop_ns"), [(spec(block=1), 7), (spec(argument="y"), 7), (spec(names=("db", "proxy")), None)]
)
def test_another_block_or_others_end_them(probe: FakeProbe, other: Specification, stop_ns: int | None) -> None:
    probe.carry_out(spec())
    probe.run = recorded(names=[launch.name for launch in other.launches[:-1]])
    again = probe.carry_out(other)
    assert len(probe.starts) == 2 and probe.released == 1
    assert [process.stop_ns for process in again.processes] == [7, stop_ns, None]
    (ends,) = probe.services.collect_service_ends()
    stopped = [EndedService(name=name, stop_signal="TERM", stopped_by="TERM", stop_ns=7, exit_code=0) for name in NAMES]
    assert ends == ServicesEnded(block=0, services=stopped, n_survivors=None)
    assert probe.services.collect_service_ends() == [], "each end is told once"


def test_a_run_that_fails_ends_them_alone_or_has_their_reason_and_output(probe: FakeProbe) -> None:
    probe.carry_out(spec())
    probe.run = recorded(status="failed", reason="exit code 1")
    assert probe.carry_out(spec()).run.reason == "exit code 1"
    assert probe.released == 1 and [end.block for end in probe.services.collect_service_ends()] == [0]
    probe.run = recorded()
    assert probe.carry_out(spec()).run.status == "ok" and len(probe.starts) == 2
    probe.run, probe.ended = recorded(status="failed"), recorded_end(status="failed", reason="db: exit code 7")
    failed = probe.carry_out(spec())
    assert (failed.run.status, failed.run.reason) == ("failed", "db: exit code 7")
    copies = [(copy.command, copy.copy_index, copy.stderr_tail) for copy in failed.copies]
    assert copies == [(0, 0, "of 0"), (1, 1, "of 1"), (2, 2, "")]
    assert probe.services.collect_service_ends() == [], "the run tells it"


def test_an_end_that_went_wrong_is_told_with_its_reason_and_an_interrupted_one_is_not(probe: FakeProbe) -> None:
    probe.carry_out(spec())
    probe.ended = recorded_end(status="failed", reason="web: exit code 3").replace_values(n_survivors=2)
    assert (ended := probe.services.close()) is not None and ended.run.status == "failed"
    (told,) = probe.services.collect_service_ends()
    assert (told.reason, told.n_survivors) == ("web: exit code 3", 2)
    probe.carry_out(spec())
    probe.ended = recorded_end(status="interrupted")
    probe.services.close()
    assert (probe.services.collect_service_ends(), probe.released) == ([], 2)
    assert probe.services.close() is None, "none are up"


def test_those_that_do_not_come_up_are_the_record_of_the_run(probe: FakeProbe) -> None:
    probe.are_up, probe.ended = False, recorded_end(status="failed", reason="db: not ready")
    assert probe.carry_out(spec()) == probe.ended
    assert (probe.runs, probe.released, probe.services.collect_service_ends()) == ([], 1, [])
    probe.error = HostError("policy", "x", "y", "z")
    refuses(HostError, "policy: x", probe.carry_out, spec())
    assert probe.released == 2


@pytest.mark.parametrize(
    "children", [[(100, 11), (400, 13)], [(100, 11), (250, 12), (300, 14)], [(n, n) for n in (9, 10, 11, 12, 13)]]
)
def test_services_of_unknown_processes_are_ended_and_refused(probe: FakeProbe, children: list[tuple[int, int]]) -> None:
    probe.children = children
    refuses(HostError, r"workload\.keep: .*expected services that stay in the foreground", probe.carry_out, spec())
    assert probe.released == 1 and probe.services.close() is None


def test_a_process_of_the_probe_that_holds_the_others_is_none_of_them(probe: FakeProbe) -> None:
    probe.children = [(50, 10), *probe.children]
    probe.carry_out(spec())
    assert [each["pid"] for each in probe.runs[0]["running"]] == [11, 12]


@pytest.mark.guarantee
def test_a_signal_while_they_start_ends_their_probe(probe: FakeProbe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_services, "pending_signal", lambda: signal.SIGTERM)
    probe.are_up, probe.ended = False, recorded_end(status="interrupted")
    probe.may_answer.clear()
    assert probe.carry_out(spec()).run.status == "interrupted"
    assert (probe.told, probe.runs, probe.released) == (["terminate"], [], 1)


def test_services_that_found_the_disk_full_have_failed(probe: FakeProbe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalograph.run.launches.is_full", lambda folder: True)
    failed = probe.carry_out(spec())
    assert failed.run.status == "failed" and "the disk of TMPDIR was full" in (failed.run.reason or "")


def test_children_are_told_with_their_names_and_when_they_started() -> None:
    tick_ns, before_ns = 10**9 // os.sysconf("SC_CLK_TCK"), time.monotonic_ns()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        assert child.stdin and (begun := {pid: at for at, pid in held_services._children(os.getpid())})
        assert before_ns - 2 * tick_ns <= begun[child.pid] <= time.monotonic_ns()
        child.stdin.close()
    assert held_services._name(os.getpid()) and held_services._name(child.pid) == ""


@pytest.mark.parametrize("keeps", [True, False])
def test_a_host_keeps_services_only_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool) -> None:
    calls = list[str]()
    host = LocalHost(ProbeProgram(("/nowhere",)))
    fake = {name: lambda *_, name=name: calls.append(name) or record() for name in ("measure", "close")}
    host._services = cast(HeldServices, SimpleNamespace(**fake, collect_service_ends=lambda: calls.append("collect")))
    monkeypatch.setattr(LocalHost, "_run_probe", lambda *_: calls.append("probe") or record())
    host.measure(Specification(**{**vars(spec()), "keeps_services": keeps}))
    host.collect_service_ends(False)
    host.collect_service_ends(True)
    assert calls == ["measure" if keeps else "probe", "collect", "close", "collect"]
