"""The published cliff of Java threads, searched for on machines that have it, have it elsewhere, or have none."""

import random
from collections.abc import Callable

import pytest

from scalograph.protocol.published_claim import Decision
from tests.published.claims import Figures, decisions

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
