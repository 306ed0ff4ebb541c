"""Kernels that are booted: one runs a service with one CPU and a setting of its own, one has too little memory."""

import json
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.protocol import journal
from scalograph.run.hosts.guests.guest import DEFAULT_KERNEL, find_programs
from scalograph.run.hosts.guests.kernel_packages import ABOUT, fetch_kernel
from scalograph.run.hosts.local.probe import find_probe
from scalograph.system.build_cache import cache_folder
from tests.kit import servers
from tests.kit.results import complete
from tests.kit.studies import a_study, write_study

# The newest that is offered: the set-up for development has it fetched, or says how.
KERNEL = DEFAULT_KERNEL
STARTS = "echo mine > $1/file; cat $1/file; exec sleep 600"
DRIVES = "nproc; echo kept > file; echo lost > /root/scalograph-lost; cat file >&2"
STUDY = a_study(
    {
        "kernel": {"control": "kernel", "levels": [KERNEL]},
        "options": {"control": "boot-options", "levels": ["nosmp", "mem=48M"]},
        "swappiness": {"control": "sysctl:vm.swappiness", "levels": [7]},
        "scheduler": {"control": "scheduler", "levels": ["default"]},
    },
    workload={"process": [
        servers.service("server", "sh", "-c", STARTS, "sh", "{state}", ready={"line": "mine"}),
        servers.driver("sh", "-c", DRIVES),
    ]},
    responses={"cpus": {"from": "output", "pattern": r"^(\d+)$", "better": "none"}},
    protocol={"runs": 1, "timeout": "60s"},
)  # fmt: skip


def why_not() -> str:
    """What a guest lacks here; empty if nothing."""
    try:
        find_programs()
        if not (cache_folder() / "kernels" / KERNEL / ABOUT).exists():
            return f"kernel {KERNEL} was not fetched; fetch it: python scripts/fetch_test_kernel.py fetch"
    except HostError as error:
        return str(error)
    return find_probe().warning or ""


def test_one_kernel_is_booted_and_another_panics(tmp_path: Path) -> None:
    if missing := why_not():
        pytest.skip(missing)
    write_study(tmp_path, STUDY)
    done = complete("run", "study.toml", "--host", "guest", "-o", "out", "--json", cwd=tmp_path, codes=(4,))
    events = [*journal.read(tmp_path / "out" / "journal.jsonl")]
    booted, starved = sorted((e for e in events if e["event"] == "run"), key=lambda e: e["record"].run.status != "ok")
    record = booted["record"]
    assert record.guest.kernel == fetch_kernel(KERNEL, print)[0].release
    assert record.guest.cpus == "0" and "nosmp" in record.guest.command_line
    assert record.values[0].values == {"output_cpus": [1.0]}
    assert [copy.stderr_tail for copy in record.copies] == ["mine\n", "kept\n"]
    assert [one.name for one in record.processes] == ["server", "driver"]
    swappiness, scheduler = record.settings
    assert (swappiness.name, swappiness.in_force, swappiness.at_end) == ("vm.swappiness", "7", "7")
    assert (scheduler.before, scheduler.in_force, scheduler.at_end, scheduler.after) == ("default",) * 4
    is_emulated = record.guest.accelerator == "tcg"
    assert record.header.backend == "kernel"
    assert (record.run.wall_ns is None) == (record.run.cpu_ns is None) == is_emulated
    assert not Path("/root/scalograph-lost").exists()
    reason = starved["record"].run.reason
    assert starved["configuration"]["options"] == "mem=48M" and "did not boot; it said: " in reason
    assert "panic" in reason
    assert KERNEL in events[0]["uses"]["kernels"]
    assert events[0]["machine"]["accelerator"] == record.guest.accelerator
    trust = json.loads(done.stdout)["trust"]
    said = " ".join([*trust["points"], *trust["causes"]])
    assert ("functional, not timing" in said.lower()) == is_emulated
