"""What tests of servers need: a server and its drivers, what they are skipped without, and the one run of a study."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.record import Record
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.plan import plan
from scalograph.run.runner import Runner
from scalograph.run.session import FinishedRun, run_in_memory
from scalograph.study.declare import declare
from tests.kit import ROOT
from tests.kit.studies import a_study, write_study

# The one that cargo's tests built; a user's is built when it is first used.
LOAD = ROOT / "build/rust/debug/scalograph-load"
needs_driver = pytest.mark.skipif(not LOAD.is_file(), reason="not built: cd workloads/load && cargo test")
needs_probe = pytest.mark.skipif(find_probe().warning is not None, reason="services need the native probe")
needs_java = pytest.mark.skipif(
    not all(map(shutil.which, ("mvn", "javac"))), reason="needs Maven and a JDK: apt-get install maven"
)

# A server (port, copy, how it behaves, folder of its state) which answers with its copy, or with when it was born.
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
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if mode == "dies" and self.path == "/":
            print("out of paper", flush=True)
            os.kill(os.getpid(), 9)
        text = (born if mode == "born" else copy).encode()
        self.send_response(500 if mode == "500" or mode == "only up" and self.path != "/up" else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
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
# How a driver in Python begins.
GATED = """\
import os, sys, time, urllib.request
events, go = open(os.environ["SCALOGRAPH_EVENTS"], "a", buffering=1), open(os.environ["SCALOGRAPH_GO"], "rb")
events.write("ready\\n")
go.read(1)
start, said = time.monotonic_ns(), []
"""
# Asks its targets for so many milliseconds.
DRIVER = f"""\
{GATED}
while time.monotonic_ns() < start + int(sys.argv[2]) * 1_000_000:
    said += [urllib.request.urlopen(f"http://{{target}}/").read() for target in sys.argv[1].split(",")]
events.write(f"iteration 0 {{start}} {{time.monotonic_ns()}} 1\\nvalue servers {{len(set(said))}}\\n")
events.write(f"value born {{int(min(said))}}\\n")
"""
RATE = {"from": "value.rate", "unit": "1/s", "better": "higher"}
ONCE = {"runs": 1, "max_reruns": 0}


def service(name: str, *argv: object, **more: Any) -> dict[str, Any]:
    """Declare a service of a study: its command, or what it uses."""
    return {"name": name, "role": "service", **({"argv": [*map(str, argv)]} if argv else {}), **more}


def driver(*argv: object, **more: Any) -> dict[str, Any]:
    """Declare the driver of a study."""
    return {**service("driver", *argv, **more), "role": "driver"}


def health(port: object = "{port}") -> dict[str, str]:
    """Say that a service is ready once it answers."""
    return {"http": f"http://127.0.0.1:{port}/health"}


def write_served(
    folder: Path, mode: str, *, copies: int = 1, port: int | None = None, driven: list[str] | None = None,
    pause: list[int] | None = None, keep: dict[str, str] | None = None, runs: int = 1, **web: Any,
) -> Path:  # fmt: skip
    """Write a study of SERVER in a mode, and of DRIVER, or of another driver; `web` is further said of the server.

    port: one that is named, in place of a free one. pause: levels of how long the driver asks, in ms.
    """
    (folder / "server.py").write_text(SERVER)
    (folder / "driver.py").write_text(DRIVER)
    argv = ["{python}", "{here}/server.py", "{port}", "{copy}", "{mode}", "{state}"]
    if port is None:
        web |= {"copies": "{copies}", "ports": 1, "ready": health()}
    else:
        web |= {"ports": [port], "ready": health(port)}
        argv.append("{copies}")
    # Only who never gets ready is given up soon, and however busy the machine is, no other one fails by that.
    web["ready_timeout"] = "1s" if mode in ("never", "500") else "60s"
    asks = driven or ["{python}", "{here}/driver.py", "{web_targets}", "{pause}"]
    factors = {
        "mode": [mode], "copies": [copies], "cpus": {"levels": [1], "control": "cpus"},
        "nice": {"levels": [10 if mode == "plain" else 0], "control": "nice"},
    } | ({} if driven else {"pause": pause or [600]})  # fmt: skip
    return write_study(
        folder,
        a_study(
            factors, name="served", protocol={**ONCE, "runs": runs},
            workload={"events": True, **(keep or {}), "process": [service("web", *argv, **web), driver(*asks)]},
            responses={"servers": {"from": "value.servers", "better": "higher"},
                       "busy": {"from": "process.web.cpu_percent", "better": "none"}},
        ),
    )  # fmt: skip


def one_run(file: Path) -> FinishedRun:
    """The only run of a study."""
    host = LocalHost(find_probe())
    planned = host.ready(plan(declare(file), host.facts()), str)
    (finished,) = run_in_memory(planned, Runner(planned, host))
    return finished


def one_record(folder: Path, text: str) -> Record:
    """The record of the only run of a study that is written into a folder."""
    return one_run(write_study(folder, text)).record
