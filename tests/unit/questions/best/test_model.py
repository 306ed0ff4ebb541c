"""The grid, the fit of its times, and what the choice makes of it: against surfaces whose best is known."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from scalograph.questions.best.model import BestSpace, n_first, read_space
from scalograph.questions.best.model_choice import choose
from scalograph.questions.best.model_surface import Kernels, TimeSurface
from scalograph.questions.best.search_state import BestState

THREADS = tuple(range(1, 33))


def space_of(**levels: tuple[int | str, ...]) -> BestSpace:
    grid = np.stack(np.meshgrid(*(range(len(own)) for own in levels.values()), indexing="ij"), axis=-1)
    rows = grid.reshape(-1, len(levels)).tolist()
    return read_space([{n: levels[n][k] for n, k in zip(levels, row, strict=True)} for row in rows], {})


def searched(space: BestSpace, log: Callable[[int], float], noise: float = 0.01, seed: int = 1) -> BestState:
    """Search as the planner does, up to the fresh runs."""
    rng, state = np.random.default_rng(seed), BestState(space, [1] * len(space.at), seed)
    while not state.confirmed and not state.over:
        level = state.next_level
        assert level is not None
        state.observe(level, math.exp(log(level) + noise * rng.standard_normal()))
    return state


def test_first_runs_are_the_default_and_others_spread_over_all_factors() -> None:
    space = space_of(threads=THREADS, option=("-O2", "-O3"))
    first = space.first(3)
    assert len({*first}) == len(first) == n_first(space) and space.default in first
    assert first == space.first(3) != space.first(4)
    threads, options = space.at[first].T
    assert {*options.tolist()} == {0, 1} and np.ptp(np.log2(threads + 1.0)) > 4


def test_a_small_grid_is_measured_whole_and_the_default_first() -> None:
    space = space_of(option=("a", "b", "c"))
    assert sorted(space.first(1)) == [0, 1, 2] and space.first(1)[0] == space.default


def test_texts_have_no_order_and_numbers_are_octaves() -> None:
    space = space_of(threads=(1, 2, 8), offset=(-1, 0, 2), kind=("x", "y"))
    octaves, shares, none = space.axes
    assert octaves is not None and octaves.tolist() == [0, 1, 3]
    assert shares is not None and shares.tolist() == [0, 2, 6] and none is None


@pytest.mark.parametrize("best", [1, 3, 17, 32])
def test_a_step_is_no_smooth_curve(best: int) -> None:
    """The time falls with threads up to the best, and triples behind it."""
    space = space_of(threads=THREADS)
    state = searched(space, lambda i: -0.3 * math.log(i + 1) + (1.2 if i + 1 > best else 0.0))
    assert state.choice is not None and space.levels[0][space.at[state.choice.winner, 0]] == best
    assert len(state.at) <= 40


def test_an_interaction_is_followed() -> None:
    """With -O3 the best has 16 threads, with -O2 four."""
    space = space_of(threads=THREADS, option=("-O2", "-O3"))

    def log(index: int) -> float:
        thread, option = space.at[index]
        return float(0.1 * (math.log2(thread + 1) - (4 if option else 2)) ** 2 - 0.1 * option)

    state = searched(space, log)
    assert state.choice is not None and log(state.choice.winner) <= log(31) + 0.02


def test_a_run_that_was_slowed_is_repeated_and_hides_no_best() -> None:
    space, seen = space_of(threads=THREADS), list[int]()
    state = BestState(space, [1] * 32, 1)
    while not state.confirmed and not state.over:
        level = state.next_level
        assert level is not None
        slowed = 0.4 if level not in seen and level in (11, 12) else 0.0  # the first runs of 12 and 13 threads
        seen.append(level)
        state.observe(level, math.exp(0.2 * (math.log2(level + 1) - math.log2(12.5)) ** 2 + slowed))
    assert state.choice is not None and state.choice.winner in (11, 12)


def test_a_run_that_is_too_fast_is_no_best() -> None:
    """A correction for other programs may leave next to nothing of a run."""
    space, state = space_of(threads=THREADS), BestState(space_of(threads=THREADS), [1] * 32, 1)
    wrong = next(i for i in space.first(1) if i not in (0, 1))
    while not state.confirmed and not state.over:
        level = state.next_level
        assert level is not None
        state.observe(level, 0.0007 if level == wrong and wrong not in state.at else float(level + 1))
    assert state.choice is not None and state.choice.winner == 0


def test_a_flat_surface_is_one_set_and_a_steep_one_is_not() -> None:
    space = space_of(threads=THREADS)
    flat, steep = searched(space, lambda i: 0.0), searched(space, lambda i: 0.5 * (math.log2(i + 1) - 3) ** 2)
    assert flat.choice is not None and len(flat.choice.members) == 32
    assert steep.choice is not None and len(steep.choice.members) <= 3 and 7 in steep.choice.members


def test_the_fit_is_the_same_for_the_same_runs() -> None:
    space, at = space_of(threads=THREADS), [0, 4, 9, 31, 4]
    logs = [0.0, -0.5, -0.7, -0.6, -0.52]
    fits = [TimeSurface(Kernels(space), at, logs) for _ in range(2)]
    chosen = [choose(fit, 0.02, np.arange(32)) for fit in fits]
    assert chosen[0] == chosen[1] and fits[0].best == fits[1].best
    assert fits[0].mean[at] == pytest.approx(logs, abs=0.05) and fits[0].sd[20] > fits[0].sd[4]
