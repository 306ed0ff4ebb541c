"""A server and its driver as one run: started, asked, accounted and ended; and each way in which a server fails."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from scalograph.control.capacity import find_quota_refusal
from scalograph.control.scheduler import find_granted_scheduling
from scalograph.control.store import lock_machine
from scalograph.system.cgroups import cpu_tree
from tests.kit.command import LONG_S, in_process, machine
from tests.kit.results import complete, records_in
from tests.kit.servers import LOAD, needs_driver, needs_probe, one_run

pytestmark = [machine, needs_probe]
SERVER = """\
import os, sys, time
port, copy, mode, state = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
if mode == "exits":
    sys.exit("no such database")
if mode == "never":
    print("thinking about it", flush=True)
    time.sleep(60)
if mode == "stubborn":
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
born = str(time.monotonic_ns())
class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        if mode == "dies" and self.path == "/":
            print("out of paper", flush=True)
            os.kill(os.getpid(), 9)
        self.send_response(500 if mode == "500" else 200)
        self.end_headers()
        self.wfile.write((born if mode == "born" else copy).encode())
    def log_message(self, *words):
        pass
assert os.listdir(state) == []
open(os.path.join(state, "kept"), "w").close()
if mode == "fills":
    try:
        with open(os.path.join(state, "log"), "wb", buffering=0) as log:
            while True:
                log.write(bytes(1 << 16))
    except OSError:
        pass
ThreadingHTTPServer(("127.0.0.1", port), Page).serve_forever()
"""
DRIVER = """\
import os, sys, time, urllib.request
events, go = open(os.environ["SCALOGRAPH_EVENTS"], "a", buffering=1), open(os.environ["SCALOGRAPH_GO"], "rb")
events.write("ready\\n")
go.read(1)
start, said = time.monotonic_ns(), set()
while time.monotonic_ns() < start + int(sys.argv[2]) * 1_000_000:
    for target in sys.argv[1].split(","):
        said.add(urllib.request.urlopen(f"http://{target}/").read())
events.write(f"iteration 0 {start} {time.monotonic_ns()} 1\\nvalue servers {len(said)}\\n")
events.write(f"value born {int(min(said))}\\n")
"""
STUDY = """\
version = 1
name = "served"
title = "A server and its driver"
work = "total"
seed = 1
[workload]
events = true
[[workload.process]]
name = "web"
role = "service"
argv = ["{python}", "server.py", "{port}", "{copy}", "{mode}", "{state}"]
copies = "{copies}"
ports = PORTS
ready = { http = "http://127.0.0.1:PORT/health" }
ready_timeout = "READY"
[[workload.process]]
name = "driver"
role = "driver"
argv = ["{python}", "driver.py", "{web_targets}", "600"]
[factors.mode]
levels = ["MODE"]
[factors.copies]
levels = [COPIES]
[factors.cpus]
levels = [1]
control = "cpus"
[factors.nice]
levels = [NICE]
control = "nice"
[responses.servers]
from = "value.servers"
better = "higher"
[responses.busy]
from = "process.web.cpu_percent"
better = "none"
[protocol]
runs = 1
max_reruns = 0
"""


def written(folder: Path, mode: str, copies: int = 1, port: int | None = None) -> Path:
    for name, text in (("server.py", SERVER), ("driver.py", DRIVER)):
        (folder / name).write_text(text)
    text = STUDY.replace("server.py", str(folder / "server.py")).replace("driver.py", str(folder / "driver.py"))
    text = text.replace("PORTS", f"[{port}]" if port else "1").replace("PORT", str(port) if port else "{port}")
    text = text.replace("MODE", mode).replace("COPIES", str(copies))
    # Only who never gets ready is given up soon, and however busy the machine is, no other one fails by that.
    text = text.replace("READY", "1s" if mode in ("never", "500") else "60s")
    text = text.replace("NICE", "10" if mode == "plain" else "0")
    text = text.replace('copies = "{copies}"\n', "").replace('"{state}"]', '"{state}", "{copies}"]') if port else text
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def leaves() -> list[Path]:
    """Cgroups of ours that hold quotas now."""
    tree = cpu_tree()
    return sorted(tree.mount.glob("scalograph-*")) if tree else []


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_servers_are_driven_accounted_apart_and_gone(tmp_path: Path) -> None:
    record = one_run(written(tmp_path, "plain", copies=2)).record
    assert record.run.status == "ok", record.run.reason
    assert [(part.name, part.role) for part in record.processes] == [
        ("web", "service"), ("web", "service"), ("driver", "driver"),
    ]  # fmt: skip
    assert [part.values["servers"] for part in record.values] == [[2]]
    assert all(part.ready_ns and part.stopped_by == "TERM" for part in record.processes[:2])
    assert all(part.cpu_ns for part in record.processes) and record.run.n_survivors == 0
    # Levels are those of the servers: the driver has what they leave, and goes before others where that is granted.
    *servers, driver = [copy.in_force for copy in record.copies]
    assert [(len(one.cpus), one.nice) for one in servers if one] == [(1, 10), (1, 10)]
    assert driver and driver.nice == (
        -10 if find_granted_scheduling().nice <= -10 else os.getpriority(os.PRIO_PROCESS, 0)
    )
    assert set(driver.cpus) == (os.sched_getaffinity(0) - {*servers[0].cpus} or os.sched_getaffinity(0))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("mode", "reason", "last"),
    [
        ("never", "service web was not ready after 1.0 s", "thinking about it"),
        ("exits", "service web ended before it was ready (exit code 1)", "no such database"),
        ("500", "service web was not ready after 1.0 s: GET", ""),
        ("dies", "service web ended while drivers worked (signal 9)", "out of paper"),
    ],
)
def test_a_server_that_fails_fails_the_run_and_says_its_last_words(
    tmp_path: Path, mode: str, reason: str, last: str
) -> None:
    record = one_run(written(tmp_path, mode)).record
    assert record.run.status == "failed" and (record.run.reason or "").startswith(reason)
    assert last in record.copies[0].stderr_tail


def test_a_port_that_is_taken_is_named(tmp_path: Path, taken: int) -> None:
    record = one_run(written(tmp_path, "plain", port=taken)).record
    assert (record.run.reason or "").startswith(f"service web: port {taken} is already listened on")


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
    file = written(tmp_path, "fills")
    file.write_text(file.read_text().replace("runs = 1", "runs = 2"))
    done = complete("run", file, "-o", "results", cwd=tmp_path, codes=(4,))
    assert "the disk of TMPDIR was full when the run ended; 4 MiB were in state folders" in " ".join(
        done.stdout.split()
    )
    lines = (tmp_path / "results" / "journal.jsonl").read_text().splitlines()
    runs = [event for line in lines if (event := json.loads(line))["event"] == "run"]
    assert [run["record"]["run"]["status"] for run in runs] == ["failed", "failed"]
    # What it had written is gone: the next one found an empty disk, and did its work until that was full too.
    assert all(run["record"]["values"] for run in runs)


BURNING = """\
[[workload.process]]
name = "burning"
role = "service"
argv = ["{python}", "-c", "print('ready', flush=True)\\nwhile True: pass"]
ready = { line = "ready" }
quota = "{quota}"
[[workload.process]]
name = "driver"
role = "driver"
argv = ["sleep", "0.5"]
[factors.quota]
levels = [0.05]
"""


@pytest.mark.skipif(find_quota_refusal() is not None or os.geteuid() != 0, reason="no quota is granted here")
def test_a_process_has_its_quota_and_leaves_no_cgroup_behind(tmp_path: Path) -> None:
    head, tail = STUDY[: STUDY.index("[workload]")], STUDY[STUDY.index("[protocol]") :]
    (tmp_path / "study.toml").write_text(head + BURNING + tail)
    before = leaves()
    with lock_machine(LONG_S):
        record = one_run(tmp_path / "study.toml").record
    burning, driver = record.processes
    assert (burning.quota_cpus, driver.quota_cpus) == (0.05, None)
    assert burning.cpu_ns and burning.throttled_ns, "it never rests: the kernel has held it back"
    assert not driver.throttled_ns
    assert leaves() == before


def test_a_study_of_a_server_that_fails_has_one_message_and_its_code(tmp_path: Path) -> None:
    done = complete("run", written(tmp_path, "exits"), "-o", "results", cwd=tmp_path, codes=(4,))
    said = " ".join((done.stdout + done.stderr).split())
    assert said.count("service web ended before it was ready (exit code 1); it said: no such database") == 1
    lines = (tmp_path / "results" / "journal.jsonl").read_text().splitlines()
    (run,) = (event for line in lines if (event := json.loads(line))["event"] == "run")
    assert run["record"]["run"]["status"] == "failed"


@needs_driver
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("exec LOAD targets=$0 mix=/no/such/mix.toml", "mix=/no/such/mix.toml"),
        ("ulimit -n 64; exec LOAD targets=$0 clients=100", "100 connections need 133 file descriptors, 64 are allowed"),
        (
            "exec LOAD targets=$0 contains=x warmup=20",
            "of 10 requests failed in the warm-up; first: GET http://127.0.0.1:",
        ),
    ],
    ids=["mix", "descriptors", "answers"],
)
def test_a_driver_that_cannot_work_fails_the_run_and_says_why(tmp_path: Path, how: str, said: str) -> None:
    file = written(tmp_path, "plain")
    driver = json.dumps(["sh", "-c", how.replace("LOAD", str(LOAD)), "{web_targets}"])
    file.write_text(re.sub(r'argv = \["\{python\}", "[^"]*/driver\.py".*', f"argv = {driver}", file.read_text()))
    record = one_run(file).record
    assert record.run.status == "failed" and said in (record.run.reason or ""), record.run.reason
    assert record.run.n_survivors == 0 and record.processes[0].stopped_by == "TERM"


@pytest.mark.usefixtures("driver")
def test_a_rate_that_is_not_kept_is_said_and_what_was_answered_counts(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    serve = f"{sys.executable} server.py {{port}} {{copy}} plain {{state}}"
    page = ("--get", "http://127.0.0.1:{port}/")
    asked = (*page, "--rate", 1_000_000, "--connections", 4, "--runs", 1, "--max-reruns", 0)
    times = ("--ramp", "0s", "--steady", "300ms", "--warmup", 1)
    complete("load", "--serve", serve, *asked, *times, "-o", "results", cwd=tmp_path)
    (record,) = records_in(tmp_path / "results")
    assert "1000000 requests/s were not kept, " in record["copies"][-1]["stderr_tail"]
    (values,) = (part["values"] for part in record["values"])
    assert 0 < values["rate"][0] < values["offered_rate"][0] == 1_000_000


@pytest.mark.usefixtures("driver")
def test_load_starts_a_server_of_ones_own_for_each_run(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    serve = f"{sys.executable} server.py {{port}} {{copy}} plain {{state}}"
    page = "http://127.0.0.1:{port}/"
    times = ("--runs", 1, "--max-reruns", 0, "--ramp", "0s", "--steady", "300ms", "--warmup", 1)
    done = complete(
        "load", "--serve", serve, "--ready", page, "--get", page, "--clients", "1,2", *times, "--json", "-o", "results",
        cwd=tmp_path)  # fmt: skip
    found = json.loads(done.stdout)
    (curve,) = found["curves"]
    assert [point["level"] for point in curve["points"]] == [1, 2]
    for point in curve["points"]:
        assert point["responses"]["rate"]["scores"][0] > 0 and point["responses"]["server_cpu"]["scores"][0] > 0
    assert "in 2 of 2 configurations the driver has no CPU of its own" in done.stderr
    complete("check", tmp_path / "results" / "study.toml", cwd=tmp_path, codes=(0,))


@pytest.mark.usefixtures("driver")
def test_load_says_why_a_server_cannot_be_loaded(tmp_path: Path) -> None:
    page = "http://127.0.0.1:{port}/"
    done = complete("load", "--serve", "false", "--get", page, "--runs", 1, "--max-reruns", 0, cwd=tmp_path, codes=(4,))
    assert "service server ended before it was ready (exit code 1)" in " ".join(done.stdout.split())
    (tmp_path / "server.py").write_text(SERVER.replace('mode == "500"', "self.path != '/up'"))
    serve = f"{sys.executable} server.py {{port}} {{copy}} plain {{state}}"
    ready = ("--ready", "http://127.0.0.1:{port}/up", "--steady", "200ms", "--ramp", "0s", "--warmup", 0)
    done = complete(
        "load", "--serve", serve, *ready, "--get", page, "--runs", 1, "--max-reruns", 0, cwd=tmp_path, codes=(4,)
    )
    assert "1 \N{MULTIPLICATION SIGN} the driver exited with" in done.stdout and "no right answer" in done.stdout


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """A server of somebody else: its process id and its port."""
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "state").mkdir()
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port = asked.getsockname()[1]
    command = [sys.executable, tmp_path / "server.py", str(port), "0", "plain", tmp_path / "state"]
    with subprocess.Popen(command) as server:
        try:
            for _ in range(500):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.02)
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
