"""Configurations that are known well enough are asked for no more."""

from collections import Counter

import numpy as np

from scalograph.analysis.stopping import Stopping
from scalograph.design.planner import Design
from scalograph.design.resolve import design
from scalograph.design.sequential import SequentialPlanner
from scalograph.study.load import parse
from tests.kit.studies import VALID, facts_of

HOST = facts_of(4)
TEXT = VALID.replace("runs = 3", "runs = 40").replace('[factors.lock]\nlevels = ["none", "cas"]\n', "")
VERSIONS = TEXT.replace("[baseline]\nthreads = 1", "[reference]\nthreads = 1")


def planned(text: str = TEXT) -> Design:
    return design(parse(text), HOST)


def counts(noise: dict[int, float], verdict: str = "clean", text: str = TEXT) -> Counter[int]:
    """Runs by threads, where each configuration has a noise of its own."""
    rng, made = np.random.default_rng(3), Counter[int]()
    planner = SequentialPlanner(planned(text), Stopping(0.01, 16), lambda record: record["score"])
    while run := planner.ask():
        n = int(run.configuration["threads"])
        made[n] += 1
        planner.tell(run, {"score": float(np.exp(noise[n] * rng.standard_normal()))}, verdict)
    return made


def test_still_configurations_stop_early_and_the_baseline_goes_on_with_the_last() -> None:
    made = counts({1: 0.001, 2: 0.001, 4: 0.2})
    assert made[2] == 9 and made[4] == 40
    one_a_block = counts({1: 0.001, 2: 0.001, 4: 0.2})[1]
    assert one_a_block == 40 and counts({1: 0.001, 2: 0.001, 4: 0.001})[1] < 20
    assert counts({1: 0.001, 2: 0.001, 4: 0.001}, "disturbed") == {1: 40, 2: 40, 4: 40}


def test_a_replay_decides_the_same() -> None:
    rng = np.random.default_rng(5)
    told = []
    first = SequentialPlanner(planned(), Stopping(0.02, 16), lambda record: record["score"])
    while run := first.ask():
        told.append((run, {"score": float(np.exp(0.03 * rng.standard_normal()))}))
        first.tell(*told[-1], "clean")
    again = SequentialPlanner(planned(), Stopping(0.02, 16), lambda record: record["score"])
    for run, record in told:
        assert again.ask() == run
        again.tell(run, record, "clean")
    assert again.ask() is None and len(told) < 120


def test_versions_end_by_their_ratios_over_the_reference() -> None:
    """Blocks differ by half, so that no version is known well by itself."""
    made, rng, blocks = Counter[int](), np.random.default_rng(7), np.random.default_rng(8)
    planner = SequentialPlanner(planned(VERSIONS), Stopping(0.01, 16), lambda record: record["score"])
    slow, noise = {b: float(np.exp(0.3 * blocks.standard_normal())) for b in range(40)}, {1: 0.001, 2: 0.001, 4: 0.1}
    while run := planner.ask():
        n = int(run.configuration["threads"])
        made[n] += 1
        planner.tell(run, {"score": slow[run.block] * float(np.exp(noise[n] * rng.standard_normal()))}, "clean")
    assert made[2] == 9 and made[4] == made[1] == 40
