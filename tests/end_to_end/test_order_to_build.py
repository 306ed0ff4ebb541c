"""The business benchmark through a run: what was acknowledged is in the database, or the run fails and says what."""

import re
from pathlib import Path

from scalograph.protocol.record import Record
from scalograph.study.shipped import shipped_workload
from tests.kit import servers
from tests.kit.servers import LOAD, ONCE, RATE, needs_driver, needs_java, needs_probe, one_record
from tests.kit.studies import a_study
from tests.kit.workloads import QUICK

MIX = shipped_workload("order-to-build") / "mix.toml"
pytestmark = [needs_probe, needs_driver, needs_java]


def record(folder: Path, mix: Path) -> Record:
    """Of the one run of a study."""
    asked = (f"mix={mix}", "audit=/audit", "clients={clients}", "warmup=100", "ramp_s=0", "steady_s=0.5")
    processes = [
        servers.service("server", use="order-to-build", parameters={"port": "{port}"}, ports=1, ready=servers.health()),
        servers.driver(LOAD, "targets={server_targets}", *asked),
    ]
    jvm = {"control": "jvm-options", "levels": [" ".join(QUICK)]}
    return one_record(
        folder,
        a_study({"clients": [8], "jvm": jvm}, question="throughput", responses={"rate": RATE}, protocol=ONCE,
                workload={"events": True, "process": processes}),
    )  # fmt: skip


def test_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    found = record(tmp_path, MIX)
    assert found.run.status == "ok", found.run.reason
    values = found.values[0].values
    assert values["errors"] == [0] and values["audited"][0] >= 100 + values["requests"][0]


def test_an_audit_error_fails_the_run_by_name(tmp_path: Path) -> None:
    # Large orders that are entered as small ones: no message, and not the orders that were asked for.
    (tmp_path / "mix.toml").write_text(MIX.read_text().replace('"/large-orders', '"/orders'))
    found = record(tmp_path, tmp_path / "mix.toml")
    why = "scalograph-load: audit: status 409: large_order: [0-9]+ acknowledged, 0 in the database"
    assert found.run.status == "failed" and re.fullmatch(why, found.run.reason or "")
