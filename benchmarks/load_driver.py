"""What does the load driver cost beside wrk? CPU time per request on an empty page of nginx, and lateness in open loop.

Driver and nginx have a CPU each; both drivers take turns, closed loop, 16 connections. Half of the rate that this gave
is then asked for in open loop. Needs wrk and nginx.
"""

import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from command_common import Figure, main
from probe_common import peers

from scalograph.run.build import build
from scalograph.study.workload import load, shipped

N_CONNECTIONS = 16
CPUS = sorted(os.sched_getaffinity(0))
FOUND = peers("nginx", "wrk")
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
    """CPU time per request of both drivers, their ratio, and the lateness at half the ceiling."""
    if len(FOUND) < 2:
        raise SystemExit("nginx and wrk: expected both on PATH; apt-get install nginx-light wrk")
    rounds, seconds = (3, 1) if quick else (15, 4)
    with _empty_page() as target:
        turns = [(_wrk(target, seconds), _driver(target, seconds)) for _ in range(rounds)]
        theirs, ours = [turn[0] for turn in turns], [turn[1]["cpu_us"] for turn in turns]
        yield Figure("CPU time per request: wrk", median(theirs), "us", None, f"fastest {min(theirs):.2f}")
        yield Figure("CPU time per request: scalograph-load", median(ours), "us", None, f"fastest {min(ours):.2f}")
        ratios = [our / their for our, their in zip(ours, theirs, strict=True)]
        spread = f"median of {rounds} turns, {min(ratios):.2f} to {max(ratios):.2f}"
        yield Figure("scalograph-load / wrk", median(ratios), "x", 1.3, spread)
        rate = median(turn[1]["rate"] for turn in turns) / 2
        opened = [_driver(target, seconds, "loop=open", f"rate={rate:.0f}") for _ in range(rounds)]
        late = [values["late_p99_ns"] / 1e3 for values in opened]
        yield Figure("lateness p99, open loop at half the ceiling", median(late), "us", 1000, f"{rate:.0f} requests/s")
        kept = median(values["rate"] for values in opened) / rate
        yield Figure("  of the requests asked for, answered", 100 * kept, "%", None, f"worst p99 {max(late):.0f} us")


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
    argv = [*_on(CPUS[0]), FOUND["wrk"], "-t1", f"-c{N_CONNECTIONS}", f"-d{seconds}", f"http://{target}/"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    requests = re.search(r"(\d+) requests in", text)
    assert requests, text
    return 1e6 * (usage.ru_utime + usage.ru_stime) / int(requests[1])


def _driver(target: str, seconds: int, *more: str) -> dict[str, float]:
    """The values of one run, with `cpu_us`, microseconds of CPU time per request."""
    sizes = (f"clients={N_CONNECTIONS}", f"connections={N_CONNECTIONS}", "ramp_s=0.2", f"steady_s={seconds}")
    argv = [*_on(CPUS[0]), PROGRAM, f"targets={target}", *sizes, *more]
    text = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    values = {words[1]: float(words[2]) for line in text.splitlines() if (words := line.split())[0] == "value"}
    return values | {"cpu_us": values["driver_cpu_ns"] / 1e3 / values["requests"]}


def _program() -> str:
    folder = build(shipped("load"), load(shipped("load")))
    return str(folder / "bin" / "scalograph-load") if folder else ""


PROGRAM = _program()

if __name__ == "__main__":
    main(figures, "3 turns of 1 s instead of 15 of 4 s")
