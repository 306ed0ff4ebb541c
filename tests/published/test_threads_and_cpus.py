"""Limits and cliffs of threads, their carriers, how one is spread, and CPUs that are masked or offline."""

import random
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from scalograph.design.resolve import assumed_host, design
from scalograph.errors import Exit, HostError, StudyError
from scalograph.protocol.facts import CpuFact, HostFacts, Jvm
from scalograph.protocol.published_claim import Decision
from scalograph.run.build import build
from scalograph.run.plan import plan
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from scalograph.system.platform_facts import find_jvms
from tests.published.claims import Figures, decided, decisions, found

OF_THE_JVM, OF_THE_PROBE = 19, 2


def limited(configuration: Mapping[str, Level]) -> dict[str, float]:
    """Each task that the limit leaves is a thread; virtual threads are no tasks."""
    allowed = int(configuration["tasks"])
    started = 1000 if configuration["kind"] == "virtual" else allowed - OF_THE_JVM - OF_THE_PROBE
    return {"started": started, "tasks": allowed - OF_THE_PROBE, "peak_threads": started}


@pytest.mark.parametrize("quick", [False, True])
def test_it_leads_with_how_many_threads_were_started(quick: bool) -> None:
    claim = found("thread-limit", limited, quick=quick, noise=0.0).claim
    assert claim is not None
    first = claim.cases[0]
    assert first.case == "range" and str(first.values["low"]) == "tasks allowed 100" and claim.matrix
    assert str(first.values["high"]).startswith("tasks allowed ")
    assert 79.0 in {c.estimate.value for row in claim.matrix.rows for c in row.cells if c.estimate}


def test_each_further_task_is_a_thread_where_a_limit_is_granted() -> None:
    tables = {table.title: table for table in found("thread-limit", limited, noise=0.0).tables}
    for title in ("Platform threads started, of 1000", "Platform threads with stacks of 16 MB started, of 1000"):
        (_, *started) = zip(*tables[title].rows, strict=True)
        assert [[round(cell.value) for cell in column] for column in started] == [[79, 179, 379, 779]] * len(started)
    study = declare_shipped("thread-limit").study
    bound = assumed_host(study, 2).model_copy(update={"refused": {"tasks": "no cgroup has the controller pids here"}})
    with pytest.raises(HostError, match=r"factors.tasks: tasks 100 is refused here \(no cgroup") as raised:
        design(study, bound)
    assert raised.value.exit_code == Exit.HOST


@pytest.mark.parametrize(("share", "n_cpus", "decision"), [
    (0.51, 2, "holds"), (0.55, 2, "holds"), (0.6, 2, "inconclusive"), (0.999, 2, "does not hold"),
    (None, 2, "not measured"), (1.0, 1, "not testable here"),
])  # fmt: skip
def test_one_busy_thread_on_two_cpus(share: float | None, n_cpus: int, decision: Decision) -> None:
    shown = {2: share and {"wall": 1.0, "busiest": share}}
    found = decisions("thread-affinity", lambda t: shown.get(t["cpus"], {"wall": 1.0, "busiest": 1.0}), n_cpus=n_cpus)
    assert found == {"S0-14": decision}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize(("slower", "is_told"), [(1.0, False), (1.3, True)])
def test_the_way_to_one_cpu_matters_only_where_it_does(slower: float, is_told: bool, quick: bool) -> None:
    offline = {"wall": 0.6 * slower, "visible_cpus": 1.0, "online_cpus": 1.0}
    masked = {"wall": 0.6, "visible_cpus": 1.0, "online_cpus": 2.0}
    claim = found("cpus-offline", lambda t: masked if t["online"] is False else offline, quick=quick).claim
    assert claim is not None and claim.answered
    assert ("wall time is equivalent" in claim.sentences[0]) != is_told, claim.sentences


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


STUDY, FACTOR = "thread-cliff", 1.787
DRAWN = random.Random(1)


def jumping(place: Callable[[], int]) -> Figures:
    """5 s of work on two CPUs, a quarter of a millisecond for each thread, and the published jump at a place."""
    return lambda t: {"wall": (2.5 + 0.00025 * int(t["threads"])) * (FACTOR if int(t["threads"]) > place() else 1)}


@pytest.mark.parametrize(("figures", "place", "moves"), [
    (jumping(lambda: 235), "holds", "does not hold"),
    (jumping(lambda: 150), "does not hold", "moot"),
    (jumping(lambda: 1000), "does not hold", "moot"),
    (jumping(lambda: DRAWN.choice([200, 240, 280])), "inconclusive", "holds"),
], ids=["as published", "elsewhere", "none", "moving"])  # fmt: skip
def test_where_the_time_jumps_and_whether_the_place_stays(figures: Figures, place: Decision, moves: Decision) -> None:
    assert decisions(STUDY, figures) == {"S0-8a": place, "S0-9": moves}


def test_creating_threads_is_no_cliff_with_noise_either() -> None:
    shown = decisions(STUDY, jumping(lambda: 1000), quick=True, noise=0.03)
    assert shown == {"S0-8a": "does not hold", "S0-9": "moot"}


# Wall and CPU time as printed; system time was not: what is more than the work takes is taken for it.
PRINTED = {128: (22.9528, 44, 0.5), 220: (25.6498, 50, 6), 250: (45.8306, 89, 45), 512: (47.108, 92, 48)}
SIDES, CLAIMS = "thread-cliff-sides", ("S0-8b", "S0-8c", "S0-10")


def printed(configuration: Mapping[str, Level]) -> dict[str, float]:
    wall, cpu, system = PRINTED[int(configuration["threads"])]
    return {"wall": wall, "cpu": cpu, "system": system}


@pytest.mark.parametrize("quick", [False, True], ids=["in full", "quick"])
def test_the_printed_times_bear_the_claims_out(quick: bool) -> None:
    shown = decided(SIDES, printed, quick=quick)
    assert {name: claim.decision for name, claim in shown.items()} == dict.fromkeys(CLAIMS, "holds")
    values = [figure.here.value for name in CLAIMS[:2] for figure in shown[name].figures if figure.here]
    assert values == pytest.approx([1.787, 1.78], abs=0.01)


@pytest.mark.parametrize("n_cpus", [2, 16])
def test_threads_that_only_cost_their_creation(n_cpus: int) -> None:
    def even(configuration: Mapping[str, Level]) -> dict[str, float]:
        cost = 0.00025 * int(configuration["threads"])
        return {"wall": 2 + cost, "cpu": 4 + cost, "system": 0.1 + cost}

    shown = decisions(SIDES, even, n_cpus=n_cpus)
    assert shown == {"S0-8b": "does not hold", "S0-8c": "does not hold", "S0-10": "moot"}
