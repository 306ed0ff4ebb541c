"""Simulated runs: the declared law comes back exactly, and the record says that nothing was started."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.record import Record
from scalograph.run.hosts.local import probe
from tests.kit import simulated_probe

LAW = {"workers": 2, "t1_ns": 1_000_000_000, "sigma": 0.1, "kappa": 0.01}


def simulated(tmp_path: Path, model: dict[str, Any], argv: list[str], **fields: Any) -> Record:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    command = {"argv": argv, "cwd": "/", "env": {}, **fields.pop("command", {})}
    spec = {"protocol": 1, "run": "r1", "commands": [command], "timeout_ns": 10**11, **fields}
    return probe.measure(spec, [sys.executable, simulated_probe.__file__, str(path)])


@pytest.mark.parametrize("n", [1, 2, 8])
def test_the_law_comes_back_without_noise(n: int, tmp_path: Path) -> None:
    record = simulated(tmp_path, {"seed": 0, "law": LAW}, ["./prog", "-t", str(n)])
    cpu = 1e9 * (1 + 0.1 * (n - 1) + 0.01 * n * (n - 1))
    assert record.run.wall_ns == round(cpu / n) and record.run.cpu_ns == round(cpu)
    assert record.header.degraded[0].why.startswith("simulated")


def test_workers_are_at_most_the_cpus_of_the_mask_and_may_be_copies_or_cpus(tmp_path: Path) -> None:
    model = {"seed": 1, "law": LAW}
    free = simulated(tmp_path, model, ["./prog", "-t", "2"])
    bound = simulated(tmp_path, model, ["./prog", "-t", "64"], command={"cpus": [70, 71]})
    assert bound.run.wall_ns == free.run.wall_ns
    two = simulated(tmp_path, {"seed": 1, "law": LAW}, ["./prog", "-t", "2"]).run.wall_ns
    copies = {"seed": 1, "law": {**LAW, "workers": "copies"}}
    cpus = {"seed": 1, "law": {**LAW, "workers": "cpus"}}
    assert simulated(tmp_path, copies, ["x"], command={"copies": 2}).run.wall_ns == two
    assert simulated(tmp_path, cpus, ["x"], command={"cpus": [0, 1]}).run.wall_ns == two


def test_noise_belongs_to_the_run_and_the_seed_and_iterations_fill_the_wall(tmp_path: Path) -> None:
    def wall(seed: int, run: str) -> int | None:
        model = {"seed": seed, "noise_percent": 5, "law": LAW}
        return simulated(tmp_path, model, ["p", "-t", "2"], run=run).run.wall_ns

    assert wall(0, "a") == wall(0, "a") and len({wall(0, "a"), wall(0, "b"), wall(1, "a"), wall(1, "b")}) == 4
    model = {"seed": 1, "law": LAW, "iterations": 3, "work": 50}
    record = simulated(tmp_path, model, ["p", "-t", "1"], events=True, command={"copies": 2})
    assert [part.copy_index for part in record.iterations] == [0, 1]
    part = record.iterations[0]
    assert part.work == [50, 50, 50] and part.start_ns[1:] == part.end_ns[:-1]
    assert part.end_ns[-1] - part.start_ns[0] == record.run.wall_ns


def test_a_listed_command_follows_the_table_and_a_long_run_times_out(tmp_path: Path) -> None:
    table = {
        "p 1": {"wall_ns": 5, "cpu_ns": 9},
        "p 2": {"wall_ns": 5, "status": "failed", "exit_code": 4, "reason": "as declared"},
        "p 3": {"wall_ns": 5, "status": "signal", "signal": 11},
    }
    records = {n: simulated(tmp_path, {"seed": 1, "table": table}, ["p", n]) for n in "123"}
    figures = [(record.run.wall_ns, record.run.cpu_ns, record.run.status) for record in records.values()]
    assert figures == [(5, 9, "ok"), (5, 5, "failed"), (5, 5, "signal")]
    assert (records["2"].copies[0].exit_code, records["2"].run.reason) == (4, "as declared")
    assert (records["3"].copies[0].exit_code, records["3"].copies[0].signal) == (None, 11)
    record = simulated(tmp_path, {"seed": 1, "law": LAW}, ["p", "-t", "1"], timeout_ns=10**8)
    assert (record.run.status, record.run.wall_ns, record.copies[0].signal) == ("timeout", 10**8, 9)
