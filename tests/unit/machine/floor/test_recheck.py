"""The second look: the same work, through the same path as a study, without a journal."""

import os
from pathlib import Path
from typing import Any

import pytest

from scalograph.machine.floor import floor
from scalograph.machine.floor.floor import STRETCH, STUDY
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.session import run_in_memory
from scalograph.study.declare import declare_shipped
from scalograph.study.levels import Run
from tests.kit.records import record
from tests.kit.studies import facts_of
from tests.unit.machine.floor.test_kept import EARLIER, kept

FACTS = facts_of(2, cpu_model="AMD EPYC")


class Recorded:
    """A host that gives records instead of making runs."""

    def __init__(self, *records: dict[str, Any]) -> None:
        self.records, self.asked = list(records), list[Run]()

    def measure(self, run: Run) -> Record:
        self.asked.append(run)
        return self.records.pop(0)


def scored(host: Recorded) -> tuple[list[float], int]:
    return floor.score_runs(run_in_memory(floor.plan_recheck(FACTS), host))


def took(seconds: float, **more: Any) -> Record:
    return record(seconds + 0.1, seconds, iterations=[(seconds, seconds, 1)], **more)


def test_one_label_and_one_cpu() -> None:
    host = Recorded(*(took(0.2 + n / 1000) for n in range(STRETCH)))
    scores, n_disturbed = scored(host)
    assert scores == pytest.approx([0.2 + n / 1000 for n in range(STRETCH)])
    assert n_disturbed == 0 and len(host.asked) == STRETCH
    assert {tuple(run.configuration.values()) for run in host.asked} == {("A", 1)}


def test_disturbed_and_failed_runs_do_not_count_and_are_not_repeated_and_an_interrupted_one_ends_it() -> None:
    bad = [took(0.4, neighbor_s=0.2), record(status="failed", reason="it crashed")]
    scores, n_disturbed = scored(Recorded(*bad, *(took(0.2) for _ in range(STRETCH - 2))))
    assert (len(scores), n_disturbed) == (STRETCH - 2, 2)
    with pytest.raises(KeyboardInterrupt):
        scored(Recorded(took(0.2), record(status="interrupted")))


def test_the_study_asks_for_what_the_floor_reads_and_of_an_earlier_form_nothing() -> None:
    study = declare_shipped(STUDY).study
    assert (study.name, set(study.factors)) == (STUDY, {"label", "cpus"})
    assert study.responses["wall"].source == "window.wall"
    assert study.protocol.order == "blocks" and study.protocol.runs * 2 >= 3 * STRETCH
    earlier = kept().model_validate(EARLIER)
    assert floor.recheck(LocalHost(ProbeProgram(("/nonexistent",))), earlier) is None


@pytest.mark.skipif(not Path("/usr/bin/cc").exists(), reason="needs a C compiler")
def test_the_work_is_fixed(tmp_path: Path) -> None:
    """Run by hand: one thread for each CPU of the mask, the same work under both labels, counted."""
    import subprocess

    from scalograph.run.build import build
    from scalograph.study.shipped import shipped_workload
    from scalograph.study.workload import load_workload

    folder = shipped_workload("fixed-work")
    made = build(folder, load_workload(folder), where=tmp_path)
    n_cpus = len(os.sched_getaffinity(0))
    for label in "AB":
        argv = [f"{made}/main", f"label={label}", "units=1000", "iterations=2"]
        lines = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split("\n")
        assert lines[0] == "ready" and lines[-2:] == [f"value threads {n_cpus}", ""]
        assert [line.split()[4] for line in lines[1:3]] == [str(1000 * n_cpus)] * 2
    for wrong in ("label=C", "units=0", "units=1×", "iterations=", "threads=2"):
        done = subprocess.run([f"{made}/main", wrong], capture_output=True, text=True, check=False)
        assert done.returncode == 64 and "expected" in done.stderr
