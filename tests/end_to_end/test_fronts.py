"""Load balancers before servers, the real ones where they are: each answer comes from a server, all have their turn."""

import os
import shutil
from pathlib import Path

import pytest

from tests.kit import servers
from tests.kit.command import machine
from tests.kit.servers import ONCE, needs_probe, one_record
from tests.kit.studies import a_study

pytestmark = [machine, needs_probe]
# Forty requests, one after the other.
ASKS = f"""\
{servers.GATED}
said = [urllib.request.urlopen(f"http://{{sys.argv[1]}}/").read() for _ in range(40)]
events.write(f"iteration 0 {{start}} {{time.monotonic_ns()}} 40\\nvalue servers {{len(set(said))}}\\n")
"""


def fronted(front: str) -> str:
    """A study of two servers behind a load balancer."""
    at = {"ports": 1, "ready": servers.health()}
    targets = {"port": "{port}", "state": "{state}", "targets": "{web_targets}"}
    web = ("{python}", "{here}/server.py", "{port}", "{copy}", "plain", "{state}")
    processes = [
        servers.service("web", *web, copies=2, **at),
        servers.service("front", use="front", when={"front": [front]}, after=["web"], parameters=targets, **at),
        servers.driver("{python}", "{here}/driver.py", "{front_targets}"),
    ]
    return a_study({"front": [front]}, workload={"events": True, "process": processes}, protocol=ONCE)


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
