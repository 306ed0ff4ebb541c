"""A real Slurm of two nodes on this machine: ranks of MPI as job steps, and a controller that dies meanwhile."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from scalograph.protocol import journal
from tests.kit import ROOT
from tests.kit.command import in_process
from tests.kit.processes import wait_until
from tests.kit.studies import a_study, write_study

os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"
NEEDED = {"slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "munged": "munge", "mpirun": "openmpi-bin",
          "mpicc": "libopenmpi-dev"}  # fmt: skip
MISSING = sorted({package for name, package in NEEDED.items() if shutil.which(name) is None})
if MISSING and os.environ.get("CI") == "true":
    pytest.fail(f"missing: apt-get install {' '.join(MISSING)}")
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"missing: apt-get install {' '.join(MISSING)}"),
    pytest.mark.xdist_group("cluster"),
]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def script(*words: object) -> str:
    argv = [sys.executable, ROOT / "scripts" / "try_cluster.py", *words]
    return subprocess.run([*map(str, argv)], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout


@pytest.fixture(scope="module")
def conf() -> Iterator[Path]:
    """Start a cluster; the path of a socket in it must be short."""
    folder = Path(mkdtemp(prefix="scalograph-try-"))
    line = script("start", folder, "--nodes", 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", line.strip().removeprefix("export SLURM_CONF="))
        try:
            yield folder / "slurm.conf"
        finally:
            script("stop", folder)
            assert not folder.exists()


def queue() -> str:
    return subprocess.run(["squeue", "--noheader"], capture_output=True, text=True, timeout=30, check=True).stdout


def runs_of(results: Path) -> list[dict[str, Any]]:
    return [event for event in journal.read(results / "journal.jsonl") if event["event"] == "run"]


def test_ranks_of_mpi_are_started_on_nodes_by_both_launchers(conf: Path, tmp_path: Path) -> None:
    factors = {
        "nodes": {"levels": [1, 2], "control": "cluster:nodes"},
        "tasks": {"levels": [2], "control": "cluster:tasks-per-node"},
        "launcher": {"levels": ["srun", "mpirun"], "control": "cluster:launcher"},
    }
    text = a_study(
        factors, workload={"use": "mpi-stencil", "parameters": {"cells": 1000, "steps": 2}, "env": AS_ROOT},
        responses={"ranks": {"from": "output", "pointer": "/ranks", "unit": "ranks", "better": "higher"}},
        protocol={"runs": 1, "timeout": "30s", "node_reference": "0s"}, baseline={"nodes": 1},
    )  # fmt: skip
    file, results = write_study(tmp_path, text), tmp_path / "results"
    done = in_process("run", str(file), "--host", "slurm", "--max-idle", "60%", "-o", str(results), cwd=tmp_path)
    runs = runs_of(results)
    assert [event["record"].run.reason for event in runs] == [None] * 4, done.stderr
    for event in runs:
        record, nodes = event["record"], event["configuration"]["nodes"]
        (values,) = record.values
        assert [*values.values.values()] == [[2.0 * nodes]]
        assert record.job and [task.rank for task in record.job.tasks] == [*range(2 * nodes)], event["configuration"]
        assert {task.node for task in record.job.tasks} == set(record.job.nodes)
        assert record.run.cpu_ns == sum(task.cpu_ns or 0 for task in record.job.tasks) > 0
        assert record.job and (len(record.job.nodes), record.job.n_nodes, record.job.n_machines) == (nodes, 2, 1)
    assert len({event["record"].job.job for event in runs}) == 1, "one job for the block"
    assert "function, not timing" in " ".join(done.stdout.split()) and queue() == ""


def test_a_controller_that_is_killed_loses_no_run(conf: Path, tmp_path: Path) -> None:
    text = a_study(
        {"nodes": {"levels": [1, 2], "control": "cluster:nodes"}}, workload={"command": ["sleep", "4"]},
        protocol={"runs": 1, "timeout": "30s", "node_reference": "0s"}, baseline={"nodes": 1},
    )  # fmt: skip
    file, results, pid_file = write_study(tmp_path, text), tmp_path / "results", conf.parent / "slurmctld.pid"
    words = [sys.executable, "-m", "scalograph", "run", str(file), "--host", "slurm"]
    with (tmp_path / "output").open("w") as output:
        session = subprocess.Popen([*words, "-o", str(results)], stdout=output, stderr=output, cwd=tmp_path)
    try:
        wait_until(lambda: [*results.glob("slurm/job-*/nodes")])
        # One that dies before it has saved that the job runs takes it for one that waits, and drains its nodes.
        (begun, saved), now = (*results.glob("slurm/job-*/nodes"), conf.parent / "state" / "job_state"), time.time()
        wait_until(lambda: saved.stat().st_mtime > max(begun.stat().st_mtime, now))
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
        subprocess.Popen(
            ["slurmctld", "-D", "-f", str(conf)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert session.wait(60) in (0, 5), (tmp_path / "output").read_text()
    finally:
        with suppress(ProcessLookupError):
            session.kill()
        session.wait()
    names = [event["run"] for event in runs_of(results)]
    assert sorted(names) == sorted(set(names)) and len(names) == 2
    wait_until(lambda: queue() == "")
