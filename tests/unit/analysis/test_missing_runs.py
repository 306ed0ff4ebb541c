"""Shares of lost runs against chance."""

import numpy as np
import pytest

from scalograph.analysis.missing_runs import Attempt, Fairness, _rank_rows, fairness

LENGTH = {n: float(n) for n in range(1, 9)}
LEVEL = 0.01


def study(chance: dict[int, float], seed: int, n_blocks: int = 20, busy: float = 0.0) -> list[Attempt]:
    """Blocks in which each configuration loses its run with its own chance; in busy blocks each does with 80%."""
    rng = np.random.default_rng(seed)
    made = []
    for block in range(n_blocks):
        is_busy = rng.random() < busy
        made += [Attempt(block, n, bool(rng.random() < (0.8 if is_busy else p))) for n, p in chance.items()]
    return made


def found(attempts: list[Attempt], seed: int = 0) -> Fairness:
    judged = fairness(attempts, LENGTH, seed)
    assert judged is not None
    return judged


@pytest.mark.parametrize(("n_blocks", "busy"), [(3, 0.0), (20, 0.0), (10, 0.4)], ids=["few", "many", "busy hours"])
def test_false_alarms_are_as_rare_as_claimed(n_blocks: int, busy: float) -> None:
    judged = [f for i in range(300) if (f := fairness(study(dict.fromkeys(LENGTH, 0.2), i, n_blocks, busy), LENGTH, i))]
    assert len(judged) > 250
    # 5% of 300 is 15; 27 and more would happen once in 500 such tests.
    assert sum(f.p_equal <= 0.05 for f in judged) <= 27 and sum(f.p_trend <= 0.05 for f in judged) <= 27
    assert sum(min(f.p_equal, f.p_trend) < LEVEL for f in judged) <= 13


def test_what_is_lost_more_often_is_found_as_a_trend_or_alone() -> None:
    chance = {n: 0.05 + 0.06 * n for n in LENGTH}
    judged = [found(study(chance, i), i) for i in range(40)]
    assert sum(f.p_trend < LEVEL for f in judged) >= 32
    short, long = (float(np.mean([f.by_length[end] for f in judged])) for end in (0, 1))
    assert (short, long) == pytest.approx((0.14, 0.5), abs=0.05)
    chance = {**dict.fromkeys(LENGTH, 0.05), 4: 0.7}
    judged = [found(study(chance, i), i) for i in range(20)]
    assert sum(f.p_equal < LEVEL for f in judged) >= 18 and sum(f.p_trend < LEVEL for f in judged) <= 2
    assert judged[0].spread[1] > 0.5 > judged[0].spread[0]


def test_few_lost_runs_and_busy_blocks_are_no_unfairness() -> None:
    one = [Attempt(block, n, (block, n) == (0, 8)) for block in range(20) for n in LENGTH]
    assert found(one).p_least > LEVEL
    many = [Attempt(block, n, n == 8) for block in range(20) for n in LENGTH]
    assert found(many).p_least < LEVEL and found(many).p_equal < LEVEL
    made = [Attempt(block, n, block < 3) for block in range(6) for n in LENGTH]
    assert (found(made).p_equal, found(made).p_trend) == (1.0, 1.0)
    busy = [Attempt(block, n, (block + n) % 2 == 0) for block in range(20) for n in (1, 2)]
    quiet = [Attempt(block, n, False) for block in range(20, 40) for n in (3, 4)]
    assert found(busy + quiet).spread == (0.0, 0.5)
    assert found(busy + quiet).p_equal > 0.5 and found(busy + quiet).p_trend > 0.5


def test_the_seed_decides_and_nothing_lost_says_nothing() -> None:
    made = study(dict.fromkeys(LENGTH, 0.3), 1)
    assert found(made, 5) == found(made, 5)
    assert found(made, 5).p_equal == pytest.approx(found(made, 6).p_equal, abs=0.06)
    assert fairness(study(dict.fromkeys(LENGTH, 0.0), 1), LENGTH) is None
    assert fairness([Attempt(0, 1, True), Attempt(1, 1, False)], LENGTH) is None and fairness([], LENGTH) is None


@pytest.mark.parametrize("n", [0, 3, 8, 9, 20])
def test_few_numbers_are_ranked_as_all_are(n: int) -> None:
    drawn = np.random.default_rng(1).random((5, 20))
    whole = drawn.argsort(axis=1).argsort(axis=1)[:, :n].T
    assert [rank.tolist() for rank in _rank_rows(drawn, n)] == whole.tolist()
