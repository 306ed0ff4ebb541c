"""A page that reads a database, end to end: fetched, prepared, started, asked, and its answers right."""

import shutil
from pathlib import Path

import pytest


from ..servers import LOAD, needs_driver, needs_java, needs_probe, one_run
from .shell import machine
from .test_postgres import HAS_SERVER

pytestmark = [machine, needs_probe, needs_driver, needs_java]
STEADY_S = 0.5
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
    "clients=2", "warmup=5", "ramp_s=0", "steady_s=STEADY_S", "down_s=0", "pool=/pool",
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
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    (tmp_path / "study.toml").write_text(STUDY.replace("LOAD", str(LOAD)).replace("PRODUCT", product).replace("STEADY_S", str(STEADY_S)))
    record = one_run(tmp_path / "study.toml").record
    assert record.run.status == "ok", record.run.reason
    values = record.values[0].values
    # All were right, and none is counted twice, however few this machine can serve in half a second.
    assert values["errors"] == [0] and values["rate"][0] * STEADY_S == pytest.approx(values["requests"][0])
    # Each JVM has one connection, which its client has most of the time.
    assert values["pool_size"] == [2] and 0 < values["pool_busy"][0] <= 2 and values["pool_waiting"][0] < 1
    used = {process.name: process.cpu_ns or 0 for process in record.processes}
    assert min(used["database"], used["page"]) > 1_000_000
    database = next(process for process in record.processes if process.name == "database")
    assert database.stopped_by == "TERM" and record.run.n_survivors == 0
