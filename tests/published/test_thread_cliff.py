"""The published cliff of Java threads and both of its sides, on machines that have it, or have none."""

import random
from collections.abc import Callable, Mapping

import pytest

from scalograph.protocol.published_claim import Decision
from scalograph.study.scalars import Level
from tests.published.claims import Figures, decided, decisions

STUDY, FACTOR = "thread-cliff", 1.787
DRAWN = random.Random(1)


def jumping(place: Callable[[], int]) -> Figures:
    """5 s of work on two CPUs, a quarter of a millisecond for each thread, and the published jump at a place."""
    return lambda t: {"wall": (2.5 + 0.00025 * int(t["threads"])) * (FACTOR if int(t["threads"]) > place() else 1)}


@pytest.mark.parametrize(("figures", "place", "moves"), [
    (jumping(lambda: 235), "holds", "does not hold"),
    (jumping(lambda: 150), "does not hold", "does not hold"),
    (jumping(lambda: 1000), "does not hold", "does not hold"),
    (jumping(lambda: DRAWN.choice([200, 240, 280])), "not resolved", "holds"),
], ids=["as published", "elsewhere", "none", "moving"])  # fmt: skip
def test_where_the_time_jumps_and_whether_the_place_stays(figures: Figures, place: Decision, moves: Decision) -> None:
    assert decisions(STUDY, figures) == {"S0-8a": place, "S0-9": moves}


def test_creating_threads_is_no_cliff_with_noise_either() -> None:
    shown = decisions(STUDY, jumping(lambda: 1000), quick=True, noise=0.03)
    assert set(shown.values()) == {"does not hold"}


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

    assert set(decisions(SIDES, even, n_cpus=n_cpus).values()) == {"does not hold"}
