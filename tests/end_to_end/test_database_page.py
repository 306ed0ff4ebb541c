"""A page that reads a database, end to end: fetched, prepared, started, asked, and its answers right."""

import shutil
from pathlib import Path

import pytest

from scalograph.run.hosts.local import LocalHost
from scalograph.run.hosts.probe import find_probe
from scalograph.run.plan import plan
from scalograph.run.runner import Runner
from scalograph.run.session import run_unkept
from scalograph.study.declare import declare

from .test_postgres import HAS_SERVER

LOAD = Path(__file__).resolve().parents[2] / "build/rust/debug/scalograph-load"
pytestmark = [
    pytest.mark.skipif(find_probe().warning is not None, reason="services need the native probe"),
    pytest.mark.skipif(not shutil.which("javac"), reason="needs a JDK"),
    pytest.mark.skipif(not shutil.which("mvn"), reason="needs Maven: apt-get install maven"),
]
STUDY = """\
version = 1
name = "pages"
title = "Pages read from a database"
question = "throughput"
work = "total"
seed = 1
[workload]
events = true
[[workload.process]]
name = "database"
role = "service"
use = "database"
parameters = { port = "{port}", state = "{state}" }
ports = 1
ready = { port = "{port}" }
[[workload.process]]
name = "page"
role = "service"
use = "database-page"
parameters = { port = "{port}", database_port = "{database_port}", repeats = 1 }
copies = 2
after = ["database"]
ports = 1
ready = { http = "http://127.0.0.1:{port}/health" }
[[workload.process]]
name = "driver"
role = "driver"
argv = [
    "LOAD", "targets={page_targets}", "contains=2 stations, 240 readings, 14280 in all",
    "clients=2", "warmup=5", "ramp_s=0", "steady_s=0.5", "down_s=0", "pool=/pool",
]
[factors.database]
levels = ["PRODUCT"]
[responses.rate]
from = "value.rate"
unit = "1/s"
better = "higher"
[protocol]
runs = 1
"""


PACKAGES = {"postgres": "postgresql", "mariadb": "mariadb-server"}
HERE = {"h2": True, "postgres": bool(HAS_SERVER), "mariadb": bool(shutil.which("mariadbd"))}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fetched, compiled and prepared once for all of them."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("product", HERE)
def test_two_jvms_answer_rightly_from_one_database(
    product: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not HERE[product]:
        pytest.skip(f"needs {product}: apt-get install {PACKAGES[product]}")
    if not LOAD.is_file():
        pytest.skip("not built: cd workloads/load && cargo test")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    (tmp_path / "study.toml").write_text(STUDY.replace("LOAD", str(LOAD)).replace("PRODUCT", product))
    host = LocalHost(find_probe())
    planned = host.ready(plan(declare(tmp_path / "study.toml"), host.facts()), str)
    (run,) = run_unkept(planned, Runner(planned, host))
    record = run.record
    assert record.run.status == "ok", record.run.reason
    values = record.values[0].values
    assert values["rate"][0] > 10 and values["errors"] == [0]
    # Each JVM has one connection, which its client has most of the time.
    assert values["pool_size"] == [2] and 0 < values["pool_busy"][0] <= 2 and values["pool_waiting"][0] < 1
    used = {process.name: process.cpu_ns or 0 for process in record.processes}
    assert min(used["database"], used["page"]) > 1_000_000
    database = next(process for process in record.processes if process.name == "database")
    assert database.stopped_by == "TERM" and record.run.n_survivors == 0
