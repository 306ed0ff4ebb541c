"""Little's law as a gate: what one window holds passes it, and what is of two does not."""

import heapq
from collections import Counter
from typing import Any

import numpy as np
import pytest

from scalograph.verdict.judge import judge
from tests.kit.records import read, recorded


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
    assert sum(verdict(values) == "invalid" for values in said) <= 0.05 * len(said)
    for name in ("rate", "mean_ns", "in_flight", "clients"):
        for by in (0.8, 1.25):
            found = [verdict({**values, name: [by * values[name][0]]}) for values in said]
            assert found.count("invalid") >= 0.9 * len(found), (name, by)


def held_up(rng: np.random.Generator, begin: float, seconds: float) -> tuple[dict[str, list[float]], list[int]]:
    """What a driver would say of 40 clients of which a request in 32 is held up for a second, and its times, in ns.

    All begin at once; the window begins before many are held up, and ends when they are.
    """
    end, times, held = begin + seconds, list[float](), 0.0
    for _ in range(40):
        now = 0.0
        while now < end:
            took = 1.0 if rng.random() < 1 / 32 else float(rng.exponential(0.02))
            held += max(0.0, min(now + took, end) - max(now, begin))
            now += took
            if begin <= now < end:
                times.append(took)
    n, mean = len(times), float(np.mean(times))
    values: dict[str, list[float]] = {
        "requests": [n], "rate": [n / seconds], "mean_ns": [1e9 * mean], "in_flight": [held / seconds],
        "clients": [40], "cycle_ns": [0.0],
    }  # fmt: skip
    return values, [round(1e9 * took) for took in times]


def counted(times: list[int]) -> dict[str, Any]:
    """The histogram that a driver tells of them."""
    shifts = [max(ns.bit_length() - 8, 0) for ns in times]
    counts = sorted(Counter(128 * e + (ns >> e) for ns, e in zip(times, shifts, strict=True)).items())
    index, count = zip(*counts, strict=True)
    return {"copy": 0, "phase": "steady", "operation": "get", "index": [*index], "count": [*count]}


def test_clients_may_be_under_way_or_in_a_thought_at_the_ends_of_a_window() -> None:
    rng = np.random.default_rng(7)
    said = [held_up(rng, 0.2, 4.0) for _ in range(20)]
    alike = [verdict(values) for values, _ in said]
    assert alike.count("invalid") >= 0.3 * len(said)  # were all of one length, as many could not be under way
    told = [{**recorded(3.0, values=values), "histograms": [counted(times)]} for values, times in said]
    assert [judge(read(one)).verdict for one in told].count("invalid") == 0
    # Nor is a false count hidden where the window is long.
    values, times = held_up(rng, 0.2, 60.0)
    for by, wanted in ((1.0, "clean"), (0.8, "invalid"), (1.25, "invalid")):
        one = {**values, "rate": [by * values["rate"][0]]}
        assert judge(read({**recorded(3.0, values=one), "histograms": [counted(times)]})).verdict == wanted
    rng = np.random.default_rng(7)
    said = [window(rng, 40, 5.0, 20.0) for _ in range(40)]
    assert sum(verdict(values) == "invalid" for values in said) <= 2


@pytest.mark.parametrize(
    "values", [{}, {"rate": [5.0]}, {"rate": [0.0], "requests": [0]}, {"requests": [9], "rate": [9.0]}]
)
def test_a_driver_that_tells_less_is_not_judged_by_it(values: dict[str, Any]) -> None:
    assert verdict(values) == "clean"


@pytest.mark.parametrize(("more", "expected"), [
    ({}, "invalid"), ({"unanswered": [256.0]}, "clean"), ({"unanswered": [100.0]}, "invalid"),
])  # fmt: skip
def test_requests_without_an_answer_are_in_flight_and_in_no_rate(more: dict[str, list[float]], expected: str) -> None:
    said = {"requests": [2560], "rate": [2560.0], "mean_ns": [1e8], "in_flight": [512.0]}
    assert verdict({**said, "clients": [512], "cycle_ns": [0.0], **more}) == expected
