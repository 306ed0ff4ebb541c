"""The posterior over programs: answers by hand, slowed runs, misfits, and what it refuses."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from simulate.runs import usl

from scalograph.questions.effective_cpus.model import effective_cpus
from scalograph.questions.effective_cpus.model_programs import Programs, answers, most_runs, programs, split_cells
from scalograph.questions.effective_cpus.model_search import Bisection, evidence, search
from scalograph.questions.effective_cpus.search_state import EffectiveCpusState

LEVELS = range(1, 13)
SPREAD = [1, 4, 6, 9, 12]


def jitter(n: int, sd: float = 0.02) -> np.ndarray:
    return np.exp(sd * np.random.default_rng(8).standard_normal(n))


def times(k: Sequence[int], cap: int, serial: float = 0.0) -> list[float]:
    curve = [serial + (1 - serial) / min(n, cap) for n in k]
    return [float(t) for t in np.array(curve) * jitter(len(k))]


@pytest.mark.parametrize(("curve", "answer"), [
    ([1.0, 1.0, 1.0, 1.0], 1), ([1.0, 0.5, 0.5, 0.5], 2), ([1.0, 0.5, 0.333, 0.25], 4),
    ([1.0, 0.5, 0.495, 0.491], 2),  # two more gain less than 2% together
    ([1.0, 0.5, 0.495, 0.489], 3),  # and here more than 2%
    ([1.0, 0.5, 0.4, 0.8], 3),  # more make it slower
])  # fmt: skip
def test_what_the_answer_is(curve: list[float], answer: int) -> None:
    assert int(answers(np.array(curve))) + 1 == answer


def test_programs_take_the_times_of_the_formula() -> None:
    found = programs((1, 2, 4), rounds=True)
    of_two = found.caps == 2
    s = found.serials[of_two].min()
    rows = np.exp(found.log_times[of_two & (found.serials == s)])
    half = s + (1 - s) / 2
    assert any(np.allclose(row, [1, half, half]) for row in rows)
    assert any(np.allclose(row, [1 + 0, half + 0.06 / 4, half + 0.06 * 3 / 4]) for row in rows)
    found = programs((1, 2, 3, 4), rounds=True)
    s = found.serials.min()
    assert s < 0.02  # the middle of a cell: none has a share of 0
    rows = np.exp(found.log_times[found.serials == s])
    assert any(np.allclose(row, [1, half := s + (1 - s) / 2, s + (1 - s) * 2 / 3, half]) for row in rows)


def test_parts_of_programs_weigh_as_much_as_the_whole_and_fill_it() -> None:
    found = programs((1, 2, 3, 4))
    kept = found.caps > 1
    parts = split_cells(found, kept, 5)
    assert np.exp(parts.log_prior).sum() == pytest.approx(np.exp(found.log_prior[kept]).sum())
    low, high = parts.serials - parts.widths / 2, parts.serials + parts.widths / 2
    assert low[0] == pytest.approx(0) and low[1:5] == pytest.approx(high[:4]) and high.max() == pytest.approx(1)


@pytest.mark.parametrize("serial", [0.77, 0.8, 0.83])
def test_between_two_answers_the_probability_is_that_of_a_much_finer_grid(serial: float) -> None:
    """At 80% four CPUs are the answer no longer, and three begin to be: cells as wide as the noise overlook that."""
    k = [1, 2, 3, 4, 4, 3, 4, 4, 3, 4]
    every, logs = programs((1, 2, 3, 4)), np.log(times(k, 4, serial))
    at = np.array(k) - 1

    def four(found: Programs) -> float:
        return float(evidence(found, at, logs).weights[found.answers == 3].sum())

    exact = four(split_cells(every, every.log_prior > -np.inf, 20))
    told = effective_cpus(k, np.exp(logs), (1, 2, 3, 4)).probabilities[4]
    assert told == pytest.approx(exact, abs=0.05)  # without parts .77 is off by .21


# Beside the last level more runs are needed: half of the programs have no cap.
@pytest.mark.parametrize(("cap", "n_each"), [(2, 2), (5, 2), (11, 3)])
def test_a_cap_is_found_and_a_neighbor_would_gain_nothing(cap: int, n_each: int) -> None:
    k = [*SPREAD, *[cap - 1, cap, cap + 1] * n_each]
    assert effective_cpus(k[:11], times(k[:11], cap), LEVELS).k_eff == cap
    found = effective_cpus(k, times(k, cap), LEVELS)
    assert found.k_eff == cap and found.probability >= 0.95 and found.sure
    assert math.isclose(sum(found.probabilities.values()), 1, abs_tol=0.02)
    assert found.gain is not None and found.gain[0] <= 0 < 0.05 > found.gain[1]


def test_a_serial_share_is_bracketed() -> None:
    k = [1, 4, 6, 9, 12] * 4
    found = effective_cpus(k, times(k, 12, 0.1), LEVELS)
    assert found.serial[0] <= 0.1 <= found.serial[1] < 0.2
    assert found.k_eff == 12 and found.gain is None


def test_the_marginal_likelihood_is_the_integral() -> None:
    """Over T1 and sigma^2, for runs that cannot have been slowed: two, of which none may be."""
    found, at, logs = programs((1, 2)), np.array([0, 1]), np.array([0.0, -0.66])
    seen = evidence(found, at, logs)
    location, log_variance = np.linspace(-1.5, 1.5, 3001), np.linspace(-16, 4, 801)
    variance = np.exp(log_variance)
    prior = 0.03**2 / variance * np.exp(-(0.03**2) / variance)  # inverse gamma of shape 1, times the variance

    def weight(row: int) -> float:
        squares = ((logs - location[:, None] - found.log_times[row][at]) ** 2).sum(axis=-1)
        density = np.exp(-squares[:, None] / (2 * variance)) / (2 * np.pi * variance) * prior
        whole = np.trapezoid(np.trapezoid(density, log_variance, axis=1), location)
        return float(whole * np.exp(found.log_prior[row]))

    rows = [int(i) for i in np.argsort(-seen.weights)[[0, 3]]]
    assert weight(rows[0]) / weight(rows[1]) == pytest.approx(seen.weights[rows[0]] / seen.weights[rows[1]], rel=0.01)


def test_one_slowed_run_changes_no_answer_and_is_looked_at_again() -> None:
    k = [*SPREAD, 6, 9, 12, 5, 4, 7]
    values = times(k, 5)
    values[8] *= 1.5  # the only run on five CPUs
    found = effective_cpus(k, values, LEVELS)
    assert found.pending == (5,) and found.next_level == 5 and not found.sure
    k, values = [*k, 5], [*values, 0.2]
    again = effective_cpus(k, values, LEVELS)
    assert again.k_eff == 5 and again.sure


def test_neighbors_of_an_answer_are_measured_and_a_level_slow_in_all_runs_is_no_accident() -> None:
    k = SPREAD * 3
    found = effective_cpus(k, [1 / min(n, 6) for n in k], LEVELS)
    assert (found.k_eff, found.sure, found.pending) == (6, False, (7, 5))
    k = [*SPREAD, 12, 9, 12]
    found = effective_cpus(k, [1 / min(n, 11) for n in k], LEVELS)
    assert {11, 12} >= {found.k_eff} and found.next_level >= 10
    k = [1, 4, 6, 9, 12, 6, 9, 12, 9]
    found = effective_cpus(k, [1 / n * (1.5 if n == 9 else 1) for n in k] * jitter(9, 0.005), LEVELS)
    assert found.misfit and found.fit < 0.03 and not found.sure


def test_levels_need_not_be_every_count() -> None:
    k = [1, 2, 4, 8, 16, 32] * 2
    found = effective_cpus(k, times(k, 6), (1, 2, 4, 8, 16, 32))
    assert found.k_eff == 8 and found.sure  # the least level that is enough for six


@pytest.mark.parametrize(("k", "values", "levels", "words"), [
    ([1], [], LEVELS, "as many of each"), ([], [], LEVELS, "at least one"),
    ([1, 2], [1.0, 0.0], LEVELS, "times above 0"), ([1, 2], [1.0, math.nan], LEVELS, "times above 0"),
    ([1, 13], [1.0, 1.0], LEVELS, "13 CPUs, expected one of"),
    *(([], [], levels, "expected at least two, growing, from 1 on") for levels in [(1,), (2, 1), (0, 1), (1, 1)]),
])  # fmt: skip
def test_refusals(k: list[int], values: list[float], levels: Sequence[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        effective_cpus(k, values, levels) if levels is LEVELS else programs((*levels,))


def searched(curve: Sequence[float], sd: float = 0.0, before: Sequence[int] = ()) -> tuple[Bisection, int]:
    """The search without a model, to its end: what it found and after how many runs, `before` it of these levels."""
    rng, k = np.random.default_rng(4), [*before]
    values = [curve[n - 1] for n in k]
    while (wanted := (found := search(k, values, LEVELS)).next_level) is not None:
        k.append(wanted)
        values.append(curve[wanted - 1] * float(np.exp(sd * rng.standard_normal())))
    return found, len(k)


@pytest.mark.parametrize("cap", range(1, 13))
def test_bisection_finds_every_cap_and_the_best_where_more_are_worse(cap: int) -> None:
    found, n = searched([1 / min(k, cap) for k in LEVELS], 0.01)
    assert found.k_eff == cap and n <= 30
    if 2 <= cap < 12:
        assert searched([1 / k if k <= cap else 2 / cap for k in LEVELS], 0.01)[0].k_eff == cap


def test_earlier_runs_show_where_the_best_is_though_each_step_there_is_small() -> None:
    curve = [1 / usl(k, 0.03, 0.02) for k in LEVELS]
    found, n = searched(curve, before=SPREAD * 2)
    assert found.best < 12 and found.k_eff is not None
    assert curve[found.k_eff - 1] <= 1.07 * min(curve) and n <= 24


@pytest.mark.filterwarnings("error")
def test_hundreds_of_levels_are_searched_without_a_model() -> None:
    assert most_runs(12, rounds=False) > 24 and most_runs(64, rounds=False) > 24 > most_runs(512, rounds=False)
    assert most_runs(1, rounds=True) > most_runs(2, rounds=True) > 0, "a study without a successful run has programs"
    state = EffectiveCpusState([2**i for i in range(10)], 0, rounds=True)
    while (level := state.next_level) is not None:
        state.observe(level, max(1.0, level / 4))
    assert isinstance(state.result, Bisection) and state.result.k_eff == 4
