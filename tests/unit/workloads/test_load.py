"""The load driver as its workload.toml starts it; cargo's tests, which `make test` compiles first, leave it built."""

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scalograph.run.hosts.python_probe.lines import Limits, Speech
from scalograph.study.processes import fill
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from tests.kit.servers import LOAD, needs_driver

HERE = shipped_workload("load")
pytestmark = needs_driver


def argv(**levels: object) -> list[str]:
    """What a study starts, but the program that cargo's tests left."""
    workload = load_workload(HERE)
    values = {name: parameter.default for name, parameter in workload.parameters.items()}
    return [str(LOAD), *fill(workload.argv, {"build": "", **values, **levels})[1:]]


def said(**levels: object) -> tuple[int, str]:
    done = subprocess.run(argv(**levels), capture_output=True, text=True, check=False, env={})
    return done.returncode, done.stderr


def test_the_program_takes_every_parameter_with_its_limits_and_none_beyond() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        target = f"127.0.0.1:{free.getsockname()[1]}"
        code, words = said(targets=target)
        assert (code, "no connection to 127.0.0.1:" in words) == (69, True), words
        for name, parameter in load_workload(HERE).parameters.items():
            levels = [*(parameter.choices or []), parameter.min, parameter.max]
            for level in [level for level in levels if level is not None and name != "clients"]:
                code, words = said(**{"targets": target, name: level})
                assert (code, "no connection" in words) == (69, True), f"{name}={level}: {words}"
    for name, parameter in load_workload(HERE).parameters.items():
        for level in [] if parameter.max is None else [parameter.max + 1]:
            assert parameter.refuse(level)
            code, words = said(**{name: level})
            assert (code, f"{name}={level}: expected" in words) == (69, True), words


@contextmanager
def server() -> Iterator[str]:
    """Answer "hello" until the test ends; its address."""

    class Hello(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hello) as found:
        found.daemon_threads = True
        threading.Thread(target=found.serve_forever, args=(0.05,)).start()
        try:
            yield f"127.0.0.1:{found.server_port}"
        finally:  # else a test that fails waits for it without end
            found.shutdown()


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_its_lines_follow_the_protocol_and_agree(loop: str) -> None:
    with server() as target:
        levels = {"targets": target, "loop": loop, "contains": "hello", "steady_s": 0.3, "ramp_s": 0.1, "down_s": 0.1}
        done = subprocess.run(argv(**levels, clients=2), capture_output=True, check=True, env={})
    speech = Speech()
    speech.feed(done.stdout, Limits())
    speech.finish()
    assert [phase[0] for phase in speech.phases] == ["ramp", "steady", "down"]
    ((_, start, end, work, cpu),) = speech.iterations
    assert (start, end) == speech.phases[1][1:]
    assert cpu is not None and 0 < cpu < end - start  # one thread, which waits for answers
    assert work == sum(speech.histograms["steady", "request"].values()) == speech.values["requests"][0]
    assert {"rate", "p50_ns", "p90_ns", "p99_ns", "max_ns", "late_p99_ns", "in_flight"} <= speech.values.keys()
