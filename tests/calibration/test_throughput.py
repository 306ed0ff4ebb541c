"""The short version of benchmarks/throughput_truth.py: services that are known, and what is said of them."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from simulate.noise import LOW, Noise
from simulate.throughput import (
    ENDS,
    QUIET,
    Network,
    answer_study,
    is_named,
    least_level,
    levels,
    network,
    rates,
    study,
)

from scalograph.questions.throughput.document import LoadedGroup
from scalograph.questions.throughput.model_plateau import plateau
from tests.calibration.sequential import is_share


def asked(kind: str, noise: Noise = QUIET) -> Iterator[tuple[Network, dict[int, float], LoadedGroup]]:
    """One service after the other, what it carries, and what is said of it."""
    rng = np.random.default_rng(53)
    while True:
        net = network(rng, kind)
        clients = levels(net, kind)
        true = rates(net, clients)
        yield net, true, answer_study(*study(rng, net, clients, noise=noise, carried=true))[1]


@pytest.mark.parametrize("kind", ENDS)
def test_the_part_that_ends_it_is_named(kind: str) -> None:
    assert is_share((is_named(kind, found) for _, _, found in asked(kind)), 0.95, rather_than=0.7)


def test_a_part_is_not_named_where_another_ends_it() -> None:
    assert not any(is_named("a lock", found) for _, _, found in islice(asked("one service"), 5))


@pytest.mark.parametrize("noise", [QUIET, LOW], ids=["quiet", "low"])
def test_the_plateau_holds_the_least_level(noise: Noise) -> None:
    def held() -> Iterator[bool]:
        for _, true, found in asked("one service", noise):
            low, high = found.plateau.low, found.plateau.high
            if low is not None and high is not None:
                yield low <= least_level(true) <= high

    assert is_share(held(), 0.95, rather_than=0.7)


def test_a_plateau_that_is_told_as_one_level_is_that_level() -> None:
    told = ((true, found) for _, true, found in asked("a database") if found.state == "found")
    assert is_share((found.plateau.value == least_level(true) for true, found in told), 0.95, rather_than=0.7)


def test_the_knee_is_where_the_asymptotes_meet() -> None:
    knees = [
        found.knee.value / (net.most * (net.alone_s + net.think_s))
        for net, _, found in islice(asked("one service"), 10)
        if found.knee is not None and found.knee.value is not None
    ]
    assert len(knees) >= 8 and max(abs(np.log(knees))) <= 0.05


def test_a_rate_that_rises_has_no_plateau() -> None:
    rng = np.random.default_rng(3)

    def risen() -> Iterator[bool]:
        while True:
            made = {n: {b: n * float(np.exp(LOW.run_logs(rng, (1,))[0])) for b in range(5)} for n in (1, 2, 4)}
            found = plateau(made)
            yield found is not None and found.high is None

    assert is_share(risen(), 0.95, rather_than=0.7)
