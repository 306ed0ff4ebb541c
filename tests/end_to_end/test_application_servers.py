"""The business on WildFly and Open Liberty, if a study has fetched them: what cannot be dealt with yet comes again."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import socket
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from scalograph.study.shipped import shipped_workload
from scalograph.system.build_cache import cache_folder
from tests.kit.command import LONG_S
from tests.kit.processes import wait_until

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
    """One that was started, and what it has said since."""

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
    with socket() as free:
        free.bind(("127.0.0.1", 0))
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
