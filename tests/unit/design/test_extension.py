"""Ratios that are too wide after the planned pairs get further ones, once, by their width alone."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from scalograph.analysis.stopping import Stopping, level_of_look
from scalograph.design.planner import Design
from scalograph.design.resolve import design
from scalograph.design.sequential import SequentialPlanner
from scalograph.design.stopping_rule import pair_confidence, pair_stopping
from scalograph.questions.scaling.plan import GridPlan
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit.studies import VALID, facts_of

PLANNED = 10
TEXT = VALID.replace("runs = 3", f'runs = {PLANNED}\nprecision = "1%"').replace(
    '[factors.lock]\nlevels = ["none", "cas"]\n', ""
)
VERSIONS = TEXT.replace("[baseline]\nthreads = 1", "[reference]\nthreads = 1")
RULE = Stopping(0.01, PLANNED)
Finished = list[tuple[Run, dict[str, float], str]]


def planned(text: str = VERSIONS) -> Design:
    return design(parse(text), facts_of(4))


def planner(text: str = VERSIONS) -> SequentialPlanner:
    return SequentialPlanner(planned(text), RULE, lambda record: record["score"])


def finish(
    noise: dict[int, float], effect: float = 0.0, verdict: Callable[[Run], str] = lambda run: "clean",
    text: str = VERSIONS,
) -> Finished:  # fmt: skip
    """Carry out what is asked for; versions differ from the reference, one thread, by `effect`."""
    rng, asked, finished = np.random.default_rng(3), planner(text), Finished()
    while run := asked.ask():
        n = int(run.configuration["threads"])
        score = float(np.exp(effect * (n > 1) + noise[n] * rng.standard_normal()))
        finished.append((run, {"score": score}, verdict(run)))
        asked.tell(*finished[-1])
    return finished


def counts(finished: Finished) -> Counter[int]:
    return Counter(int(run.configuration["threads"]) for run, *_ in finished)


def test_only_versions_whose_ratio_is_wide_get_further_pairs_with_their_reference_and_half_as_many_at_most() -> None:
    assert counts(finish({1: 0.001, 2: 0.0005, 4: 0.1})) == {1: 15, 2: 9, 4: 15}
    narrow = counts(finish({1: 0.0005, 2: 0.0005, 4: 0.0005}))
    assert narrow == {1: 9, 2: 9, 4: 9}
    assert 10 < counts(finish({1: 0.0005, 2: 0.0005, 4: 0.014}))[4] < 15


def test_the_number_of_pairs_follows_from_the_width_and_never_from_the_place() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        ratios = np.exp(0.015 * rng.standard_normal(PLANNED))
        assert {RULE.n_further(effect * ratios) for effect in (0.5, 1.0, 1.02, 3.0)} == {RULE.n_further(ratios)}
    noise = {1: 0.01, 2: 0.01, 4: 0.015}
    assert [counts(finish(noise, effect)) for effect in (0.02, 0.5)] == [counts(finish(noise))] * 2


def test_a_wider_precision_is_enough_and_single_configurations_get_none() -> None:
    ratios = np.exp(0.03 * np.random.default_rng(5).standard_normal(PLANNED))
    assert RULE.n_further(ratios) == 5 and Stopping(0.05, PLANNED).n_further(ratios) == 0
    assert RULE.n_further([1.0]) == RULE.n_further([]) == 0
    assert counts(finish({1: 0.1, 2: 0.1, 4: 0.1}, text=TEXT)) == {1: 10, 2: 10, 4: 10}


@pytest.mark.parametrize("n_before", [29, 30, 31, 38, 44])
def test_a_resume_goes_on_with_the_same_runs(n_before: int) -> None:
    finished = finish({1: 0.1, 2: 0.1, 4: 0.1})
    assert len(finished) == 45
    again = planner()
    for each in finished[:n_before]:
        again.tell(*each)
    again.resume()
    for each in finished[n_before:]:
        assert again.ask() == each[0]
        again.tell(*each)
    assert again.ask() is None and again.n_left == 0


def test_a_disturbed_run_of_a_further_block_is_repeated_and_no_two_runs_share_name_or_replicate() -> None:
    disturbed = {"b0000-0001", "b0011-0000", "b0012-0002"}
    finished = finish({1: 0.1, 2: 0.1, 4: 0.1}, verdict=lambda run: "disturbed" if run.run in disturbed else "clean")
    names = [run.run for run, *_ in finished]
    replicates = [(run.configuration["threads"], run.replicate) for run, *_ in finished]
    assert {f"{name}r1" for name in disturbed} <= {*names} and len(names) == 48
    assert len({*names}) == len({*replicates}) == len(names)


def test_a_plan_says_the_most_runs_and_a_ratio_from_further_pairs_has_a_level_of_its_own() -> None:
    made = planned()
    assert (made.n_runs, GridPlan(made).most_runs, GridPlan(planned(TEXT)).most_runs) == (30, 45, 30)
    assert pair_stopping(made.study) == RULE
    levels = [pair_confidence(made.study, range(n), 0.95) for n in (5, 10, 11)]
    assert levels == pytest.approx([0.95, 0.95, 0.965]) and level_of_look(0.9, [], 3) == 0.9
    assert pair_confidence(planned(TEXT).study, range(20), 0.95) == 0.95


@pytest.mark.parametrize("disturbed", [(4,), (1, 2, 4)])
def test_versions_without_a_run_that_counts_get_no_further_pairs(disturbed: tuple[int, ...]) -> None:
    def verdict(run: Run) -> str:
        return "disturbed" if run.configuration["threads"] in disturbed else "clean"

    ended = finish({1: 0.0, 2: 0.1, 4: 0.1}, verdict=verdict)
    assert {run.block < PLANNED for run, *_ in ended if run.configuration["threads"] == 4} == {True}
