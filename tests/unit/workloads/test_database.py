"""The rows that three databases hold, what its programs cannot do, and the log of pgbench as lines of a probe."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from scalograph.study.workload import load_workload, refusals
from tests.kit import ROOT
from tests.kit.scripts import load_script
from tests.kit.studies import facts_of

HERE = ROOT / "workloads" / "database"


@pytest.fixture(scope="module")
def statements() -> list[str]:
    return [*load_script(HERE / "rows.py").statements(7)]


def test_what_is_read_of_a_station_is_known_whichever_it_is(statements: list[str]) -> None:
    readings = [line for line in statements if line.startswith("INSERT INTO reading")]
    found = [row for line in readings for row in re.findall(r"\((\d+), (\d+), (\d+), (\d+)\)", line)]
    rows = [tuple(map(int, row)) for row in found]
    counted, summed = Counter[int](), Counter[int]()
    for _, station, _, tenths in rows:
        counted[station] += 1
        summed[station] += tenths
    assert len(rows) == 24_000 and {*counted.values()} == {120} and {*summed.values()} == {7_140}
    hours = Counter((station, day) for _, station, day, _ in rows)
    assert {*hours.values()} == {24} and len(hours) == 1_000
    first = [station for _, station, *_ in rows[:120]]
    assert len(set(first)) > 60  # rows of a station do not lie beside each other
    assert all("\n" not in line and ";" not in line for line in statements)


@pytest.mark.parametrize(("program", "argument", "code", "said"), [
    ("serve", "database=oracle", 64, "database: found oracle, expected one of h2, postgres, mariadb"),
    ("serve", "port=x", 64, "port: found x, expected an integer from 1 to 65535"),
    ("serve", "fsync=maybe", 64, "fsync: found maybe, expected on or off"),
    ("serve", "max_prepared=-1", 64, "max_prepared: found -1, expected an integer from 0 to 10000"),
    ("prepare", "rows=tpcc", 64, "rows: found tpcc, expected one of page, pgbench"),
    ("serve", "disk=1", 64, "arguments: found disk, expected one of port, address, state, database"),
    ("prepare", "database=mariadb", 69, "mariadb-install-db: not found; install it with: apt-get install mariadb"),
])  # fmt: skip
def test_what_is_wrong_is_one_sentence(tmp_path: Path, program: str, argument: str, code: int, said: str) -> None:
    given = ["port=1", "state=x"] if program == "serve" else ["seed=7", "database=h2", f"into={tmp_path}"]
    argv = [sys.executable, "-B", str(HERE / f"{program}.py"), *given, argument]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "PATH": str(tmp_path)})
    if "mariadb" in argument and not done.returncode:
        pytest.skip("it lies where it is looked for outside PATH")
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_pgbench_fills_postgresql_alone(tmp_path: Path) -> None:
    argv = [sys.executable, "-B", str(HERE / "prepare.py"), f"into={tmp_path}", "database=h2", "rows=pgbench"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        64, "rows: found pgbench of h2, expected page: pgbench fills PostgreSQL alone\n",
    )  # fmt: skip
    refused = refusals(load_workload(HERE), {}, facts_of(0, memory_bytes=0))
    assert refused({"rows": "pgbench", "database": "mariadb"}) == "pgbench fills PostgreSQL alone"
    assert refused({"rows": "pgbench", "database": "postgres"}) is None


@pytest.mark.parametrize(("given", "said"), [
    ({"fsync": "off"}, "fsync and max_prepared are of PostgreSQL"),
    ({"database": "mariadb", "max_prepared": 9}, "fsync and max_prepared are of PostgreSQL"),
    ({"database": "postgres", "fsync": "off", "max_prepared": 9}, None),
    ({"scale": 3}, "scale is of the rows of pgbench"),
    ({"database": "postgres", "rows": "pgbench", "scale": 3}, None),
    ({"database": "postgres", "rows": "pgbench", "seed": 8}, "seed is of the rows of page"),
    ({"seed": 8, "fsync": "on"}, None),
])  # fmt: skip
def test_what_a_database_would_not_read_is_refused(given: dict[str, int | str], said: str | None) -> None:
    workload = load_workload(HERE)
    defaults = {name: parameter.default for name, parameter in workload.parameters.items()}
    refused = refusals(workload, defaults | given, facts_of(0, memory_bytes=0))({})
    assert (refused or "").startswith(said or "") and (refused is None) == (said is None)


def test_what_of_postgresql_is_asked_reaches_its_server() -> None:
    given = {"port": "5433", "memory_mib": "64", "connections": "7", "fsync": "off", "max_prepared": "9"}
    given["address"] = "127.0.0.1"
    shown = f"""\
import pathlib, sys
sys.path.insert(0, {str(HERE)!r})
import postgres
postgres.program = str
print(*postgres.serve(pathlib.Path("data"), {given!r}), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-B", "-c", shown], capture_output=True, text=True, check=True)
    wanted = {"port=5433", "shared_buffers=64MB", "max_connections=7", "fsync=off", "max_prepared_transactions=9"}
    assert wanted | {"listen_addresses=127.0.0.1"} <= {*done.stdout.splitlines()}


PGBENCH = ROOT / "workloads" / "pgbench"
# Two clients, 1 ms a transaction, one right after the other, and one that failed.
LOG = "".join(f"{client} {n} 1000 0 1700000000 {client + 1000 * n}\n" for n in range(100) for client in (0, 1))


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    return load_script(PGBENCH / "figures.py")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.1"
    file.write_text(LOG + "0 100 failed 0 1700000000 101000\n")
    return file


def values(figures: ModuleType, log: Path) -> dict[str, float]:
    lines = [line.split() for line in figures.lines(figures.Transactions.read([log]), 2, 4, 0.05)]
    return {words[1]: float(words[2]) for words in lines if words[0] == "value"}


def test_rate_times_and_failures_are_those_of_the_log(figures: ModuleType, log: Path, tmp_path: Path) -> None:
    found = values(figures, log)
    assert (found["requests"], found["errors"], found["clients"], found["threads"]) == (200, 1, 2, 2)
    assert found["rate"] == pytest.approx(2000, rel=1e-3)
    assert found["p50_ns"] == found["p99_ns"] == found["mean_ns"] == 1_000_000
    assert found["in_flight"] == pytest.approx(2, rel=1e-3) and found["driver_cpu_ns"] == 50_000_000
    assert found["clients"] == pytest.approx(found["rate"] * (found["mean_ns"] + found["cycle_ns"]) / 1e9)
    (tmp_path / "log").write_text("0 0 failed 0 1700000000 5\n")
    assert [*figures.lines(figures.Transactions.read([tmp_path / "log"]), 1, 1, 0.0)] == ["value errors 1"]


@pytest.mark.parametrize(
    ("ns", "index"), [(0, 0), (127, 127), (128, 128), (255, 255), (256, 256), (257, 256), (1_000_000, 1780)]
)
def test_buckets_follow_the_page(figures: ModuleType, ns: int, index: int) -> None:
    assert figures.bucket(ns) == index


def test_a_bucket_is_narrow_and_no_line_of_a_histogram_is_too_long(figures: ModuleType) -> None:
    assert all(figures.bucket(low) < figures.bucket(low + low // 100) for low in range(1_000, 10**7, 997))
    lines = [*figures.histogram([1 << k for k in range(40)] * 1000)]
    assert len(lines) > 1 and max(map(len, lines)) < 512
