"""A scheduler that ships: compiled where a level names it; a kernel that does not take it gives one sentence."""

import os
import subprocess
from pathlib import Path

import pytest

from scalograph.control.ext_scheduler import SHIPS
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.run.plan import Plan, locate_schedulers, plan
from scalograph.study.declare import Declared
from scalograph.study.load import parse
from tests.kit.studies import VALID

# As of a guest, which needs no consent.
FACTS = HostFacts(
    cpus=(CpuFact(cpu=0, core=0),), accelerator="tcg", schedulers={"scx_fifo": SHIPS, "scx_own": "/bin/own"}
)


def planned(folder: Path, levels: str) -> Plan:
    factor = f'[factors.scheduler]\nlevels = {levels}\ncontrol = "scheduler"\n[factors.threads]'
    text = VALID.replace("./prog", "true").replace("[factors.threads]", factor, 1)
    return plan(Declared(parse(text), folder / "study.toml"), FACTS)


def test_a_named_one_is_compiled_and_says_why_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = planned(tmp_path, '["default", "scx_own"]')
    assert locate_schedulers(asked) is asked
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = locate_schedulers(planned(tmp_path, '["default", "scx_fifo"]')).facts.schedulers
    assert found is not None and found["scx_own"] == "/bin/own"
    assert Path(found["scx_fifo"]).is_relative_to(tmp_path) and os.access(found["scx_fifo"], os.X_OK)
    if Path("/sys/kernel/sched_ext").exists():
        pytest.skip("it would be the scheduler of this machine")
    said = subprocess.run([found["scx_fifo"]], capture_output=True, text=True, timeout=30, check=False)
    assert said.returncode == 69 and said.stdout == ""
    assert said.stderr.startswith(("scx_fifo: this kernel has no sched_ext: ", "scx_fifo: /sys/kernel/btf/vmlinux: "))
