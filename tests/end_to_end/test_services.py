"""A server and its driver as one run, or kept up over runs; each way in which a server fails; quotas."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.capacity import find_quota_refusal
from scalograph.control.scheduler import find_granted_scheduling
from scalograph.control.store import Store, lock_machine
from scalograph.control.tasks import find_tasks_refusal
from scalograph.findings.driven_runs import START, STOP, WHOLE, run_parts
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.plan import plan
from scalograph.run.runner import Runner
from scalograph.run.session import run_in_memory
from scalograph.study.declare import declare
from scalograph.system.cgroups import cpu_tree
from tests.kit import servers
from tests.kit.command import LONG_S, in_process, machine
from tests.kit.processes import pids_with, wait_until
from tests.kit.results import COMPLETE, complete, events_in, records_in
from tests.kit.servers import LOAD, ONCE, needs_driver, needs_probe, one_record, one_run, write_served
from tests.kit.studies import a_study, write_study

pytestmark = [machine, needs_probe]
needs_quota = pytest.mark.skipif(
    find_quota_refusal() is not None or os.geteuid() != 0, reason="no quota is granted here"
)


def leaves() -> list[Path]:
    tree = cpu_tree()
    return sorted(tree.mount.glob("scalograph-*")) if tree else []


def test_servers_are_driven_accounted_apart_and_gone(tmp_path: Path) -> None:
    record = one_run(write_served(tmp_path, "plain", copies=2)).record
    assert record.run.status == "ok", record.run.reason
    assert [(part.name, part.role) for part in record.processes] == [
        ("web", "service"), ("web", "service"), ("driver", "driver"),
    ]  # fmt: skip
    assert [part.values["servers"] for part in record.values] == [[2]]
    assert all(part.ready_ns and part.stopped_by == "TERM" for part in record.processes[:2])
    assert all(part.cpu_ns for part in record.processes) and record.run.n_survivors == 0
    # Levels are those of the servers: the driver has what they leave, and goes before others where that is granted.
    *webs, driver = [copy.in_force for copy in record.copies]
    assert [(len(one.cpus), one.nice) for one in webs if one] == [(1, 10), (1, 10)]
    assert driver and driver.nice == (
        -10 if find_granted_scheduling().nice <= -10 else os.getpriority(os.PRIO_PROCESS, 0)
    )
    assert set(driver.cpus) == (os.sched_getaffinity(0) - {*webs[0].cpus} or os.sched_getaffinity(0))  # type: ignore[union-attr]


# How a server behaves, the reason of its run, and the last words that are kept.
FAILING = [
    ("never", "service web was not ready after 1.0 s", "thinking about it"),
    ("dies", "service web ended while drivers worked (signal 9)", "out of paper"),
    ("exits", "service web ended before it was ready (exit code 1)", "no such database"),
    ("500", "service web was not ready after 1.0 s: GET", ""),
]


@pytest.mark.parametrize(("mode", "reason", "last"), FAILING)
def test_a_failing_server_fails_the_run_with_its_last_words(tmp_path: Path, mode: str, reason: str, last: str) -> None:
    record = one_run(write_served(tmp_path, mode)).record
    assert record.run.status == "failed" and (record.run.reason or "").startswith(reason)
    assert last in record.copies[0].stderr_tail


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        port = somebody.getsockname()[1]
        record = one_run(write_served(tmp_path, "plain", port=port)).record
    assert (record.run.reason or "").startswith(f"service web: port {port} is already listened on")


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A TMPDIR of 4 MiB, where this user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    monkeypatch.setattr("tempfile.tempdir", str(disk))
    yield
    subprocess.run(["umount", disk], check=True)


@pytest.mark.usefixtures("small_disk")
def test_a_server_that_fills_its_disk_fails_the_run_and_takes_nothing_with_it(tmp_path: Path) -> None:
    file = write_served(tmp_path, "fills", runs=2)
    done = complete("run", file, "-o", "results", cwd=tmp_path, codes=(4,))
    told = " ".join(done.stdout.split())
    assert "the disk of TMPDIR was full when the run ended; 4 MiB were in state folders" in told
    records = records_in(tmp_path / "results")
    assert [record["run"]["status"] for record in records] == ["failed", "failed"]
    # What it had written is gone: the next one found an empty disk, and did its work until that was full too.
    assert all(record["values"] for record in records)


@needs_quota
def test_a_process_has_its_quota_and_leaves_no_cgroup_behind(tmp_path: Path) -> None:
    burns = ("{python}", "-c", "print('ready', flush=True)\nwhile True: pass")
    processes = [
        servers.service("burning", *burns, ready={"line": "ready"}, quota="{quota}"),
        servers.driver("sleep", "0.5"),
    ]
    before = leaves()
    with lock_machine(LONG_S):
        record = one_record(tmp_path, a_study({"quota": [0.05]}, workload={"process": processes}, protocol=ONCE))
    burning, driver = record.processes
    assert (burning.quota_cpus, driver.quota_cpus) == (0.05, None)
    assert burning.cpu_ns and burning.throttled_ns, "it never rests: the kernel has held it back"
    assert not driver.throttled_ns
    assert leaves() == before


def test_a_study_of_a_server_that_fails_has_one_message_and_its_code(tmp_path: Path) -> None:
    done = complete("run", write_served(tmp_path, "exits"), "-o", "results", cwd=tmp_path, codes=(4,))
    said = " ".join((done.stdout + done.stderr).split())
    assert said.count("service web ended before it was ready (exit code 1); it said: no such database") == 1
    (record,) = records_in(tmp_path / "results")
    assert record["run"]["status"] == "failed"


@needs_driver
@pytest.mark.parametrize(("how", "said"), [
    ("exec LOAD targets=$0 mix=/no/such/mix.toml", "mix=/no/such/mix.toml"),
    ("ulimit -n 64; exec LOAD targets=$0 clients=100", "100 connections need 133 file descriptors, 64 are allowed"),
    ("exec LOAD targets=$0 contains=x warmup=20",
     "of 10 requests failed in the warm-up; first: GET http://127.0.0.1:"),
])  # fmt: skip
def test_a_driver_that_cannot_work_fails_the_run_and_says_why(tmp_path: Path, how: str, said: str) -> None:
    driven = ["sh", "-c", how.replace("LOAD", str(LOAD)), "{web_targets}"]
    record = one_run(write_served(tmp_path, "plain", driven=driven)).record
    assert record.run.status == "failed" and said in (record.run.reason or ""), record.run.reason
    assert record.run.n_survivors == 0 and record.processes[0].stopped_by == "TERM"


PAGE = "http://127.0.0.1:{port}/"


@pytest.fixture
def load(tmp_path: Path, driver: None) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run `load` once for a server in a mode, with these options."""

    def ran(*options: object, mode: str = "plain", codes: tuple[int, ...] = COMPLETE, **times: object) -> Any:
        (tmp_path / "server.py").write_text(servers.SERVER)
        serve = f"{sys.executable} server.py {{port}} {{copy}} '{mode}' {{state}}" if mode else "false"
        usual = {"runs": 1, "max-reruns": 0, "ramp": "0s", "steady": "300ms", "warmup": 1} | times
        words = [word for name, value in usual.items() for word in (f"--{name}", value)]
        asked = ("--get", PAGE, *words, *options, "-o", "results")
        return complete("load", "--serve", serve, *asked, cwd=tmp_path, codes=codes)

    return ran


def test_a_rate_that_is_not_kept_is_said_and_what_was_answered_counts(tmp_path: Path, load: Any) -> None:
    load("--rate", 1_000_000, "--connections", 4)
    (record,) = records_in(tmp_path / "results")
    assert "1000000 requests/s were not kept, " in record["copies"][-1]["stderr_tail"]
    (values,) = (part["values"] for part in record["values"])
    assert 0 < values["rate"][0] < values["offered_rate"][0] == 1_000_000


def test_load_starts_a_server_of_ones_own_for_each_run(tmp_path: Path, load: Any) -> None:
    done = load("--ready", PAGE, "--clients", "1,2", "--json")
    (curve,) = json.loads(done.stdout)["curves"]
    assert [point["level"] for point in curve["points"]] == [1, 2]
    for point in curve["points"]:
        assert point["responses"]["rate"]["scores"][0] > 0 and point["responses"]["server_cpu"]["scores"][0] > 0
    assert "in 2 of 2 configurations the driver has no CPU of its own" in done.stderr
    complete("check", tmp_path / "results" / "study.toml", cwd=tmp_path, codes=(0,))


@pytest.mark.parametrize(("mode", "options", "told"), [
    ("", [], ["service server ended before it was ready (exit code 1)"]),
    ("only up", ["--ready", f"{PAGE}up"], ["1 \N{MULTIPLICATION SIGN} the driver exited with", "no right answer"]),
])  # fmt: skip
def test_load_says_why_a_server_cannot_be_used(load: Any, mode: str, options: tuple[str, ...], told: list[str]) -> None:
    done = load(*options, mode=mode, warmup=0 if mode else 1, codes=(4,))
    assert [words for words in told if words not in " ".join(done.stdout.split())] == []


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """A server of somebody else: its process id and its port."""
    (tmp_path / "server.py").write_text(servers.SERVER)
    (tmp_path / "state").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as asked:
        port = asked.getsockname()[1]

    def answers() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        return False

    command = [sys.executable, tmp_path / "server.py", str(port), "0", "plain", tmp_path / "state"]
    with subprocess.Popen(command) as server:
        try:
            wait_until(answers)
            yield server.pid, port
        finally:
            server.kill()


@pytest.mark.usefixtures("driver")
def test_a_server_that_runs_already_is_loaded_accounted_and_left_alone(tmp_path: Path, theirs: tuple[int, int]) -> None:
    pid, port = theirs
    page = f"http://127.0.0.1:{port}/"
    times = ("--runs", 1, "--max-reruns", 0, "--ramp", "0s", "--steady", "400ms", "--warmup", 1)
    done = complete("load", "--pid", pid, "--get", page, *times, "-o", "results", cwd=tmp_path)
    assert "1 configuration the driver has no CPU of its own" in done.stderr
    (record,) = records_in(tmp_path / "results")
    driver, server = record["processes"]
    assert (driver["name"], server["name"], server["role"]) == ("driver", "server", "service")
    assert server["cpu_ns"] > 0 and server["cpus"] == sorted(os.sched_getaffinity(0))
    os.kill(pid, 0)


def test_a_server_that_does_not_run_is_told_before_anything_starts(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    done = in_process("load", "--pid", gone.pid, "--get", "http://127.0.0.1:1/", cwd=tmp_path)
    assert (done.returncode, f"--pid: no process {gone.pid}" in done.stderr) == (3, True), done.stderr


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


@pytest.mark.parametrize(("mode", "reason", "last"), FAILING[:2])
def test_a_server_to_stay_up_that_fails_is_started_anew(tmp_path: Path, mode: str, reason: str, last: str) -> None:
    records, ended = kept_up(tmp_path, mode, 1)
    for record in records:
        assert record.run.status == "failed" and (record.run.reason or "").startswith(reason), record.run.reason
        assert last in record.copies[0].stderr_tail
    # The runs tell it.
    assert ended == []


STUDY = a_study(
    {
        "quota": {"control": "quota", "levels": [0.05, "none"]},
        "tasks": {"control": "tasks", "levels": [60, "none"], "if_granted": [60]},
    },
    work="per-worker", workload={"use": "process-loop", "parameters": {"units": 100_000_000}}, protocol=ONCE,
    responses={"wall": {"from": "window.wall", "unit": "s"},
               "throttled": {"from": "run.throttled", "unit": "s", "better": "none"}},
)  # fmt: skip


@needs_quota
def test_a_quota_is_in_force_and_told(tmp_path: Path) -> None:
    complete("run", write_study(tmp_path, STUDY), "-o", "out", cwd=tmp_path, store=Store.locate())
    made = [(event["configuration"], event["record"]["run"]) for event in events_in(tmp_path / "out", "run")]
    runs = {(configuration["quota"], configuration["tasks"]): figures for configuration, figures in made}
    assert runs[0.05, "none"]["quota_cpus"] == 0.05
    assert runs[0.05, "none"]["throttled_ns"] > 0
    assert runs["none", "none"]["quota_cpus"] is None
    assert (0.05, 60) not in runs, "one cgroup at a time"
    assert {figures["status"] for figures in runs.values()} == {"ok"}
    assert ("none", 60) in runs or find_tasks_refusal() is not None
    causes = [cause["cause"] for event in events_in(tmp_path / "out", "verdict") for cause in event["causes"]]
    assert "quota" not in causes
