"""Load balancers before servers, the real ones where they are: each answer comes from a server, all have their turn."""

import os
import shutil
from pathlib import Path

import pytest

from tests.kit.command import machine
from tests.kit.servers import needs_probe, one_run

pytestmark = [machine, needs_probe]
SERVER = """\
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.wfile.write(sys.argv[2].encode())
    def log_message(self, *words):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""
DRIVER = """\
import os, sys, time, urllib.request
events, go = open(os.environ["SCALOGRAPH_EVENTS"], "a", buffering=1), open(os.environ["SCALOGRAPH_GO"], "rb")
events.write("ready\\n")
go.read(1)
start = time.monotonic_ns()
said = [urllib.request.urlopen(f"http://{sys.argv[1]}/").read() for _ in range(40)]
events.write(f"iteration 0 {start} {time.monotonic_ns()} 40\\nvalue servers {len(set(said))}\\n")
"""
STUDY = """\
version = 1
name = "fronted"
title = "Two servers behind a load balancer"
work = "total"
seed = 1
[workload]
events = true
[[workload.process]]
name = "web"
role = "service"
argv = ["{python}", "{here}/server.py", "{port}", "{copy}"]
copies = 2
ports = 1
ready = { http = "http://127.0.0.1:{port}/health" }
[[workload.process]]
name = "front"
role = "service"
use = "front"
when = { front = ["haproxy", "nginx"] }
after = ["web"]
parameters = { port = "{port}", state = "{state}", targets = "{web_targets}" }
ports = 1
ready = { http = "http://127.0.0.1:{port}/health" }
[[workload.process]]
name = "driver"
role = "driver"
argv = ["{python}", "{here}/driver.py", "{front_targets}"]
[factors.front]
levels = ["FRONT"]
[protocol]
runs = 1
max_reruns = 0
"""


def written(folder: Path, front: str) -> Path:
    for name, text in {"server.py": SERVER, "driver.py": DRIVER, "study.toml": STUDY.replace("FRONT", front)}.items():
        (folder / name).write_text(text.replace('["haproxy", "nginx"]', f'["{front}"]'))
    return folder / "study.toml"


@pytest.mark.parametrize("front", ["haproxy", "nginx"])
def test_requests_are_dealt_over_all_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, front: str) -> None:
    if shutil.which(front, path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip(f"needs {front}: apt-get install {front}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    record = one_run(written(tmp_path, front)).record
    assert record.run.status == "ok", record.run.reason
    assert [part.values["servers"] for part in record.values] == [[2]]
    (balancer,) = (part for part in record.processes if part.name == "front")
    assert balancer.cpu_ns and (balancer.stopped_by, record.run.n_survivors) == ("TERM", 0)
