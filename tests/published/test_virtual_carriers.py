"""The published case of two kernel threads, as the study that ships has it: which JVMs, and threads in rounds."""

import subprocess
from pathlib import Path

import pytest

from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import CpuFact, HostFacts, Jvm
from scalograph.run.build import build
from scalograph.run.plan import plan
from scalograph.study.declare import declare_shipped
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from scalograph.system.jvms import find_jvms

CPUS = tuple(CpuFact(cpu=n, core=n) for n in range(12))
OLD = Jvm(name="17", java="/j17/bin/java", release=17, build="17.0.1+2")
NEW = Jvm(name="25", java="/j25/bin/java", release=25, build="25.0.1+3")


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_one_to_eight_threads_on_one_carrier_and_on_two(quick: bool) -> None:
    made = plan(declare_shipped("virtual-carriers", quick), HostFacts(cpus=CPUS, jvms=(OLD, NEW))).design
    wanted = [{"threads": n, "carriers": c, "jvm": "25"} for n in range(1, 9) for c in (1, 2)]
    assert [dict(configuration) for configuration in made.configurations] == wanted
    assert made.dropped == ("16 configurations not planned: kind = virtual needs Java 21 or later, the JVM 17 is 17",)


def test_without_a_new_jvm_it_says_so() -> None:
    with pytest.raises(StudyError, match=r"no configuration is left.*needs Java 21 or later, the JVM 17 is 17"):
        plan(declare_shipped("virtual-carriers"), HostFacts(cpus=CPUS, jvms=(OLD,)))


@pytest.fixture(scope="module")
def command(builds: Path) -> list[str]:
    """What starts the program on a JVM that has virtual threads."""
    new = [jvm for jvm in find_jvms() if jvm.release >= 21]
    if not new:
        pytest.skip("no JVM of release 21 or later")
    try:
        made = build(shipped_workload("java-threads"), load_workload(shipped_workload("java-threads")), new, builds)
    except HostError as error:
        pytest.skip(f"needs a compiler: {error}")
    return [new[0].java, "-cp", str(made), "JavaThreads"]


@pytest.mark.parametrize("carriers", [1, 2])
def test_no_more_threads_are_at_work_than_there_are_carriers(carriers: int, command: list[str]) -> None:
    """Whoever else uses the machine: a thread that computes keeps its carrier to its end."""
    words = ["kind=virtual", f"carriers={carriers}", "threads=5", "share=each", "units=2000000", "iterations=2"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=120, check=True)
    peaks = [int(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("value peak_threads")]
    assert len(peaks) == 2 and max(peaks) <= carriers
