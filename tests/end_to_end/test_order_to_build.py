"""The business benchmark through a run: what was acknowledged is in the database, or the run fails and says what."""

import re
from pathlib import Path

from scalograph.protocol.record import Record
from scalograph.study.shipped import shipped_workload
from tests.end_to_end.test_workloads import QUICK
from tests.kit.servers import LOAD, needs_driver, needs_java, needs_probe, one_run

MIX = shipped_workload("order-to-build") / "mix.toml"
pytestmark = [needs_probe, needs_driver, needs_java]
STUDY = """\
version = 1
name = "orders"
title = "Orders"
question = "throughput"
work = "total"
seed = 1
[workload]
events = true
[[workload.process]]
name = "server"
role = "service"
use = "order-to-build"
parameters = { port = "{port}" }
ports = 1
ready = { http = "http://127.0.0.1:{port}/health" }
[[workload.process]]
name = "driver"
role = "driver"
argv = [
    "LOAD", "targets={server_targets}", "mix=MIX", "audit=/audit",
    "clients={clients}", "warmup=100", "ramp_s=0", "steady_s=0.5",
]
[factors.clients]
levels = [8]
[factors.jvm]
control = "jvm-options"
levels = ["QUICK"]
[responses.rate]
from = "value.rate"
unit = "1/s"
better = "higher"
[protocol]
runs = 1
max_reruns = 0
""".replace("QUICK", " ".join(QUICK))


def record(folder: Path, mix: Path) -> Record:
    """Of the one run of a study."""
    (folder / "study.toml").write_text(STUDY.replace("LOAD", str(LOAD)).replace("MIX", str(mix)))
    return one_run(folder / "study.toml").record


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
