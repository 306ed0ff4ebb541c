"""Where time should go, and when the rule ends it."""

import math

import numpy as np
import pytest
from simulate.noise import LOW, Noise
from simulate.runs import run_iterations

from scalograph.analysis.allocate import baseline_repeats, iterations_per_run, spread
from scalograph.analysis.stopping import SEQUENTIAL, Stopping, half_width
from scalograph.study.check_question import FEWEST
from tests.kit.refusals import refuses


def test_iterations_are_the_cheapest_and_have_limits() -> None:
    assert iterations_per_run(9.0, 1.0, 0.04, 0.02).iterations == 6
    start, one, within, between = 3.0, 0.1, 0.05, 0.03

    def price(m: int) -> float:
        return (between**2 + within**2 / m) * (start + one * m)

    best = iterations_per_run(start, one, within, between).iterations
    assert best is not None and abs(best - min(range(1, 100), key=price)) <= 1
    assert iterations_per_run(0.0, 1.0, 0.02, 0.03).iterations == 1
    assert iterations_per_run(1.0, 1.0, 0.0, 0.0).iterations == 1
    assert iterations_per_run(1.0, 1.0, 0.02, 0.0, most=50).iterations == 50
    assert iterations_per_run(1.0, 1.0, 0.02, 0.0).warnings
    assert iterations_per_run(1e9, 1.0, 0.02, 0.02, most=50).iterations == 50
    for wrong in ((-1.0, 1.0, 0.1, 0.1), (1.0, 0.0, 0.1, 0.1), (1.0, 1.0, -0.1, 0.1), (1.0, 1.0, 0.1, math.nan)):
        refuses(ValueError, "found", iterations_per_run, *wrong)


def test_a_pilot_gives_back_its_noise_or_says_what_it_needs() -> None:
    found, notes = spread(list(run_iterations(np.random.default_rng(1), 7.0, 400, 10, LOW)))
    assert notes == () and found is not None and found.within == pytest.approx(0.02, rel=0.05)
    assert found.between == pytest.approx(0.03, rel=0.10)
    found, _ = spread(list(run_iterations(np.random.default_rng(2), 1.0, 4, 50, Noise(0.05, 0.0))))
    assert found is not None and found.between < 0.01 and spread([[1.0, 2.0], [2.0, 1.0]])[0] is not None
    assert spread([])[0] is None and spread([[1.0], [2.0], [1.0, 1.1]])[1][0].endswith("have 1")
    assert spread([[0.0, 1.0], [1.0, 1.0]])[1] == ("an iteration <= 0 has no log: no relative noise",)


def test_baselines_run_more_often_by_the_square_root() -> None:
    assert [baseline_repeats(5, k) for k in (0, 1, 2, 4, 9)] == [5, 5, 8, 10, 15] and baseline_repeats(0, 9) == 0
    refuses(ValueError, "-1", baseline_repeats, -1, 2)
    n, k = 10, 9
    total = k * n + baseline_repeats(n, k)

    def variance(base: int) -> float:
        return 1 / base + k / (total - base)

    best = min(range(1, total), key=variance)
    assert variance(baseline_repeats(n, k)) <= 1.01 * variance(best)


def test_waits_for_half_of_the_plan_and_must_pass_twice() -> None:
    assert Stopping(0.01, 10).first_look == 8 and Stopping(0.01, 100).first_look == 50
    still = [1.0, 1.0001] * 30
    assert not Stopping(0.01, 100).is_precise(still[:50]) and Stopping(0.01, 100).is_precise(still[:51])
    rule = Stopping(0.02, 16)
    wide = [1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2]
    scores = [*wide, *[1.1] * 200]
    passed = [n for n in range(9, len(scores)) if rule.is_precise(scores[:n])]
    first = next(n for n in range(9, len(scores)) if (half_width(scores[:n]) or 1) <= 0.02)
    assert passed[0] == first + 1
    still = [1.0, 1.0001] * 8
    assert Stopping(0.01, FEWEST).is_precise(still[:FEWEST])
    assert not any(Stopping(0.01, FEWEST - 1).is_precise(still[:n]) for n in range(FEWEST))


@pytest.mark.parametrize("scores", [[], [1.0], [0.0] * 20, [-1.0] * 20, [float("nan")] * 20])
def test_what_has_no_interval_is_never_enough(scores: list[float]) -> None:
    assert not Stopping(0.5, 8).is_precise(scores) and half_width(scores) is None


def test_says_how_it_was_stopped_and_what_was_reached() -> None:
    assert SEQUENTIAL in Stopping(0.01, 16).estimate([1.0, 1.01] * 5).warnings
    (told, *_) = [w for w in Stopping(0.01, 16).estimate([1.0, 1.1] * 5).warnings if "asked" in w]
    assert told == "+-1% was asked for, +-3.6% reached after 10 runs"
    assert SEQUENTIAL not in Stopping(0.01, 16).estimate([1.0, 1.1] * 5).warnings
    rule, scores = Stopping(0.01, 16), [1.0, 1.001] * 3
    (told, *_) = [w for w in rule.estimate(scores).warnings if "asked" in w]
    assert told == "+-0.057% reached after 6 runs, as narrow as asked (+-1%); no rule ended them"
    assert (
        not rule.misses_precision(scores) and rule.misses_precision([1.0, 1.1] * 5) and not rule.misses_precision([1.0])
    )
