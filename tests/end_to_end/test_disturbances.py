"""What disturbs a run, and what its program may do to whoever measures: inflicted for real, and named."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest

from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local import probe_process
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import measure
from scalograph.run.plan import plan
from scalograph.run.runner import Runner
from scalograph.run.session import FinishedRun, run_in_memory
from scalograph.study.declare import declare
from scalograph.verdict.judge import judge
from tests.kit.command import LONG_S, machine, study
from tests.kit.processes import pids_with, wait_until, write_program

pytestmark = machine
CPUS = sorted(os.sched_getaffinity(0))
CPU = CPUS[0]
SPIN = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"
# Reads a file that is larger than its memory group, over and over.
THRASH = """
import mmap, os, time
with open("file", "wb") as file:
    for _ in range(64):
        file.write(os.urandom(1 << 20))
    file.flush(); os.fsync(file.fileno())
with open("file", "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        for at in range(0, len(pages), 4096):
            pages[at]
"""


def record(probe: Sequence[str], argv: Sequence[str], folder: Path) -> Record:
    command = {"argv": list(argv), "cwd": str(folder), "env": {"PATH": os.environ["PATH"]}, "cpus": [CPU]}
    run = {"protocol": 1, "run": "r", "commands": [command], "timeout_ns": 30_000_000_000}
    return measure(run, probe)


def spin(seconds: float) -> list[str]:
    return [sys.executable, "-c", SPIN, str(seconds)]


def causes(found: Record) -> dict[str, str]:
    assert found.run.status == "ok", found.run.reason
    judgment = judge(found)
    assert judgment.verdict == "disturbed", judgment
    return {cause.cause: cause.text for cause in judgment.causes}


def test_a_neighbor_is_named(probe: Sequence[str], tmp_path: Path) -> None:
    with neighbor() as pid:
        found = record(probe, spin(2.5), tmp_path)
    assert "neighbor" in causes(found)
    if found.run.neighbors is not None:
        # By its number: others may have taken more of that CPU, and the text names two.
        (taken_ns,) = (one.taken_ns for one in found.run.neighbors if one.pid == pid)
        assert taken_ns > 0


def test_a_stopped_process_is_told(probe: Sequence[str], tmp_path: Path) -> None:
    script = "(sleep 0.1; kill -STOP $$; sleep 0.3; kill -CONT $$) & sleep 0.05; wait"
    assert "stopped" in causes(record(probe, ["sh", "-c", script], tmp_path))


@contextmanager
def neighbor() -> Iterator[int]:
    with subprocess.Popen(["taskset", "-c", str(CPU), *spin(60)]) as started:
        try:
            yield started.pid
        finally:
            started.kill()


@contextmanager
def group(controller: str, **settings: int) -> Iterator[Path]:
    """A cgroup v1 group of ours with limits; skips where this host has none to give."""
    folder = Path("/sys/fs/cgroup") / controller / f"scalograph-{uuid4().hex}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no {controller} group of cgroup v1 can be made here: {error.strerror}")
    try:
        for name, value in settings.items():
            (folder / f"{controller}.{name}").write_text(str(value))
        yield folder
    finally:
        for _ in range(50):
            with suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def inside(folder: Path, probe: Sequence[str]) -> list[str]:
    """The probe as it starts in a group: the run inherits it."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(folder / "cgroup.procs"), *probe]


def test_a_quota_is_told(probe: Sequence[str], tmp_path: Path) -> None:
    with group("cpu", cfs_quota_us=5_000) as folder:  # less than others leave it on a busy machine
        assert "quota" in causes(record(inside(folder, probe), spin(1), tmp_path))


def test_memory_that_is_too_small_is_told(probe: Sequence[str], tmp_path: Path) -> None:
    with group("memory", limit_in_bytes=32 << 20) as folder:
        thrashed = record(inside(folder, probe), [sys.executable, "-c", THRASH], tmp_path)
    if thrashed.run.memory_stall_ns is None:
        pytest.skip("this kernel keeps no pressure for a group of the run's own")
    assert "memory pressure" in causes(thrashed)


def test_a_stop_and_a_neighbor_are_both_told(probe: Sequence[str], tmp_path: Path) -> None:
    marker = str(2 + uuid4().int % 1000 / 1e6)

    def stop() -> None:
        wait_until(lambda: pids_with(marker), LONG_S)
        (pid,) = pids_with(marker)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(pid, signal.SIGCONT)

    stopper = threading.Thread(target=stop)
    with neighbor():
        stopper.start()
        told = causes(record(probe, spin(float(marker)), tmp_path))
    stopper.join()
    assert {"neighbor", "stopped"} <= set(told)


# Once: later runs of the study find the mark, and behave.
SCRIPT = """\
#!/bin/sh
[ ! -e {mark} ] || exit 0
touch {mark}
{act}
exec sleep 5
"""


def conducted(folder: Path, script: str, probe: Sequence[str], more: str = "") -> list[FinishedRun]:
    write_program(folder / "program", script)
    file = study(folder, '["./program", "{n}"]', runs=1, more=f'order = "declared"\nmax_reruns = 0\n{more}')
    facts = HostFacts(cpus=tuple(CpuFact(cpu=cpu, core=cpu) for cpu in CPUS))
    planned = plan(declare(file), facts)
    return run_in_memory(planned, Runner(planned, LocalHost(ProbeProgram(tuple(probe)))))


# What it does, and what is said: of one that stays until it is seen, who stopped the probe is named.
ACTS = {
    "kill": ("kill -KILL $PPID", "killed by signal 9"),
    "term": ("kill -TERM $PPID", "another program ended its probe: SIGTERM"),
    "term and stay": ("kill -TERM $PPID; sleep 5", "SIGTERM received from program ("),
    "stop": ("kill -STOP $PPID", "stopped by a signal that was not ours"),
    "int": ("kill -INT $PPID", "another program ended its probe: SIGINT"),
    "hup": ("kill -HUP $PPID", "another program ended its probe: SIGHUP"),
    "line": ("echo nonsense > /proc/$PPID/fd/1", "the answer of its probe was broken"),
    "flood": ("head -c 9000000 /dev/zero | tr '\\0' x > /proc/$PPID/fd/1", "the answer of its probe was broken"),
}


@pytest.mark.guarantee
@pytest.mark.parametrize(
    ("act", "probe"),
    [*((act, "native") for act in ACTS), *((act, "python") for act in ("kill", "term", "stop"))],
    indirect=["probe"],
)
def test_it_ends_only_its_run(act: str, probe: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_process, "_LOOK_S", 0.2)
    does, cause = ACTS[act]
    script = SCRIPT.format(mark=tmp_path / "mark", act=does)
    # One that writes is to end well.
    first, *others = conducted(tmp_path, script.replace("sleep 5", "true") if "fd" in does else script, probe)
    if first.record.header.containment == "namespace":
        pytest.skip("in a namespace of its own a program does not see who measures it")
    assert first.verdict == "failed" and cause in (first.record.run.reason or ""), first.record.run
    assert [done.record.run.status for done in others] == ["ok"]


@pytest.mark.guarantee
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


@pytest.mark.guarantee
@pytest.mark.parametrize("probe", ["native", "python"], indirect=True)
@pytest.mark.skipif(len(CPUS) < 2, reason="needs 2 CPUs")
def test_a_run_that_leaves_its_mask_is_not_believed(probe: Sequence[str], tmp_path: Path) -> None:
    file = conducted(tmp_path, LEAVES, probe, more='\n[factors.cpus]\ncontrol = "cpus"\nlevels = "1"\n')
    assert {done.verdict for done in file} == {"failed"}
