"""512 threads beside one for each CPU: what was printed, and threads that cost their start, or more."""

import csv
from collections.abc import Mapping

import pytest

from scalograph.design.resolve import assumed_host
from scalograph.run.plan import plan
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from scalograph.study.shipped import shipped_study
from tests.published.claims import decided, decisions

STUDY = "thread-scaling-512"
CLAIMS = ("S0-1b", "S0-5c", "S0-6a", "S0-6b")
SAME = ("S0-1b", "S0-5c", "S0-6b")


def printed(configuration: Mapping[str, Level]) -> dict[str, float]:
    with (shipped_study(STUDY) / "published.csv").open(newline="") as stream:
        rows = {(row["threads"], row["cpus"], row["sync"]): row for row in csv.DictReader(stream)}
    row = rows[*(str(configuration[name]) for name in ("threads", "cpus", "lock"))]
    return {"wall": float(row["wall_s"]), "cpu": float(row["cpu_s"])}


def test_the_printed_times_bear_the_claims_out() -> None:
    shown = decided(STUDY, printed, noise=0.0005)
    assert {name: claim.decision for name, claim in shown.items()} == dict.fromkeys(CLAIMS, "holds")
    for figure in (figure for claim in shown.values() for figure in claim.figures):
        assert figure.here and figure.here.value == pytest.approx(figure.published, abs=0.008), figure.label


@pytest.mark.parametrize("quick", [False, True], ids=["in full", "quick"])
@pytest.mark.parametrize(("share", "same"), [(0.02, True), (0.1, False)])
def test_what_512_threads_may_cost(quick: bool, share: float, same: bool) -> None:
    def wall(configuration: Mapping[str, Level]) -> dict[str, float]:
        return {"wall": 43 * (1 + share * (configuration["threads"] == 512)) / int(configuration["cpus"])}

    shown = decisions(STUDY, wall, quick=quick)
    assert {name for name, decision in shown.items() if decision == "holds"} == ({*SAME} if same else {"S0-6a"})
    assert {name for name, decision in shown.items() if decision == "does not hold"} == ({"S0-6a"} if same else {*SAME})


def test_one_cpu_decides_its_own_claims_only() -> None:
    shown = decisions(STUDY, lambda _: {"wall": 43.0}, n_cpus=1)
    assert shown == {name: "cannot be seen here" if name.startswith("S0-6") else "holds" for name in CLAIMS}


def test_its_rows_are_those_of_the_paper() -> None:
    own, all_rows = (
        (shipped_study(name) / "published.csv").read_text().splitlines() for name in (STUDY, "thread-scaling-paper")
    )
    assert len(own) == 13
    assert set(own) <= set(all_rows)


def test_two_blocks_of_the_quick_form_fit_into_its_budget_and_a_tenth_more() -> None:
    declared = declare_shipped(STUDY, quick=True)
    runs = plan(declared, assumed_host(declared.study, 2)).runs.planned_runs()
    # 1.9 ns a unit; a JVM takes a quarter of a second to start, do its pre-run and end.
    block = [run.configuration for run in runs if run.block == 0]
    seconds = sum(1.9e-9 * int(t["units"]) / int(t["cpus"]) + 0.25 for t in block)
    assert len(block) == 12 and 2.2 * seconds < (declared.study.protocol.budget_s or 0)
