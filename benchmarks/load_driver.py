"""What does the load driver cost beside wrk, is it on time, and are its times those that a server records?

CPU time per request on an empty page of nginx, which has a CPU of its own: both drivers take turns, closed loop, 16
connections. Half of the rate that this gave is then asked for in open loop. Then a server that stands still for a
second, which an open loop must show and a closed one hides. Last, one that sleeps for times with a negative-exponential
distribution and records them. What is measured on an empty page needs wrk and nginx; oha takes turns too if present.
"""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from command_common import Figure, main
from probe_common import peers, quantile

from scalograph.run.build import build
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload

N_CONNECTIONS = 16
SLEEP_S = 0.05
CPUS = sorted(os.sched_getaffinity(0))
FOUND = peers("nginx", "wrk")
OHA = shutil.which("oha")
CONFIGURATION = """\
worker_processes 1; daemon off; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
    access_log off; keepalive_requests 1000000000;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{ listen 127.0.0.1:{port}; location / {{ return 200 ""; }} }}
}}
"""


def figures(quick: bool) -> Iterator[Figure]:
    """CPU time per request of both drivers, lateness at half the ceiling, and quantiles beside those of a server."""
    rounds, seconds = (3, 1) if quick else (15, 4)
    if len(FOUND) == 2:
        yield from _beside_wrk(rounds, seconds)
    yield from _beside_a_stall(4 if quick else 10)
    yield from _beside_a_record(4 * seconds)


def _beside_wrk(rounds: int, seconds: int) -> Iterator[Figure]:
    with _empty_page() as target:
        turns, others = [], []
        for _ in range(rounds):
            turns.append((_wrk(target, seconds), _driver(target, seconds)))
            others += [_oha(OHA, target, seconds)] if OHA else []
        theirs, ours = [turn[0] for turn in turns], [turn[1]["cpu_us"] for turn in turns]
        yield Figure("CPU time per request: wrk", median(theirs), "us", None, f"fastest {min(theirs):.2f}")
        yield Figure("CPU time per request: scalograph-load", median(ours), "us", None, f"fastest {min(ours):.2f}")
        ratios = [our / their for our, their in zip(ours, theirs, strict=True)]
        spread = f"median of {rounds} turns, {min(ratios):.2f} to {max(ratios):.2f}"
        yield Figure("scalograph-load / wrk", median(ratios), "x", 1.3, spread)
        if others:
            beside = [our / other for our, other in zip(ours, others, strict=True)]
            yield Figure("CPU time per request: oha", median(others), "us", None, f"fastest {min(others):.2f}")
            note = f"{min(beside):.2f} to {max(beside):.2f}"
            yield Figure("scalograph-load / oha", median(beside), "x", None, note)
        rate = median(turn[1]["rate"] for turn in turns) / 2
        opened = [_driver(target, seconds, "loop=open", f"rate={rate:.0f}") for _ in range(rounds)]
        titles = {"late_p99_ns": "lateness p99, open loop at half the ceiling", "own_late_p99_ns": "  of it its own"}
        for name, title in titles.items():
            late = [values[name] / 1e3 for values in opened]
            note = f"{rate:.0f} requests/s, {min(late):.0f} to {max(late):.0f} us"
            yield Figure(title, median(late), "us", 1000, note)
        kept, waited = (median(values[name] for values in opened) for name in ("rate", "waited_share"))
        note = f"{100 * waited:.1f}% waited for a connection"
        yield Figure("  of the requests asked for, answered", 100 * kept / rate, "%", None, note)


def _beside_a_stall(seconds: int) -> Iterator[Figure]:
    """Response times of a server that stands still for a second, in the middle: in an open loop and in a closed one.

    A share of 1 / seconds of the requests was meant in that second, and they waited for any time up to it.
    """
    true_s = 1 - 0.01 * seconds
    for name, arguments in (("open", ("loop=open", "rate=100")), ("closed", (f"clients={N_CONNECTIONS}",))):
        with _serving(_stalling(seconds / 2)) as target:
            values = _driver(target, seconds, "ramp_s=0", *arguments)
        p99_s, max_s = (values[key] / 1e9 for key in ("p99_ns", "max_ns"))
        note = f"p99 {p99_s:.3g} s, longest {max_s:.3g} s, {values['requests']:.0f} requests"
        off = 100 * abs(p99_s / true_s - 1)
        yield Figure(f"a stall of 1 s: p99 of the {name} loop is off", off, "%", 5 if name == "open" else None, note)


def _stalling(after_s: float) -> Callable[[], None]:
    """Work of no time, but for one second, which begins so long after the first request."""
    begin: list[float] = []

    def stall() -> None:
        if not begin:
            begin.append(time.monotonic())
        left = begin[0] + after_s + 1 - time.monotonic()
        if 0 < left < 1:
            time.sleep(left)

    return stall


def _beside_a_record(seconds: int) -> Iterator[Figure]:
    """How far quantiles of response time are from those of the times that the server itself recorded."""
    drawn = random.Random(1)
    with _serving(lambda: time.sleep(drawn.expovariate(1 / SLEEP_S)), recorded := []) as target:
        values = _driver(target, seconds, "ramp_s=0", f"clients={N_CONNECTIONS}")
    for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        theirs = quantile(recorded, share)
        note = f"{theirs * 1e3:.2f} ms recorded, {len(recorded)} requests"
        yield Figure(f"{name[:3]} off that of the server", 100 * abs(values[name] / 1e9 / theirs - 1), "%", 3, note)


@contextmanager
def _serving(work: Callable[[], object], recorded: list[float] | None = None) -> Iterator[str]:
    """A server that does this work for each request, and records its times; its address."""

    class Page(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            begin = time.perf_counter()
            work()
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            if recorded is not None:
                recorded.append(time.perf_counter() - begin)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def _empty_page() -> Iterator[str]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "nginx.conf"
        file.write_text(CONFIGURATION.format(folder=folder, port=port))
        server = subprocess.Popen([*_on(CPUS[-1]), FOUND["nginx"], "-p", folder, "-c", str(file)])
        try:
            _listens(port)
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def _listens(port: int) -> None:
    for _ in range(100):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("nginx does not listen after 5 s")


def _on(cpu: int) -> list[str]:
    return ["taskset", "-c", str(cpu)]


def _wrk(target: str, seconds: int) -> float:
    """Microseconds of CPU time per request, start and end of wrk counted: some milliseconds."""
    text, cpu_s = _output([FOUND["wrk"], "-t1", f"-c{N_CONNECTIONS}", f"-d{seconds}", f"http://{target}/"])
    requests = re.search(r"(\d+) requests in", text)
    assert requests, text
    return 1e6 * cpu_s / int(requests[1])


def _oha(program: str, target: str, seconds: int) -> float:
    """The same of oha."""
    how = ("--no-tui", "--output-format", "json", "-z", f"{seconds}s", "-c", str(N_CONNECTIONS))
    text, cpu_s = _output([program, *how, f"http://{target}/"])
    return 1e6 * cpu_s / sum(json.loads(text)["statusCodeDistribution"].values())


def _output(argv: list[str]) -> tuple[str, float]:
    """What a program prints, on the first CPU, and its CPU time."""
    with subprocess.Popen([*_on(CPUS[0]), *argv], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return text, usage.ru_utime + usage.ru_stime


def _driver(target: str, seconds: int, *more: str) -> dict[str, float]:
    """The values of one run, with `cpu_us`, microseconds of CPU time per request."""
    sizes = (f"clients={N_CONNECTIONS}", f"connections={N_CONNECTIONS}", "ramp_s=0.2", f"steady_s={seconds}")
    argv = [*_on(CPUS[0]), PROGRAM, f"targets={target}", *sizes, *more]
    text = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    values = {words[1]: float(words[2]) for line in text.splitlines() if (words := line.split())[0] == "value"}
    return values | {"cpu_us": values["driver_cpu_ns"] / 1e3 / values["requests"]}


def _program() -> str:
    folder = build(shipped_workload("load"), load_workload(shipped_workload("load")))
    return str(folder / "bin" / "scalograph-load") if folder else ""


PROGRAM = _program()

if __name__ == "__main__":
    main(figures, "3 turns of 1 s instead of 15 of 4 s")
