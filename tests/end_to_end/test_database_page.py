"""A page that reads a database, end to end: fetched, prepared, started, asked, and its answers right."""

import os
import shutil
import signal
import threading
from pathlib import Path

import pytest

from tests.end_to_end.test_postgres import HAS_SERVER
from tests.kit import servers
from tests.kit.command import in_process
from tests.kit.processes import pids_with
from tests.kit.results import records_in
from tests.kit.servers import LOAD, RATE, needs_driver, needs_java, needs_probe, one_record
from tests.kit.studies import a_study, write_study
from tests.kit.workloads import QUICK

pytestmark = [needs_probe, needs_driver, needs_java]
STEADY_S = 1.5
# Ten pages; in the first run it then says so, and waits for its end, since its database is gone.
DRIVER = f"""\
{servers.GATED}
for _ in range(10):
    urllib.request.urlopen(f"http://{{sys.argv[1]}}/").read()
if not os.path.exists(sys.argv[2]):
    open(sys.argv[2], "w").close()
    time.sleep(60)
events.write(f"iteration 0 {{start}} {{time.monotonic_ns()}} 10\\nvalue rate 10\\n")
"""
PACKAGES = {"postgres": "postgresql", "mariadb": "mariadb-server"}
HERE = {"h2": True, "postgres": bool(HAS_SERVER), "mariadb": bool(shutil.which("mariadbd"))}


def study(product: str, *driven: object, copies: int, **protocol: int) -> str:
    """Pages read from a database, by so many JVMs."""
    page = {"port": "{port}", "database_port": "{database_port}", "repeats": 1}
    processes = [
        servers.service("database", use="database", ports=1, ready={"port": "{port}"},
                parameters={"port": "{port}", "state": "{state}"}),
        servers.service("page", use="database-page", parameters=page, copies=copies, after=["database"], ports=1,
                ready=servers.health()),
        servers.driver(*driven),
    ]  # fmt: skip
    jvm = {"control": "jvm-options", "levels": [" ".join(QUICK)]}
    return a_study({"database": [product], "jvm": jvm}, question="throughput", responses={"rate": RATE},
                   workload={"events": True, "process": processes}, protocol=protocol)  # fmt: skip


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
    asked = ("contains=2 stations, 240 readings, 14280 in all", "clients=2", "warmup=5", "ramp_s=0", "down_s=0")
    driven = (LOAD, "targets={page_targets}", *asked, f"steady_s={STEADY_S}", "pool=/pool")
    record = one_record(tmp_path, study(product, *driven, copies=2, runs=1))
    assert record.run.status == "ok", record.run.reason
    values = record.values[0].values
    # All were right, and none is counted twice, however few this machine can serve meanwhile.
    assert values["errors"] == [0] and values["rate"][0] * STEADY_S == pytest.approx(values["requests"][0])
    # Each JVM has one connection, which its client has most of the time.
    assert values["pool_size"] == [2] and 0 < values["pool_busy"][0] <= 2 and values["pool_waiting"][0] < 1
    used = {process.name: process.cpu_ns or 0 for process in record.processes}
    assert min(used["database"], used["page"]) > 1_000_000
    database = next(process for process in record.processes if process.name == "database")
    assert database.stopped_by == "TERM" and record.run.n_survivors == 0


def killed_once(folder: Path, begun: Path, over: threading.Event) -> None:
    """Kill the server of H2 that lies in a folder, once a file says that the load has begun; not when all is over."""
    while not begun.exists():
        if over.wait(0.01):
            return
    for pid in pids_with("org.h2.tools.Server", str(folder)):
        os.kill(pid, signal.SIGKILL)


def test_a_database_that_is_killed_in_the_window_fails_its_run_and_no_other(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    begun = tmp_path / "begun"
    (tmp_path / "driver.py").write_text(DRIVER)
    driven = ("{python}", "{here}/driver.py", "{page_targets}", begun)
    write_study(tmp_path, study("h2", *driven, copies=1, runs=2, max_reruns=0))
    over = threading.Event()
    killer = threading.Thread(target=killed_once, args=(tmp_path / "state", begun, over), daemon=True)
    killer.start()
    done = in_process("run", "study.toml", "-o", "results", cwd=tmp_path)
    over.set()
    killer.join()
    first, second = records_in(tmp_path / "results")
    assert (first["run"]["status"], second["run"]["status"]) == ("failed", "ok"), done.stderr
    assert first["run"]["reason"] == "service database ended while drivers worked (signal 9)"
    assert done.returncode in (0, 5) and first["run"]["n_survivors"] == 0 and not any((tmp_path / "state").iterdir())
    assert second["values"][0]["values"]["rate"] == [10]
