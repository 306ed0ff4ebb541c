"""A server that stays up over a block of runs: started once, used by all, fresh in the next one, gone at the end."""

from contextlib import closing
from pathlib import Path

import pytest

from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.questions.throughput.model_driven import START, STOP, WHOLE, run_parts
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.plan import plan
from scalograph.run.runner import Runner
from scalograph.run.session import run_in_memory
from scalograph.study.declare import declare
from tests.kit.command import LONG_S, machine
from tests.kit.processes import pids_with
from tests.kit.servers import needs_probe, write_served

pytestmark = [machine, needs_probe]
TICK_NS = 10_000_000


def kept_up(folder: Path, mode: str, n_blocks: int, **web: object) -> tuple[list[Record], list[ServicesEnded]]:
    """Return the records of blocks of two runs, whose server stays up for a block, and how the server ended."""
    write_served(folder, mode, runs=n_blocks, pause=[400, 500], keep={"keep": "block"}, **web)
    with closing(LocalHost(find_probe())) as host:
        planned = host.ready(plan(declare(folder / "study.toml"), host.facts()), str)
        runner = Runner(planned, host)
        done = run_in_memory(planned, runner)
        ended = [*runner.collect_service_ends(True)]
        assert [*runner.collect_service_ends(True)] == []
    assert pids_with(str(folder / "server.py")) == []
    return [finished.record for finished in done], ended


def test_services_stay_up_over_a_block_and_are_fresh_in_the_next(tmp_path: Path) -> None:
    records, ended = kept_up(tmp_path, "born", 2)
    assert [record.run.status for record in records] == ["ok"] * 4, [record.run.reason for record in records]
    born = [record.values[0].values["born"][0] for record in records]
    assert born[0] == born[1] < born[2] == born[3]
    assert all([one.name for one in record.processes] == ["web", "driver"] for record in records)
    web = [record.processes[0] for record in records]
    assert all(len(one.cpus or ()) == 1 for one in web)
    # Not in ticks: by the cgroup of its own where there is one, else by the clocks of its processes.
    used = [one.cpu_ns or 0 for one in web]
    assert all(used) and any(ns % TICK_NS for ns in used), used
    sources = {(record.header.containment, one.cpu_source) for record, one in zip(records, web, strict=True)}
    assert sources <= {("cgroup", "cgroup"), ("namespace", "rusage"), ("best effort", "rusage")}
    # What a start costs is told once for each.
    parts = [{part.what: part.seconds for part in run_parts(record)} for record in records]
    assert [0 < one.get(START, 0) < LONG_S for one in parts] == [True, False, True, False]
    assert [STOP in one for one in parts] == [False, False, True, False]
    assert parts[0][WHOLE] > parts[0][START] + 0.4
    assert all(record.run.n_survivors == 0 for record in records)
    # And how each ended, the last one too.
    assert [(one.block, one.n_survivors, one.reason) for one in ended] == [(0, 0, None), (1, 0, None)]
    services = [service for one in ended for service in one.services]
    assert [(one.name, one.stopped_by, one.signal) for one in services] == [("web", "TERM", 15)] * 2
    assert all(0 <= (one.stop_ns or -1) < LONG_S * 1e9 and not one.was_killed for one in services)


def test_one_that_does_not_end_in_time_is_told_as_killed(tmp_path: Path) -> None:
    records, ended = kept_up(tmp_path, "stubborn", 1, stop={"grace": "0.2s"})
    assert [record.run.status for record in records] == ["ok"] * 2, [record.run.reason for record in records]
    ((service,),) = [one.services for one in ended]
    assert service.was_killed and service.signal == 9 and (service.stop_ns or 0) >= 200_000_000


@pytest.mark.parametrize(
    ("mode", "reason", "last"),
    [
        ("never", "service web was not ready after 1.0 s", "thinking about it"),
        ("dies", "service web ended while drivers worked (signal 9)", "out of paper"),
    ],
)
def test_a_server_that_is_to_stay_up_and_fails_is_started_anew(
    tmp_path: Path, mode: str, reason: str, last: str
) -> None:
    records, ended = kept_up(tmp_path, mode, 1)
    for record in records:
        assert record.run.status == "failed" and (record.run.reason or "").startswith(reason), record.run.reason
        assert last in record.copies[0].stderr_tail
    # The runs tell it.
    assert ended == []
