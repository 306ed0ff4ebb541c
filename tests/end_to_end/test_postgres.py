"""A database server and its driver, each by a workload of its own, from an empty cache to what each has used."""

import shutil
from pathlib import Path

import pytest

from tests.kit import servers
from tests.kit.servers import RATE, needs_probe, one_record
from tests.kit.studies import a_study

HAS_SERVER = any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or shutil.which("initdb")
pytestmark = [
    needs_probe,
    pytest.mark.skipif(
        not HAS_SERVER or not shutil.which("pgbench"), reason="needs PostgreSQL: apt-get install postgresql"
    ),
]
DATABASE = {"database": "postgres", "rows": "pgbench", "port": "{port}", "state": "{state}", "scale": 1, "fsync": "off"}
PROCESSES = [
    servers.driver(use="pgbench", parameters={"port": "{database_port}", "warmup_ms": 0, "steady_ms": 1000}),
    servers.service("database", use="database", parameters=DATABASE, ports=1, stop={"signal": "INT"},
            ready={"line": "ready to accept connections"}),
]  # fmt: skip


def test_rows_are_read_by_parts_accounted_apart_and_the_server_ends_as_it_was_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    record = one_record(
        tmp_path,
        a_study({"clients": [2]}, question="throughput", workload={"process": PROCESSES}, responses={"rate": RATE},
                protocol={"runs": 1}),
    )  # fmt: skip
    assert record.run.status == "ok", record.run.reason
    values = record.values[0].values
    assert values["rate"][0] > 0 and values["errors"] == [0] and values["clients"] == [2]
    assert 0 < values["p50_ns"][0] <= values["p99_ns"][0] <= values["max_ns"][0]
    used = {process.name: process.cpu_ns for process in record.processes}
    assert set(used) == {"database", "driver"}
    assert all(ns is not None and ns > 1_000_000 for ns in used.values())
    (server,) = (process for process in record.processes if process.role == "service")
    assert server.stopped_by == "INT" and record.run.n_survivors == 0
