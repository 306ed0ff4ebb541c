"""512 threads beside one for each CPU: what was printed, and threads that cost their start, or more."""

from collections.abc import Mapping

import pytest

from scalograph.design.resolve import assumed_host
from scalograph.run.plan import plan
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from tests.published.claims import decided, decisions, holding, printed_rows

STUDY = "thread-scaling-512"
CLAIMS = ("S0-1b", "S0-5c", "S0-6a", "S0-6b")
SAME = {"S0-1b", "S0-5c", "S0-6b"}


def printed(configuration: Mapping[str, Level]) -> dict[str, float]:
    rows = {(row["threads"], row["cpus"], row["sync"]): row for row in printed_rows(STUDY)}
    row = rows[*(str(configuration[name]) for name in ("threads", "cpus", "lock"))]
    return {"wall": float(row["wall_s"]), "cpu": float(row["cpu_s"])}


def test_the_printed_times_bear_the_claims_out() -> None:
    shown = decided(STUDY, printed, noise=0.0005)
    assert {name: claim.decision for name, claim in shown.items()} == dict.fromkeys(CLAIMS, "holds")
    for figure in (figure for claim in shown.values() for figure in claim.figures):
        assert figure.here and figure.here.value == pytest.approx(figure.published, abs=0.008), figure.label


@pytest.mark.parametrize("quick", [False, True], ids=["in full", "quick"])
@pytest.mark.parametrize(("share", "holds", "fails"), [(0.02, SAME, {"S0-6a"}), (0.1, {"S0-6a"}, SAME)])
def test_what_512_threads_may_cost(quick: bool, share: float, holds: set[str], fails: set[str]) -> None:
    shown = decisions(STUDY, lambda t: {"wall": 43 * (1 + share * (t["threads"] == 512)) / int(t["cpus"])}, quick=quick)
    assert (holding(shown), holding(shown, "does not hold")) == (holds, fails)


def test_one_cpu_decides_its_own_claims_only_and_its_rows_are_those_of_the_paper() -> None:
    shown = decisions(STUDY, lambda _: {"wall": 43.0}, n_cpus=1)
    assert shown == {name: "cannot be seen here" if name.startswith("S0-6") else "holds" for name in CLAIMS}
    assert len(printed_rows(STUDY)) == 12
    assert all(row in printed_rows("thread-scaling-paper") for row in printed_rows(STUDY))


def test_two_blocks_of_the_quick_form_fit_into_its_budget_and_a_tenth_more() -> None:
    declared = declare_shipped(STUDY, quick=True)
    runs = plan(declared, assumed_host(declared.study, 2)).runs.planned_runs()
    # 1.9 ns a unit; a JVM takes a quarter of a second to start, do its pre-run and end.
    block = [run.configuration for run in runs if run.block == 0]
    seconds = sum(1.9e-9 * int(t["units"]) / int(t["cpus"]) + 0.25 for t in block)
    assert len(block) == 12 and 2.2 * seconds < (declared.study.protocol.budget_s or 0)
