"""Runs on several machines by probes that say what they await: order of start, one gate, one end, nothing left."""

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from scalograph.run.hosts.local.probe_process import ProbeProcess
from scalograph.run.hosts.machines import shared_gate
from scalograph.run.hosts.machines.merged_record import merge
from scalograph.run.hosts.machines.shared_gate import MachineRun, conduct
from tests.kit import EXAMPLES

GOLDEN = (EXAMPLES / "probe_events.jsonl").read_text().splitlines()
SPEC: dict[str, Any] = json.loads((EXAMPLES / "probe_spec.jsonl").read_text().splitlines()[0])
# Writes what happens into a log; its arguments: name, whether it has a driver, how it goes wrong.
PROBE = """
import json, os, sys, time
log, name, has_driver, mode = sys.argv[1:5]
golden = json.loads(sys.argv[5])
def note(what):
    with open(log, "a") as out:
        out.write(f"{name} {what}\\n")
def say(what, clock_ns=None):
    note(what)
    event = {"event": "awaits", "run": run, "what": what, "clock_ns": clock_ns or time.time_ns()}
    print(json.dumps(event, separators=(",", ":")), flush=True)
def end(status, reason=None):
    figures = json.loads(golden[-1])
    figures |= {"status": status, "reason": reason, "cpu_ns": 5, "user_ns": 4, "system_ns": 1}
    print("\\n".join([*golden[1:-1], json.dumps(figures)]), flush=True)
    note("gone")
    sys.exit(0)
run = json.loads(sys.stdin.readline())["run"]
print(golden[0], flush=True)
if mode == "not ready":
    end("failed", "service x was not ready")
say("gate")
if not sys.stdin.readline():
    end("interrupted", "whoever asked for the run has gone; killed")
if mode == "dies":
    os._exit(9)
say("window", time.time_ns() + 10**12)
if has_driver == "yes":
    if mode == "releases":
        say("release")
        sys.stdin.readline()
        note("released")
    if mode == "fails":
        end("failed", "copy 0 exited with 1")
elif not sys.stdin.readline():
    end("interrupted", "whoever asked for the run has gone; killed")
say("end")
sys.stdin.read()
end("ok")
"""


def part(log: Path, name: str, has_driver: bool = False, mode: str = "") -> MachineRun:
    argv = [sys.executable, "-S", "-c", PROBE, str(log), name, "yes" if has_driver else "no", mode]
    golden = json.dumps([GOLDEN[0], *GOLDEN[1:6]])
    return MachineRun(SPEC, ProbeProcess([*argv, golden]), has_driver)


def carried_out(log: Path, *parts: MachineRun) -> tuple[MachineRun | None, list[str]]:
    before = threading.active_count()
    failed = conduct(parts)
    assert threading.active_count() == before
    return failed, log.read_text().splitlines()


def test_services_are_up_in_order_then_all_gates_open_and_all_windows_close_with_the_driver(tmp_path: Path) -> None:
    log = tmp_path / "log"
    database, server, driver = part(log, "database"), part(log, "server"), part(log, "driver", True, "releases")
    failed, steps = carried_out(log, database, server, driver)
    assert failed is None and all(one.record and one.record.run.status == "ok" for one in (database, server, driver))
    assert steps[:3] == ["database gate", "server gate", "driver gate"]  # no window before the last of them
    ends = {step: steps.index(step) for step in steps}
    assert ends["driver end"] < min(ends["server end"], ends["database end"])
    assert ends["driver released"] < ends["driver end"]
    # In reverse, each once the one before has ended.
    assert steps[-3:] == ["driver gone", "server gone", "database gone"]
    assert database.gate_lag_ns and database.clock_error_ns is not None
    assert database.clock_offset_ns and abs(database.clock_offset_ns - 10**12) < 10 * 10**9


@pytest.mark.parametrize(("place", "mode", "reason"), [
    (0, "not ready", "service x was not ready"),
    (1, "not ready", "service x was not ready"),
    (0, "dies", "exit code 9"),
    (2, "dies", "exit code 9"),
])  # fmt: skip
def test_whatever_ends_early_ends_all(tmp_path: Path, place: int, mode: str, reason: str) -> None:
    log = tmp_path / "log"
    parts = [part(log, f"m{i}", i == 2, mode if i == place else "") for i in range(3)]
    failed, _ = carried_out(log, *parts)
    assert failed is parts[place]
    merged = merge(parts, [[0], [1], [2]], [None] * 3, failed)
    assert merged.run.status == "failed" and reason in (merged.run.reason or "")


def test_a_driver_that_fails_closes_the_windows_of_all(tmp_path: Path) -> None:
    log = tmp_path / "log"
    parts = [part(log, "server"), part(log, "driver", True, "fails")]
    failed, steps = carried_out(log, *parts)
    assert steps[-1] == "server gone"
    merged = merge(parts, [[0], [1]], [None, None], failed)
    assert (merged.run.status, merged.run.reason) == ("failed", "copy 0 exited with 1")


def test_a_signal_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setattr(shared_gate, "pending_signal", lambda: 2 if log.exists() else None)
    parts = [part(log, "server"), part(log, "driver", True)]
    failed, steps = carried_out(log, *parts)
    assert "server gone" in steps and "driver window" not in steps
    assert failed is None or failed is parts[0]
