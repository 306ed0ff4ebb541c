"""What a program may do to whoever measures it: each ends its run, which names the cause, and the study goes on."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local import probe_process
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.plan import plan
from scalograph.run.runner import Runner
from scalograph.run.session import FinishedRun, run_in_memory
from scalograph.study.declare import declare
from tests.kit.command import machine, study
from tests.kit.processes import write_program

pytestmark = [pytest.mark.guarantee, machine]
CPUS = sorted(os.sched_getaffinity(0))
# Once: later runs of the study find the mark, and behave.
SCRIPT = """\
#!/bin/sh
[ ! -e {mark} ] || exit 0
touch {mark}
{act}
exec sleep 5
"""


def conducted(folder: Path, script: str, probe: Sequence[str], more: str = "") -> list[FinishedRun]:
    """A study of this script, in declared order, by the loop that every study takes."""
    write_program(folder / "program", script)
    file = study(folder, '["./program", "{n}"]', runs=1, more=f'order = "declared"\nmax_reruns = 0\n{more}')
    facts = HostFacts(cpus=tuple(CpuFact(cpu=cpu, core=cpu) for cpu in CPUS))
    planned = plan(declare(file), facts)
    return run_in_memory(planned, Runner(planned, LocalHost(ProbeProgram(tuple(probe)))))


# What it does, and what is said: of one that stays until it is seen, who stopped the probe is named.
ACTS = {
    "kill": ("kill -KILL $PPID", "killed by signal 9"),
    "term": ("kill -TERM $PPID", "told to end the run, not by us: SIGTERM"),
    "term and stay": ("kill -TERM $PPID; sleep 5", "SIGTERM received from program ("),
    "stop": ("kill -STOP $PPID", "stopped by a signal that was not ours"),
    "int": ("kill -INT $PPID", "told to end the run, not by us: SIGINT"),
    "hup": ("kill -HUP $PPID", "told to end the run, not by us: SIGHUP"),
    "line": ("echo nonsense > /proc/$PPID/fd/1", "the answer of its probe was broken"),
    "flood": ("head -c 9000000 /dev/zero | tr '\\0' x > /proc/$PPID/fd/1", "the answer of its probe was broken"),
}


@pytest.mark.parametrize(
    ("act", "probe"),
    [*((act, "native") for act in ACTS), *((act, "python") for act in ("kill", "term", "stop"))],
    indirect=["probe"],
)
def test_it_ends_its_run_and_not_the_study(
    act: str, probe: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_process, "_LOOK_S", 0.2)
    does, cause = ACTS[act]
    script = SCRIPT.format(mark=tmp_path / "mark", act=does)
    # One that writes is to end well.
    first, *others = conducted(tmp_path, script.replace("sleep 5", "true") if "fd" in does else script, probe)
    if first.record.header.containment == "namespace":
        pytest.skip("in a namespace of its own a program does not see who measures it")
    assert first.verdict == "failed" and cause in (first.record.run.reason or ""), first.record.run
    assert [done.record.run.status for done in others] == ["ok"]


def test_a_guard_that_is_stopped_holds_nobody_up(probe: Sequence[str], tmp_path: Path) -> None:
    stops = "for pid in $(cat /proc/$PPID/task/$PPID/children); do [ $pid = $$ ] || kill -STOP $pid; done; exit 0"
    done = conducted(tmp_path, SCRIPT.format(mark=tmp_path / "mark", act=stops), probe)
    assert [one.record.run.status for one in done] == ["ok", "ok"]


LEAVES = f"""\
#!{sys.executable} -S
import os, time
os.sched_setaffinity(0, {{{CPUS[-1]}}})
end = time.process_time() + 0.05
while time.process_time() < end:
    pass
"""


@pytest.mark.parametrize("probe", ["native", "python"], indirect=True)
@pytest.mark.skipif(len(CPUS) < 2, reason="needs 2 CPUs")
def test_a_run_that_leaves_its_mask_is_not_believed(probe: Sequence[str], tmp_path: Path) -> None:
    file = conducted(tmp_path, LEAVES, probe, more='\n[factors.cpus]\ncontrol = "cpus"\nlevels = "1"\n')
    assert {done.verdict for done in file} == {"failed"}
