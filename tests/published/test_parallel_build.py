"""Published builds: their derived columns, and claims on runs that came out as published, and otherwise."""

from collections.abc import Mapping
from itertools import product

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.design.resolve import design
from scalograph.errors import Exit, HostError
from scalograph.findings.published.published_quantities import why_unlike
from scalograph.questions.parallel_build.document import BuildLoad, Builds, FirstBuild, LaterBuilds
from scalograph.questions.parallel_build.published import QUANTITIES, WARM, quantities
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from tests.kit.studies import facts_of
from tests.published.claims import decided, decisions, holding, printed_rows

STUDIES = ("parallel-build", "kernel-build")
MODULES = {"synthetic": "no-modules", "synthetic-modules": "full", "linux": "no-modules", "linux-modules": "full"}
PROCESSORS = {1: "up", 2: "smp"}


@pytest.mark.parametrize("study", STUDIES)
def test_derived_columns_follow_from_the_printed_times_and_ule_is_not_compared(study: str) -> None:
    rows = printed_rows(study)
    base = {(r["tree"], r["smp"], r["scheduler"]): r for r in rows if r["jobs"] == "1"}
    assert len(rows) == 32 and len(base) == 8
    for row in rows:
        one = base[row["tree"], row["smp"], row["scheduler"]]
        assert row["scaling_factor"] == f"{float(one['wall_s']) / float(row['wall_s']):.3f}"
        assert row["user_growth"] == f"{float(row['user_s']) / float(one['user_s']):.3f}"
    declared = declare_shipped(study).study.published
    assert declared is not None
    assert [row["scheduler"] for row in rows if why_unlike(declared, row)] == ["ule"] * 16


def as_published(configuration: Mapping[str, Level]) -> dict[str, float]:
    """The figures of 4BSD, as they were printed."""
    wanted = {
        "tree": MODULES.get(str(configuration["tree"]), "full"), "smp": PROCESSORS[int(configuration["cpus"])],
        "scheduler": "4bsd", "jobs": str(configuration["jobs"]),
    }  # fmt: skip
    (row,) = (row for row in printed_rows("parallel-build") if wanted.items() <= row.items())
    columns = {"user": "user_s", "system": "system_s", "wall": "wall_s", "cpu_percent": "cpu_percent"}
    return {name: float(row[column]) for name, column in columns.items()}


PRECISE = {"cpu_accounting": "precise"}
BUILT_IN = {"S4-2a", "S4-2b"}  # in the synthetic tree alone: its sizes were chosen so


@pytest.mark.parametrize(("study", "built_in"), [*zip(STUDIES, (BUILT_IN, set[str]()), strict=True)])
def test_runs_as_published_bear_out_what_is_printed(study: str, built_in: set[str]) -> None:
    shown = decisions(study, as_published, **PRECISE)
    held = {"S4-1a", "S4-1b", "S4-3a", "S4-3b", "S4-4", "S4-6", "S4-10", "S1-13b"} | BUILT_IN - built_in
    assert (holding(shown), holding(shown, "demonstration")) == (held, built_in)
    assert shown["S4-5"] == "not comparable"
    assert {shown[name] for name in shown.keys() - held - built_in - {"S4-5"}} == {"not measured"}, "no timelines"
    for accounting in ({"cpu_accounting": "ticks"}, {}):
        assert decisions(study, as_published, **accounting) == {**shown, "S4-10": "not testable here"}


def test_the_quick_form_decides_the_same_and_one_cpu_shows_what_it_can() -> None:
    shown = decisions("parallel-build", as_published, quick=True, **PRECISE)
    assert holding(shown) >= {"S4-1a", "S4-3a", "S4-3b", "S4-4", "S4-6", "S4-10"}
    assert holding(shown, "demonstration") == BUILT_IN
    shown = decisions("parallel-build", as_published, n_cpus=1, quick=True)
    assert holding(shown) == {"S4-1b", "S4-4"} and shown["S4-2a"] == shown["S4-7a"] == "not testable here"


@pytest.mark.parametrize(("gain", "decision"), [(1.3, "holds"), (1.6, "does not hold")])
def test_what_a_second_cpu_gives_to_a_build_of_one_job(gain: float, decision: str) -> None:
    shown = decisions("parallel-build", lambda t: {"wall": 10 / gain ** (t["cpus"] == 2)}, quick=True)
    assert shown["S1-13b"] == decision


def test_each_claim_can_fail() -> None:
    def otherwise(configuration: Mapping[str, Level]) -> dict[str, float]:
        jobs, cpus = int(configuration["jobs"]), int(configuration["cpus"])
        wall = 100 / min(jobs, cpus) ** 0.8 * (1.02 if cpus > 1 else 1 - 0.01 * jobs)
        return {"wall": wall, "user": 90 * (1 + 0.02 * jobs), "system": 10 / jobs**0.1, "cpu_percent": 170.0}

    shown = decisions("parallel-build", otherwise, quick=True, **PRECISE)
    assert holding(shown, "does not hold") == {
        "S4-1a", "S4-1b", "S4-2a", "S4-2b", "S4-3a", "S4-4", "S4-6", "S4-10",
    }  # fmt: skip


def test_published_figures_stand_beside_and_a_warm_cache_is_the_reason() -> None:
    claim = decided("parallel-build", as_published)["S4-3a"]
    assert [figure.label for figure in claim.figures] == ["-j 2", "-j 4", "-j 8"]
    for figure in claim.figures:
        assert figure.published and figure.here and figure.here.value == pytest.approx(figure.published, rel=0.01)
    warm, alike = (
        decided("parallel-build", lambda t, n=n: {**as_published(t), "major_faults": n}, quick=True)["S4-8"]
        for n in (0, 20)
    )
    # Later builds that wait for as many pages refute that the first ones differ, or leave it open.
    assert (warm.decision, warm.why, alike.decision) == ("not testable here", WARM, "inconclusive")


@pytest.mark.parametrize(("inflation", "decision"), [(1.4, "holds"), (1.02, "does not hold"), (2.2, "does not hold")])
def test_hardware_threads_that_share_a_core_inflate_cpu_time(inflation: float, decision: str) -> None:
    factors = {"siblings": inflation}
    shown = decisions(
        "smt-inflation", lambda t: {"wall": 2.0, "cpu": 2.7 * factors.get(str(t["placement"]), 1)}, n_cpus=4
    )
    assert shown == {"S4-9": decision}


def test_a_machine_without_them_skips_the_study_by_its_name() -> None:
    with pytest.raises(HostError) as caught:
        design(declare_shipped("smt-inflation").study, facts_of(4))
    assert str(caught.value) == (
        "factors.placement: placement siblings on a host without SMT, expected a level of placement to "
        "compare one-per-core with; use a machine that grants one"
    )
    assert caught.value.exit_code == Exit.HOST


def loads() -> list[BuildLoad]:
    """On one and two CPUs, with and without phases."""
    every = product((False, True), (1, 2), (1, 2, 4, 8))
    return [
        BuildLoad(
            configuration={"jobs": jobs, "cpus": cpus, "phased": phased}, jobs=jobs, n_cpus=cpus,
            phases=["image", "modules"] if phased else [], course=[1.0] * 10,
            most_over_jobs=Estimate(value=0.9, low=0.85, high=0.95), last_over_first=Estimate(value=0.2),
        )
        for phased, cpus, jobs in every
    ]  # fmt: skip


def test_first_builds_and_loads_that_show_nothing_say_so() -> None:
    offered = quantities(Builds(loads=loads()))
    assert QUANTITIES.keys() >= offered.keys()
    crowded = [(1, 2), (1, 4), (1, 8), (2, 4), (2, 8)]
    for name in ("load_over_jobs", "load_last_over_first_third"):
        assert [(one.group["cpus"], one.group["jobs"]) for one in offered[name]] == crowded
        assert all(one.group["phased"] for one in offered[name])
    warm = [FirstBuild(run=f"r{i}", n_major_faults=0, read_bytes=0) for i in range(2)]
    (figure,) = quantities(Builds(first=warm))["major_faults_of_first_builds"]
    assert figure.unseen == WARM
    cold = [FirstBuild(run="r0", n_major_faults=44), FirstBuild(run="r1", n_major_faults=0)]
    (figure,) = quantities(Builds(first=cold))["major_faults_of_first_builds"]
    assert (figure.estimate.value, figure.estimate.low, figure.unseen) == (44, 44, "")
    assert "major_faults_of_first_builds" not in quantities(Builds())


@pytest.mark.parametrize(("faults", "later", "low", "high"), [
    ([41, 0], (462, 801, 21.0), 4.0, 40.0),  # as recorded: 1.7 pages a build, some with 30
    ([2, 1], (462, 801, 21.0), 0.0, 1.0),
    ([44, 3], (100, 0, 0.0), 100.0, 1e6),  # no later build waits
    ([2, 2], (40, 80, 1.0), 0.3, 1.0),  # all wait alike
])  # fmt: skip
def test_first_builds_are_compared_with_later_ones(
    faults: list[int], later: tuple[int, int, float], low: float, high: float
) -> None:
    n, n_major_faults, variance = later
    first = [FirstBuild(run=f"r{i}", n_major_faults=each) for i, each in enumerate(faults)]
    document = Builds(first=first, later=LaterBuilds(n=n, n_major_faults=n_major_faults, variance=variance))
    (figure,) = quantities(document)["first_over_later_faults"]
    assert figure.estimate.low is not None and low < figure.estimate.low < high
    assert "first_over_later_faults" not in quantities(Builds(first=first))
