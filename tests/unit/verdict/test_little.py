"""Little's law as a gate: what one window holds passes it, and what is of two does not."""

import heapq
from typing import Any

import numpy as np
import pytest

from scalograph.verdict.judge import judge

from ..records import read, recorded


def window(rng: np.random.Generator, clients: int, think_s: float, seconds: float) -> dict[str, list[float]]:
    """What a driver would say of a closed loop on one server, exponential of 1 ms, from 1 s on."""
    start, end = 1.0, 1.0 + seconds
    arrivals = [(float(rng.exponential(think_s)) if think_s else 0.0, i) for i in range(clients)]
    heapq.heapify(arrivals)
    free, times, thinks, held = 0.0, list[float](), list[float](), 0.0
    while arrivals[0][0] < end:
        came, client = heapq.heappop(arrivals)
        free = max(free, came) + float(rng.exponential(1e-3))
        held += max(0.0, min(free, end) - max(came, start))
        think = float(rng.exponential(think_s)) if think_s else 0.0
        if start <= free < end:
            times.append(free - came)
            thinks.append(think)
        heapq.heappush(arrivals, (free + think, client))
    n = len(times)
    return {
        "requests": [n], "rate": [n / seconds], "mean_ns": [1e9 * float(np.mean(times))], "in_flight": [held / seconds],
        "clients": [clients], "cycle_ns": [1e9 * float(np.mean(thinks))],
    }  # fmt: skip


def verdict(values: dict[str, list[float]]) -> str:
    return judge(read(recorded(3.0, values=values))).verdict


def test_one_window_passes_and_two_do_not() -> None:
    rng = np.random.default_rng(7)
    loops = [(clients, think) for clients in (1, 4, 16, 64) for think in (0.0, 0.01)] * 5
    said = [window(rng, clients, think, 5.0) for clients, think in loops]
    assert sum(verdict(values) == "impossible" for values in said) <= 0.05 * len(said)
    for name in ("rate", "mean_ns", "in_flight", "clients"):
        for by in (0.8, 1.25):
            found = [verdict({**values, name: [by * values[name][0]]}) for values in said]
            assert found.count("impossible") >= 0.9 * len(found), (name, by)


@pytest.mark.parametrize(
    "values", [{}, {"rate": [5.0]}, {"rate": [0.0], "requests": [0]}, {"requests": [9], "rate": [9.0]}]
)
def test_a_driver_that_tells_less_is_not_judged_by_it(values: dict[str, Any]) -> None:
    assert verdict(values) == "clean"


def test_the_cause_says_both_numbers() -> None:
    values: dict[str, list[float]] = {"requests": [1000], "rate": [100.0], "mean_ns": [40e6], "in_flight": [6.0]}
    (cause,) = judge(read(recorded(14.0, values=values))).causes
    assert (cause.cause, cause.amount) == ("Little's law", pytest.approx(1 / 3))
    assert cause.text.startswith("6 requests were in flight, but rate times time is 4")
