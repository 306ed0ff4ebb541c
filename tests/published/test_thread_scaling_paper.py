"""Claims of the thread scaling paper, also of 512 threads, on its printed times and on machines that are known."""

from collections.abc import Mapping
from functools import cache

import pytest

from scalograph.design.resolve import assumed_host
from scalograph.run.plan import plan
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from scalograph.study.shipped import shipped_study
from tests.published.claims import Figures, decided, decisions, holding, printed_rows

STUDY = "thread-scaling-paper"
WINDOWS = {"S0-1a", "S0-3", "S0-4a", "S0-4b", "S0-4c", "S0-5a", "S0-5b", "S0-7"}
MAC = {"S0-2", "S0-11", "S0-12a", "S0-12b", "S0-13"}
SECONDS, SMALL_NOISE = 43.0, 0.0005


@cache
def printed(system: str) -> dict[tuple[Level, ...], dict[str, float]]:
    """(threads, CPUs, lock) -> the published times of one operating system."""
    return {
        (int(row["threads"]), int(row["cpus"]), row["sync"]): {"wall": float(row["wall_s"]), "cpu": float(row["cpu_s"])}
        for row in printed_rows(STUDY)
        if row["os"].startswith(system)
    }


def of(system: str) -> Figures:
    return lambda t: printed(system).get((t["threads"], t["cpus"], t["lock"])) if t["compiler"] == "" else None


@pytest.mark.parametrize(("system", "own"), [("Windows", WINDOWS), ("Mac", MAC)])
def test_each_claim_holds_on_the_published_times_and_each_figure_follows_from_them(system: str, own: set[str]) -> None:
    shown = decided(STUDY, of(system), noise=SMALL_NOISE)
    assert {name: shown[name].decision for name in own} == dict.fromkeys(own, "holds")
    for claim in (shown[name] for name in own):
        for figure in claim.figures:
            assert figure.here and figure.here.value and figure.published, claim.id
            spread = (figure.published_high or figure.published) - figure.published
            # Printed with two decimals at least; simulated runs differ by less than that.
            assert figure.here.value == pytest.approx(figure.published, abs=spread + 0.003), (claim.id, figure.label)


def ideal(t: Mapping[str, Level]) -> dict[str, float]:
    """Work that divides over the CPUs, and a quarter of a millisecond for each thread."""
    threads, cpus = int(t["threads"]), int(t["cpus"])
    return {"wall": SECONDS / min(threads, cpus) + 0.00025 * threads, "cpu": SECONDS + 0.00025 * threads}


@pytest.mark.parametrize("quick", [False, True], ids=["in full", "quick"])
def test_on_an_ideal_machine_what_was_flat_holds_and_what_broke_does_not(quick: bool) -> None:
    broke = {"S0-3", "S0-4a", "S0-4b", "S0-11", "S0-12a", "S0-12b", "S1-13a"}
    shown = decisions(STUDY, ideal, quick=quick)
    assert (holding(shown, "does not hold"), holding(shown)) == (broke, (WINDOWS | MAC) - broke)


def test_a_second_cpu_that_gives_85_percent_and_one_that_is_not_there() -> None:
    shown = decisions(STUDY, lambda t: {"wall": SECONDS / (1 + 0.85 * (t["cpus"] == 2))}, quick=True)
    assert shown["S1-13a"] == "holds"
    shown = decisions(STUDY, ideal, quick=True, n_cpus=1)
    own = {"S0-1a", "S0-4a", "S0-4b", "S0-4c", "S0-5a", "S0-5b"}
    assert holding(shown, "cannot be seen here") == shown.keys() - own


def test_both_studies_have_the_same_published_rows_and_the_quick_form_takes_ten_minutes() -> None:
    files = [shipped_study(name) / "published.csv" for name in (STUDY, "thread-scaling")]
    assert files[0].read_bytes() == files[1].read_bytes()
    # 1.9 ns a unit; a JVM takes a quarter of a second to start, do its pre-run and end.
    declared = declare_shipped(STUDY, quick=True)
    runs = plan(declared, assumed_host(declared.study, 2)).runs.planned_runs()
    configurations = [run.configuration for run in runs]
    seconds = [1.9e-9 * int(t["units"]) / min(int(t["threads"]), int(t["cpus"])) + 0.25 for t in configurations]
    assert sum(seconds) <= 600


OF_512 = "thread-scaling-512"
CLAIMS = ("S0-1b", "S0-5c", "S0-6a", "S0-6b")
SAME = {"S0-1b", "S0-5c", "S0-6b"}


def printed_512(configuration: Mapping[str, Level]) -> dict[str, float]:
    rows = {(row["threads"], row["cpus"], row["sync"]): row for row in printed_rows(OF_512)}
    row = rows[*(str(configuration[name]) for name in ("threads", "cpus", "lock"))]
    return {"wall": float(row["wall_s"]), "cpu": float(row["cpu_s"])}


def test_the_printed_times_bear_the_claims_out() -> None:
    shown = decided(OF_512, printed_512, noise=0.0005)
    assert {name: claim.decision for name, claim in shown.items()} == dict.fromkeys(CLAIMS, "holds")
    for figure in (figure for claim in shown.values() for figure in claim.figures):
        assert figure.here and figure.here.value == pytest.approx(figure.published, abs=0.008), figure.label


@pytest.mark.parametrize("quick", [False, True], ids=["in full", "quick"])
@pytest.mark.parametrize(("share", "holds", "fails"), [(0.02, SAME, {"S0-6a"}), (0.1, {"S0-6a"}, SAME)])
def test_what_512_threads_may_cost(quick: bool, share: float, holds: set[str], fails: set[str]) -> None:
    shown = decisions(
        OF_512, lambda t: {"wall": 43 * (1 + share * (t["threads"] == 512)) / int(t["cpus"])}, quick=quick
    )
    assert (holding(shown), holding(shown, "does not hold")) == (holds, fails)


def test_one_cpu_decides_its_own_claims_only_and_its_rows_are_those_of_the_paper() -> None:
    shown = decisions(OF_512, lambda _: {"wall": 43.0}, n_cpus=1)
    assert shown == {name: "cannot be seen here" if name.startswith("S0-6") else "holds" for name in CLAIMS}
    assert len(printed_rows(OF_512)) == 12
    assert all(row in printed_rows("thread-scaling-paper") for row in printed_rows(OF_512))


def test_two_blocks_of_the_quick_form_fit_into_its_budget_and_a_tenth_more() -> None:
    declared = declare_shipped(OF_512, quick=True)
    runs = plan(declared, assumed_host(declared.study, 2)).runs.planned_runs()
    # 1.9 ns a unit; a JVM takes a quarter of a second to start, do its pre-run and end.
    block = [run.configuration for run in runs if run.block == 0]
    seconds = sum(1.9e-9 * int(t["units"]) / int(t["cpus"]) + 0.25 for t in block)
    assert len(block) == 12 and 2.2 * seconds < (declared.study.protocol.budget_s or 0)
