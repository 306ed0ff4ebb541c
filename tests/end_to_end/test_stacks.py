"""Whole stacks of servers: balancers, a database, pages that read it, a business on several servers, a known queue."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import create_server
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from scalograph.protocol.record import Record
from scalograph.study.shipped import shipped_workload
from scalograph.system.private_dir import cache_folder
from tests.kit import ROOT, servers
from tests.kit.command import LONG_S, in_process, machine
from tests.kit.processes import pids_with, wait_until
from tests.kit.results import complete, records_in
from tests.kit.servers import LOAD, ONCE, RATE, needs_driver, needs_java, needs_probe, one_record
from tests.kit.studies import a_study, write_study
from tests.kit.workloads import QUICK

HAS_POSTGRES = any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or shutil.which("initdb")
JVM = {"control": "jvm-options", "levels": [" ".join(QUICK)]}
# Forty requests, one after the other.
ASKS = f"""\
{servers.GATED}
said = [urllib.request.urlopen(f"http://{{sys.argv[1]}}/").read() for _ in range(40)]
events.write(f"iteration 0 {{start}} {{time.monotonic_ns()}} 40\\nvalue servers {{len(set(said))}}\\n")
"""


def fronted(front: str) -> str:
    at = {"ports": 1, "ready": servers.health()}
    targets = {"port": "{port}", "state": "{state}", "targets": "{web_targets}"}
    web = ("{python}", "{here}/server.py", "{port}", "{copy}", "plain", "{state}")
    processes = [
        servers.service("web", *web, copies=2, **at),
        servers.service("front", use="front", when={"front": [front]}, after=["web"], parameters=targets, **at),
        servers.driver("{python}", "{here}/driver.py", "{front_targets}"),
    ]
    return a_study({"front": [front]}, workload={"events": True, "process": processes}, protocol=ONCE)


def throughput(factors: Mapping[str, Any], *processes: Mapping[str, Any], **protocol: int) -> str:
    """A study of how much a driver gets."""
    workload = {"events": True, "process": [*processes]}
    return a_study(factors, question="throughput", responses={"rate": RATE}, workload=workload, protocol=protocol)


def in_java(test: Callable[..., None]) -> Callable[..., None]:
    return needs_probe(needs_driver(needs_java(test)))


@needs_probe
@machine
@pytest.mark.parametrize("front", ["haproxy", "nginx"])
def test_requests_are_dealt_over_all_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, front: str) -> None:
    if shutil.which(front, path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip(f"needs {front}: apt-get install {front}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "server.py").write_text(servers.SERVER)
    (tmp_path / "driver.py").write_text(ASKS)
    record = one_record(tmp_path, fronted(front))
    assert record.run.status == "ok", record.run.reason
    assert [part.values["servers"] for part in record.values] == [[2]]
    (balancer,) = (part for part in record.processes if part.name == "front")
    assert balancer.cpu_ns and (balancer.stopped_by, record.run.n_survivors) == ("TERM", 0)


DATABASE = {"database": "postgres", "rows": "pgbench", "port": "{port}", "state": "{state}", "scale": 1, "fsync": "off"}


@needs_probe
@pytest.mark.skipif(
    not HAS_POSTGRES or not shutil.which("pgbench"), reason="needs PostgreSQL: apt-get install postgresql"
)
def test_rows_are_read_by_separate_parts_and_the_server_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    at = {"parameters": DATABASE, "ports": 1, "stop": {"signal": "INT"}}
    processes = [
        servers.driver(use="pgbench", parameters={"port": "{database_port}", "warmup_ms": 0, "steady_ms": 1000}),
        servers.service("database", use="database", ready={"line": "ready to accept connections"}, **at),
    ]
    record = one_record(tmp_path, throughput({"clients": [2]}, *processes, runs=1))
    assert record.run.status == "ok", record.run.reason
    values = record.values[0].values
    assert values["rate"][0] > 0 and values["errors"] == [0] and values["clients"] == [2]
    assert 0 < values["p50_ns"][0] <= values["p99_ns"][0] <= values["max_ns"][0]
    used = {process.name: process.cpu_ns for process in record.processes}
    assert set(used) == {"database", "driver"}
    assert all(ns is not None and ns > 1_000_000 for ns in used.values())
    (server,) = (process for process in record.processes if process.role == "service")
    assert server.stopped_by == "INT" and record.run.n_survivors == 0


# Ten pages; in the first run it then says so, and waits for its end, since its database is gone.
DRIVER = f"""\
{servers.GATED}
for _ in range(10):
    urllib.request.urlopen(f"http://{{sys.argv[1]}}/").read()
if not os.path.exists(sys.argv[2]):
    open(sys.argv[2], "w").close()
    time.sleep(60)
events.write(f"iteration 0 {{start}} {{time.monotonic_ns()}} 10\\nvalue rate 10\\n")
"""
PACKAGES = {"postgres": "postgresql", "mariadb": "mariadb-server"}
HERE = {"h2": True, "postgres": bool(HAS_POSTGRES), "mariadb": bool(shutil.which("mariadbd"))}


def study(product: str, *driven: object, copies: int, **protocol: int) -> str:
    """Pages read from a database, by so many JVMs."""
    page = {"port": "{port}", "database_port": "{database_port}", "repeats": 1}
    at = {"copies": copies, "after": ["database"], "ports": 1, "ready": servers.health()}
    reads = {"parameters": {"port": "{port}", "state": "{state}"}, "ports": 1, "ready": {"port": "{port}"}}
    return throughput(
        {"database": [product], "jvm": JVM},
        servers.service("database", use="database", **reads),
        servers.service("page", use="database-page", parameters=page, **at),
        servers.driver(*driven),
        **protocol,
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@in_java
@pytest.mark.parametrize("product", HERE)
def test_two_jvms_share_a_database(product: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not HERE[product]:
        pytest.skip(f"needs {product}: apt-get install {PACKAGES[product]}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    asked = ("contains=2 stations, 240 readings, 14280 in all", "clients=2", "warmup=5", "ramp_s=0", "down_s=0")
    driven = (LOAD, "targets={page_targets}", *asked, "steady_s=1.5", "pool=/pool")
    record = one_record(tmp_path, study(product, *driven, copies=2, runs=1))
    assert record.run.status == "ok", record.run.reason
    values = record.values[0].values
    # All were right, and none is counted twice, however few this machine can serve meanwhile.
    assert values["errors"] == [0] and values["rate"][0] * 1.5 == pytest.approx(values["requests"][0])
    # Each JVM has one connection, which its client has most of the time.
    assert values["pool_size"] == [2] and 0 < values["pool_busy"][0] <= 2 and values["pool_waiting"][0] < 1
    used = {process.name: process.cpu_ns or 0 for process in record.processes}
    assert min(used["database"], used["page"]) > 1_000_000
    database = next(process for process in record.processes if process.name == "database")
    assert database.stopped_by == "TERM" and record.run.n_survivors == 0


def killed_once(folder: Path, begun: Path, over: threading.Event) -> None:
    """Kill the server of H2 that lies in a folder, once a file says that the load has begun; not when all is over."""
    while not begun.exists():
        if over.wait(0.01):
            return
    for pid in pids_with("org.h2.tools.Server", str(folder)):
        os.kill(pid, signal.SIGKILL)


@in_java
def test_a_killed_database_fails_its_run_alone(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    begun = tmp_path / "begun"
    (tmp_path / "driver.py").write_text(DRIVER)
    driven = ("{python}", "{here}/driver.py", "{page_targets}", begun)
    write_study(tmp_path, study("h2", *driven, copies=1, runs=2, max_reruns=0))
    over = threading.Event()
    killer = threading.Thread(target=killed_once, args=(tmp_path / "state", begun, over), daemon=True)
    killer.start()
    done = in_process("run", "study.toml", "-o", "results", cwd=tmp_path)
    over.set()
    killer.join()
    first, second = records_in(tmp_path / "results")
    assert (first["run"]["status"], second["run"]["status"]) == ("failed", "ok"), done.stderr
    assert first["run"]["reason"] == "service database ended while drivers worked (signal 9)"
    assert done.returncode in (0, 5) and first["run"]["n_survivors"] == 0 and not any((tmp_path / "state").iterdir())
    assert second["values"][0]["values"]["rate"] == [10]


MIX = shipped_workload("order-to-build") / "mix.toml"


def record(folder: Path, mix: Path) -> Record:
    asked = (f"mix={mix}", "audit=/audit", "clients={clients}", "warmup=100", "ramp_s=0", "steady_s=0.5")
    server = {"parameters": {"port": "{port}"}, "ports": 1, "ready": servers.health()}
    processes = [
        servers.service("server", use="order-to-build", **server),
        servers.driver(LOAD, "targets={server_targets}", *asked),
    ]
    return one_record(folder, throughput({"clients": [8], "jvm": JVM}, *processes, **ONCE))


@in_java
def test_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    found = record(tmp_path, MIX)
    assert found.run.status == "ok", found.run.reason
    values = found.values[0].values
    assert values["errors"] == [0] and values["audited"][0] >= 100 + values["requests"][0]


@in_java
def test_an_audit_error_fails_the_run_by_name(tmp_path: Path) -> None:
    # Large orders that are entered as small ones: no message, and not the orders that were asked for.
    (tmp_path / "mix.toml").write_text(MIX.read_text().replace('"/large-orders', '"/orders'))
    found = record(tmp_path, tmp_path / "mix.toml")
    why = "scalograph-load: audit: status 409: large_order: [0-9]+ acknowledged, 0 in the database"
    assert found.run.status == "failed" and re.fullmatch(why, found.run.reason or "")


SERVER = ROOT / "benchmarks/queueing_server.py"
WORK_S, LOCK_S = 0.01, 0.01
STEADY_S = 0.6


@needs_probe
@machine
@pytest.mark.usefixtures("driver")
def test_a_lock_is_not_taken_for_another_part(tmp_path: Path) -> None:
    serve = f"{sys.executable} {SERVER} {{port}} fixed 4:{1e3 * WORK_S:g} 1:{1e3 * LOCK_S:g}"
    times = ("--runs", 1, "--max-reruns", 0, "--ramp", "100ms", "--steady", f"{1e3 * STEADY_S:g}ms", "--warmup", 1)
    page = ("--get", "http://127.0.0.1:{port}/", "--pool", "/pool")
    done = complete(
        "load", "--serve", serve, *page, "--clients", "1,8", *times, "--json", "-o", "results", cwd=tmp_path
    )
    told = {
        part["values"]["clients"][0]: {name: numbers[-1] for name, numbers in part["values"].items()}
        for record in records_in(tmp_path / "results")
        for part in record["values"]
    }
    # By the queue's own arithmetic no answer is too early, however late this machine wakes anybody up. One that lay
    # there when the window began counts in it: one of each client at most.
    for clients, each_s in ((1, WORK_S + LOCK_S), (8, LOCK_S)):
        assert told[clients]["rate"] <= (STEADY_S / each_s + clients + 1) / STEADY_S
        assert told[clients]["p50_ns"] >= 0.98e9 * (WORK_S + LOCK_S)
    assert all(values["errors"] == 0 and values["ceiling"] > values["rate"] for values in told.values())
    # Of the four that come before the lock, more are not in use, whatever this machine keeps it waiting for.
    assert all(values["pool_size"] == 4 and 0 < values["pool_busy"] <= 4 for values in told.values())
    # Where the machine is too busy no run counts.
    groups = json.loads(done.stdout)["parts"]["throughput"]["data"]["groups"]
    assert {one["ends"] for one in groups} <= {"inside", "inconclusive"}


BUSINESS = shipped_workload("order-to-build")
TRIAL = Path(__file__).parent / "application_server" / "Trial.java"
# What the business is compiled by; where each server was unpacked, and what it calls a delivery that failed.
LIBRARIES = ("jakarta.jakartaee-api-*.jar", "h2-*.jar")
HOMES = {"wildfly": "wildfly-*", "liberty": "wlp"}
FAILED = {"wildfly": "WFLYEJB0034", "liberty": "CNTR0020E"}
EARLY, UNDONE = "a message waits: its order is not there yet", "a message waits: Check constraint"
# Left alone, WildFly would put a message among the dead letters after 10 deliveries, Open Liberty after 5.
DELIVERIES = 12


def fetched(pattern: str) -> Path | None:
    return next(iter(sorted((cache_folder() / "fetched").glob(f"*/{pattern}"))), None)


class Server(NamedTuple):
    name: str
    process: "subprocess.Popen[bytes]"
    port: int
    words: Path

    def ask(self, method: str, path: str) -> tuple[int, str]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=LONG_S)) as connection:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def done(self, method: str, path: str, **values: object) -> None:
        status, text = self.ask(method, f"{path}?{urlencode(values)}")
        assert status == 200, text

    def is_right(self, large_order: int) -> None:
        """So many large orders are there, and all was built once."""
        self.done("GET", "/audit", new_order=0, large_order=large_order, change_order=0, work_order=0, unknown=0)

    def said(self) -> str:
        return self.words.read_text(errors="replace")

    def n_failed(self, why: str) -> int:
        """Deliveries of a message that failed."""
        return sum(FAILED[self.name] in line and why in line for line in self.said().splitlines())

    def answers(self) -> bool:
        with suppress(OSError, HTTPException):
            return self.ask("GET", "/health")[0] == 200
        return False

    def until(self, fulfilled: Callable[[], bool]) -> None:
        wait_until(lambda: fulfilled() or self.process.poll() is not None, LONG_S)
        assert self.process.poll() is None, self.said()[-4000:]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, object]:
    """What a server is told: the business is compiled, with what tries it."""
    api, h2 = map(fetched, LIBRARIES)
    if api is None or h2 is None or shutil.which("javac") is None:
        pytest.skip("no javac, or no application server fetched: scalograph study order-to-build-servers")
    built = tmp_path_factory.mktemp("built")
    words = ["javac", "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", built, "-cp", f"{api}:{h2}"]
    subprocess.run([*map(str, [*words, *sorted(BUSINESS.rglob("*.java")), TRIAL])], check=True)
    return {"java": "java", "build": built, "h2": h2, "database": "memory", "connections": 8, "threads": 16,
            "backlog": 1, "station_ms": 0, "supplier_ms": 0, "seed": 1}  # fmt: skip


@pytest.fixture(params=HOMES)
def server(request: pytest.FixtureRequest, given: Mapping[str, object], tmp_path: Path) -> Iterator[Server]:
    home = fetched(f"{HOMES[request.param]}/")
    if home is None:
        pytest.skip(f"{request.param} is not fetched: scalograph study order-to-build-servers")
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    more = {"server": request.param, request.param: home, "port": port, "state": tmp_path / "state"}
    argv = [sys.executable, "-B", str(BUSINESS / "serve.py"), *(f"{k}={v}" for k, v in {**given, **more}.items())]
    (tmp_path / "state").mkdir()
    with (tmp_path / "words").open("wb") as words:
        process = subprocess.Popen(
            [*argv, "--", "-XX:TieredStopAtLevel=1"], stdout=words, stderr=subprocess.STDOUT, cwd=tmp_path
        )
    try:
        made = Server(request.param, process, port, tmp_path / "words")
        made.until(made.answers)
        yield made
    finally:
        process.kill()
        process.wait()


def test_a_message_comes_again_until_it_is_dealt_with_and_keeps_no_room(server: Server) -> None:
    early = Thread(target=server.ask, args=("POST", "/trial/early"), daemon=True)
    early.start()
    server.until(lambda: server.n_failed(EARLY) > 0)
    server.done("POST", "/trial/commit")
    early.join()
    server.is_right(large_order=1)
    # The last step of its work orders fails, in the transaction of the message.
    server.done("POST", "/trial/sql", sql="ALTER TABLE work_order ADD CONSTRAINT undone CHECK (is_done = 0) NOCHECK")
    server.done("POST", "/large-orders", customer=7, lines=10, draw=12)
    server.until(lambda: server.n_failed(UNDONE) >= DELIVERIES)
    server.done("POST", "/trial/sql", sql="ALTER TABLE work_order DROP CONSTRAINT undone")
    server.is_right(large_order=2)
    assert "a work order waits" not in server.said()
    # Its place, the only one, is free again.
    server.done("POST", "/large-orders", customer=7, lines=10, draw=12)
    server.is_right(large_order=3)
