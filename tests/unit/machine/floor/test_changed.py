"""The F test and the prediction interval, against noise whose truth is known."""

import math
from collections import Counter

import numpy as np
import pytest

from scalograph.machine.floor.floor import consecutive_reference
from scalograph.machine.floor.recheck import compare_median, compare_spread, compare_with_floor
from scalograph.protocol.noise_floor import FloorSpread, Recheck, Reference
from scalograph.simulate.noise import Noise

# Of alarms, which are rare, and of changes, most of which are to be seen.
N, N_CHANGED = 1000, 200


def looks(noise: Noise, factor: float, slower: float = 0.0, alpha: float = 0.01, n: int = N) -> list[Recheck]:
    """Floors of a hundred runs, each with a second look of ten whose noise is `factor` times as large."""
    rng = np.random.default_rng(20262)
    found = []
    for _ in range(n):
        kept = consecutive_reference(list(np.exp(noise.run_logs(rng, (100,)))))
        assert kept is not None
        now = np.exp(slower + factor * noise.run_logs(rng, (10,)))
        found.append(compare_with_floor(kept, "then", list(now), alpha=alpha))
    return found


@pytest.mark.parametrize(("alpha", "low", "high"), [(0.01, 0.003, 0.02), (0.05, 0.03, 0.07)])
def test_false_alarms_are_as_rare_as_asked(alpha: float, low: float, high: float) -> None:
    found = looks(Noise(0, 0.02), 1.0, alpha=alpha)
    assert low <= sum(look.changed in ("higher", "lower") for look in found) / N <= high
    assert low <= sum(look.moved in ("slower", "faster") for look in found) / N <= high


def test_a_few_slow_runs_are_no_alarm() -> None:
    """3 % of the runs slowed by 10 %: degrees of freedom as if logs were normal would cry wolf in about 8 %."""
    found = looks(Noise(0, 0.02, 0.03, 1.1), 1.0)
    assert sum(look.changed in ("higher", "lower") for look in found) / N <= 0.04


def changed(factor: float) -> Counter[str]:
    """What a second look says of noise that is so many times as large."""
    return Counter(look.changed for look in looks(Noise(0, 0.02), factor, n=N_CHANGED))


def test_noise_twice_as_large_is_seen_twice_in_three_times() -> None:
    counts = changed(2.0)
    assert counts["higher"] / N_CHANGED >= 0.6 and counts["lower"] <= 1
    assert changed(3.0)["higher"] / N_CHANGED >= 0.9


def test_less_noise_is_seen_too() -> None:
    assert changed(1 / 4)["lower"] / N_CHANGED >= 0.9


@pytest.mark.parametrize(("slower", "said"), [(0.06, "slower"), (-0.06, "faster")])
def test_work_that_takes_longer_is_seen(slower: float, said: str) -> None:
    found = looks(Noise(0, 0.02), 1.0, slower=slower, n=N_CHANGED)
    assert Counter(look.moved for look in found)[said] / N_CHANGED >= 0.9


def test_a_drift_is_no_alarm() -> None:
    """Runs on end share a level that drifts by 2 % between stretches: their medians tell what to expect."""
    rng = np.random.default_rng(20263)
    alarms = 0
    for _ in range(N):
        levels = np.repeat(rng.normal(0, 0.02, 11), 10)
        runs = list(np.exp(levels + rng.normal(0, 0.01, 110)))
        kept = consecutive_reference(runs[:100])
        assert kept is not None and kept.spread.sd_log_percent < 1.5
        look = compare_with_floor(kept, "then", runs[100:])
        alarms += look.changed in ("higher", "lower") or look.moved in ("slower", "faster")
    assert alarms / N <= 0.04


def test_f_by_hand() -> None:
    """F(0.995; 9, 90) is 2.87: the ratio of the deviations must exceed its root, 1.69."""
    assert compare_spread(1.0, 90, 1.67, 9) == "no"
    assert compare_spread(1.0, 90, 1.72, 9) == "higher"
    assert compare_spread(1.72, 9, 1.0, 90) == "lower"


@pytest.mark.parametrize(
    "figures", [(0.0, 9, 1.0, 9), (1.0, 9, 0.0, 9), (1.0, 0.5, 9.0, 9), (1.0, 9, math.inf, 9), (1.0, 9, math.nan, 9)]
)
def test_unknown_is_said(figures: tuple[float, float, float, float]) -> None:
    assert compare_spread(*figures) == "unknown"


def test_alpha_must_be_a_probability() -> None:
    with pytest.raises(ValueError, match=r"alpha: found 0, expected a number between 0 and 1"):
        compare_spread(1.0, 9, 1.0, 9, alpha=0)


KEPT = Reference(
    runs=10, spread=FloorSpread(sd_log_percent=1.0, df=90), median_s=0.2, between_log_percent=0.5, n=10
)  # fmt: skip


def test_moved_by_hand() -> None:
    """t(0.995; 9) = 3.25: 3.25 x 0.5 % x sqrt(1 + 1/10) = 1.70 %; of five runs, x sqrt(2 + 1/10): 2.36 %."""
    assert (compare_median(KEPT, 0.2 * 1.016, 10), compare_median(KEPT, 0.2 * 1.018, 10)) == ("no", "slower")
    assert (compare_median(KEPT, 0.2 * 1.023, 5), compare_median(KEPT, 0.2 * 1.025, 5)) == ("no", "slower")
    assert compare_median(KEPT, 0.2 / 1.018, 10) == "faster"
    assert compare_median(KEPT, 0.2, 0) == "unknown"
