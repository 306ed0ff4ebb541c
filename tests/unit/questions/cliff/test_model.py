"""Where the time jumps, on runs whose truth is known: jumps of every kind, and what only looks like one."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from scalograph.questions.cliff.model import Step, cliff, has_place
from scalograph.questions.cliff.model_evidence import GRADUAL, steps
from scalograph.questions.cliff.model_wander import contradiction
from scalograph.questions.cliff.search_state import CliffState, first_levels

LEVELS = range(1, 513)
SPREAD = [1, 2, 3, 6, 10, 18, 33, 60, 110, 200, 300, 512]
Time = Callable[[int], float]


def noise(i: int) -> float:
    """A factor within +-2% that follows from the number of the run."""
    return float(np.exp(0.02 * np.sin(12.9898 * i)))


def searched(time: Time, levels: Sequence[int] = LEVELS, most: int = 60, seed: int = 3) -> CliffState:
    state = CliffState(levels, seed)
    while (n := state.next_level) is not None and len(state.n) < most:
        state.observe(n, time(n) * noise(len(state.n)))
    return state


@pytest.mark.parametrize("place", [4, 37, 220, 400])
@pytest.mark.parametrize("factor", [1.3, 2.0, 0.5])
def test_a_jump_is_found_where_it_is(place: int, factor: float) -> None:
    state = searched(lambda n: factor if n >= place else 1.0)
    (found,) = state.sure
    assert state.is_decided and len(state.n) <= 26
    assert found.location == pytest.approx(place, rel=0.06) or abs(found.location - place) < 1
    low, high = found.interval
    assert low < place <= high
    assert found.factor[0] <= factor <= found.factor[2]
    assert found.probability >= 0.95 and found.gradual < 0.5


def test_beyond_a_trend_the_jump_alone_is_told() -> None:
    (found,) = searched(lambda n: n**0.1 * (1.5 if n >= 100 else 1.0)).sure
    assert found.location == pytest.approx(100, rel=0.05)
    assert found.factor[1] == pytest.approx(1.5, rel=0.08)


@pytest.mark.parametrize("time", [
    lambda n: 1.0, lambda n: n**0.2, lambda n: 1 / min(n, 16),
    lambda n: (1 + 0.05 * (n - 1) + 0.0004 * n * (n - 1)) / n, lambda n: 1.0 + n / 100,
], ids=["flat", "trend", "bend", "coherency", "line"])  # fmt: skip
def test_what_is_smooth_is_no_cliff(time: Time) -> None:
    state = searched(time)
    assert state.sure == [] and state.is_decided
    assert state.open is not None and state.open.probability <= 0.05


def test_a_slow_run_makes_no_cliff_and_is_asked_for_again() -> None:
    state = CliffState(LEVELS, 3)
    slow = True
    while (n := state.next_level) is not None and len(state.n) < 40:
        factor = 1.8 if slow and n == 512 else 1.0  # the last level, where one run alone would end the range
        slow = slow and n != 512
        state.observe(n, factor * noise(len(state.n)))
    assert state.sure == [] and state.is_decided
    assert state.n.count(512) >= 2


def test_what_comes_and_goes_is_two_cliffs_that_undo_each_other() -> None:
    state = searched(lambda n: 2.0 if 60 <= n < 200 else 1.0)
    up, down = sorted(state.sure, key=lambda found: found.location)
    assert (up.location, down.location) == (pytest.approx(60, rel=0.06), pytest.approx(200, rel=0.06))
    assert up.factor[1] * down.factor[1] == pytest.approx(1, rel=0.15)


def test_a_gradual_rise_is_an_interval() -> None:
    state = searched(lambda n: float(np.exp(np.log(2) * np.clip((np.log(n / 100)) / 0.5 + 0.5, 0, 1))))
    (found,) = state.sure
    assert found.gradual > 0.5
    low, high = found.interval
    assert low < 90 and high > 110 and low > 50 and high < 200


def test_noise_that_hides_a_jump_leaves_it_open_and_says_what_it_would_take() -> None:
    rng = np.random.default_rng(7)
    n = [int(level) for level in rng.choice(SPREAD, 14)]
    found = cliff(n, np.exp(0.4 * rng.standard_normal(14)).tolist(), LEVELS)
    assert not found.is_there and found.n_more > 10


def test_a_level_that_fails_is_left_out_and_all_above_where_none_has_run() -> None:
    state = CliffState(LEVELS, 3)
    notes = []
    while (n := state.next_level) is not None and len(state.n) < 40:
        notes.append(
            state.observe_failure(n) if n > 300 else state.observe(n, (2.0 if n >= 50 else 1.0) * noise(len(state.n)))
        )
    assert any(note and "failed 2 times: excluded, and the" in note for note in notes)
    (found,) = state.sure
    assert found.interval[0] < 50 <= found.interval[1]
    assert max(state.n) <= 300


def test_it_is_pure_in_what_it_was_told() -> None:
    made = searched(lambda n: 2.0 if n >= 77 else 1.0)
    again = CliffState(LEVELS, 3)
    for n, time in zip(made.n, made.times, strict=True):
        assert again.next_level == n
        again.observe(n, time)
    assert again.next_level is None and again.sure == made.sure


def test_first_levels_cover_the_range_and_follow_the_seed() -> None:
    found = [sorted(first_levels(LEVELS, seed)) for seed in (1, 2)]
    assert found[0] != found[1]
    for levels in found:
        assert len(levels) == 12 and levels[0] == 1 and levels[-1] == 512
        assert max(b / a for a, b in pairwise(levels)) < 4


@pytest.mark.parametrize(("n", "times", "levels", "told"), [
    ([1], [1.0], [1, 2], "expected as many of each, at least two"),
    ([1, 2], [1.0, -1.0], [1, 2], "a time of 0 or less"), ([1, 3], [1.0, 1.0], [1, 2], "runs at level 3"),
    ([1, 2], [1.0, 1.0], [2, 1], "expected at least two, growing, from 1 on"),
])  # fmt: skip
def test_refusals(n: list[int], times: list[float], levels: list[int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        cliff(n, times, levels)


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_place_that_moves_is_told_with_the_levels_where_it_was(factor: float) -> None:
    """About half of the runs have their place at 160, the others at 240."""
    state = CliffState(LEVELS, 7)
    while (n := state.next_level) is not None and len(state.n) < 60:
        place = 160 if np.sin(78.233 * len(state.n)) > 0 else 240
        state.observe(n, (factor if n >= place else 1.0) * noise(len(state.n)))
    assert state.wandering is not None and state.is_decided and state.next_level is None
    low, high = state.wandering
    assert 160 <= low <= high < 240
    assert state.jump is not None and state.jump == pytest.approx(factor, rel=0.2)


AT, FEW, MANY = [200] * 3 + [240] * 3, [200] * 4 + [240] * 4, [200] * 20 + [240] * 20


# A single fast run above does not decide either: it may be the one that is wrong. And where one run in ten is slowed,
# three of thirty tell nothing, which of few do.
@pytest.mark.parametrize(("n", "times", "expected"), [
    (AT, [1, 1, 1, 2, 2, 2], None), (AT, [1, 2, 2, 2, 2, 2], {"n": 2, "is_sure": False}),
    (AT, [1, 1, 1, 1, 2, 2], {"n": 2, "is_sure": False}),
    (AT, [1, 2, 2, 1, 2, 2], {"n": 4, "n_without_one": 2, "low": 200, "high": 240, "is_sure": True}),
    (FEW, [1, 1, 2, 2, 1, 1, 2, 2], {"is_sure": True}),
    ([200] * 30 + [201] * 2, [2, 2, 2, *[1] * 27, 1, 1], {"n": 3, "is_sure": False}),
])  # fmt: skip
def test_slowed_runs_are_no_place_that_moves(n: list[int], times: list[float], expected: dict[str, int] | None) -> None:
    found = contradiction(n, times, 2.0)
    assert (found and expected and {name: getattr(found, name) for name in expected}) == expected


def test_many_runs_ask_for_more_that_contradict() -> None:
    few = contradiction(FEW, [1, 1, 2, 2, 1, 1, 2, 2], 2.0)
    many = contradiction(MANY, [2, 2, 2, 2, *[1] * 16, 1, 1, *[2] * 18], 2.0)
    assert few is not None and many is not None and many.n > few.n


def test_one_place_is_confirmed_on_both_sides_and_a_wide_transition_does_not_move() -> None:
    state = searched(lambda n: 2.0 if n >= 220 else 1.0)
    assert state.wandering is None
    twice = [n for n in set(state.n) if state.n.count(n) >= 2]
    assert any(190 <= n <= 212 for n in twice) and any(228 <= n <= 250 for n in twice)
    assert searched(lambda n: float(2 ** np.clip((n - 150) / 150, 0, 1))).wandering is None


def test_steps_leave_a_place_for_further_cliffs_and_are_few_enough_to_weigh() -> None:
    found = steps(tuple(range(1, 4097)))
    assert found.places.size <= 6 * 601 and set(GRADUAL) < set(found.widths.tolist())
    assert np.exp(found.log_prior).sum() == pytest.approx(1)
    step = [Step(float(np.log(2) / 2), 0.01)]
    assert has_place(LEVELS, step) and not has_place([1, 2], step)
