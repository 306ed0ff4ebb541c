"""A database server and its driver, each by a workload of its own, from an empty cache to what each has used."""

import shutil
from pathlib import Path

import pytest

from scalograph.run.session import FinishedRun
from tests.kit.servers import needs_probe, one_run

HAS_SERVER = any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or shutil.which("initdb")
pytestmark = [
    needs_probe,
    pytest.mark.skipif(
        not HAS_SERVER or not shutil.which("pgbench"), reason="needs PostgreSQL: apt-get install postgresql"
    ),
]
STUDY = """\
version = 1
name = "rows"
title = "Rows read from PostgreSQL"
question = "throughput"
work = "total"
seed = 1
[[workload.process]]
name = "driver"
role = "driver"
use = "pgbench"
parameters = { port = "{database_port}", warmup_ms = 0, steady_ms = 1000 }
[[workload.process]]
name = "database"
role = "service"
use = "database"
parameters = { database = "postgres", rows = "pgbench", port = "{port}", state = "{state}", scale = 1, fsync = "off" }
ports = 1
ready = { line = "ready to accept connections" }
stop = { signal = "INT" }
[factors.clients]
levels = [2]
[responses.rate]
from = "value.rate"
unit = "1/s"
better = "higher"
[protocol]
runs = 1
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    folder = tmp_path_factory.mktemp("rows")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        (folder / "study.toml").write_text(STUDY)
        run = one_run(folder / "study.toml")
    assert run.record.run.status == "ok", run.record.run.reason
    return run


def test_rows_are_read_and_times_told(finished: FinishedRun) -> None:
    values = finished.record.values[0].values
    assert values["rate"][0] > 0 and values["errors"] == [0] and values["clients"] == [2]
    assert 0 < values["p50_ns"][0] <= values["p99_ns"][0] <= values["max_ns"][0]


def test_each_part_has_used_cpu_time_of_its_own(finished: FinishedRun) -> None:
    used = {process.name: process.cpu_ns for process in finished.record.processes}
    assert set(used) == {"database", "driver"}
    assert all(ns is not None and ns > 1_000_000 for ns in used.values())


def test_the_server_ends_as_it_was_told_to(finished: FinishedRun) -> None:
    (server,) = (process for process in finished.record.processes if process.role == "service")
    assert server.stopped_by == "INT" and finished.record.run.n_survivors == 0
