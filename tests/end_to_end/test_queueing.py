"""A server of known service times by the real path: never is it told to carry more than it can."""

import json
import sys
from pathlib import Path

import pytest

from tests.kit import ROOT
from tests.kit.command import machine
from tests.kit.results import complete, records_in
from tests.kit.servers import needs_probe

pytestmark = [machine, needs_probe]
SERVER = ROOT / "benchmarks/queueing_server.py"
WORK_S, LOCK_S = 0.01, 0.01
STEADY_S = 0.6


@pytest.mark.usefixtures("driver")
def test_a_lock_is_not_taken_for_another_part(tmp_path: Path) -> None:
    serve = f"{sys.executable} {SERVER} {{port}} fixed 4:{1e3 * WORK_S:g} 1:{1e3 * LOCK_S:g}"
    times = ("--runs", 1, "--max-reruns", 0, "--ramp", "100ms", "--steady", f"{1e3 * STEADY_S:g}ms", "--warmup", 1)
    page = ("--get", "http://127.0.0.1:{port}/", "--pool", "/pool")
    done = complete(
        "load", "--serve", serve, *page, "--clients", "1,8", *times, "--json", "-o", "results", cwd=tmp_path
    )
    told = {
        part["values"]["clients"][0]: {name: numbers[-1] for name, numbers in part["values"].items()}
        for record in records_in(tmp_path / "results")
        for part in record["values"]
    }
    # By the queue's own arithmetic no answer is too early, however late this machine wakes anybody up. One that lay
    # there when the window began counts in it: one of each client at most.
    for clients, each_s in ((1, WORK_S + LOCK_S), (8, LOCK_S)):
        assert told[clients]["rate"] <= (STEADY_S / each_s + clients + 1) / STEADY_S
        assert told[clients]["p50_ns"] >= 0.98e9 * (WORK_S + LOCK_S)
    assert all(values["errors"] == 0 and values["ceiling"] > values["rate"] for values in told.values())
    # Of the four that come before the lock, more are not in use, whatever this machine keeps it waiting for.
    assert all(values["pool_size"] == 4 and 0 < values["pool_busy"] <= 4 for values in told.values())
    # Where the machine is too busy no run counts.
    groups = json.loads(done.stdout)["parts"]["throughput"]["data"]["groups"]
    assert {one["ends"] for one in groups} <= {"inside", "not resolved"}
