"""The F test and the prediction interval, against noise whose truth is known."""

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from simulate.noise import Noise

from scalograph.machine.floor.floor import consecutive_reference
from scalograph.machine.floor.recheck import compare_median, compare_spread, compare_with_floor
from scalograph.protocol.noise_floor import FloorSpread, Recheck, Reference

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


def alarms(found: Iterable[Recheck]) -> tuple[int, int]:
    """How many say that the noise changed, and how many that the median moved."""
    changed, moved = zip(*((look.changed, look.moved) for look in found), strict=True)
    return sum(word in ("higher", "lower") for word in changed), sum(word in ("slower", "faster") for word in moved)


@pytest.mark.parametrize(("alpha", "low", "high"), [(0.01, 0.003, 0.02), (0.05, 0.03, 0.07)])
def test_false_alarms_are_as_rare_as_asked(alpha: float, low: float, high: float) -> None:
    assert all(low <= n / N <= high for n in alarms(looks(Noise(0, 0.02), 1.0, alpha=alpha)))


def test_a_few_slow_runs_are_no_alarm() -> None:
    """3% of the runs slowed by 10%: degrees of freedom as if logs were normal would cry wolf in about 8%."""
    assert alarms(looks(Noise(0, 0.02, 0.03, 1.1), 1.0))[0] / N <= 0.04


# Noise that is twice as large is seen twice in three times.
@pytest.mark.parametrize(("factor", "slower", "said", "least"), [
    (2, 0, "higher", 0.6), (3, 0, "higher", 0.9), (1 / 4, 0, "lower", 0.9), (1, 0.06, "slower", 0.9),
    (1, -0.06, "faster", 0.9),
])  # fmt: skip
def test_more_and_less_noise_and_time_is_seen(factor: float, slower: float, said: str, least: float) -> None:
    found = looks(Noise(0, 0.02), factor, slower, n=N_CHANGED)
    counts = Counter(word for look in found for word in (look.changed, look.moved))
    assert counts[said] / N_CHANGED >= least
    assert said != "higher" or counts["lower"] <= 1


def test_a_drift_is_no_alarm() -> None:
    """Runs on end share a level that drifts by 2% between stretches: their medians tell what to expect."""
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


# F(0.995; 9, 90) is 2.87: the ratio of the deviations must exceed its root, 1.69.
@pytest.mark.parametrize(("figures", "said"), [
    ((1.0, 90, 1.67, 9), "no"), ((1.0, 90, 1.72, 9), "higher"), ((1.72, 9, 1.0, 90), "lower"),
    *((figures, "unknown") for figures in (
        (0.0, 9, 1.0, 9), (1.0, 9, 0.0, 9), (1.0, 0.5, 9.0, 9), (1.0, 9, math.inf, 9), (1.0, 9, math.nan, 9),
    )),
])  # fmt: skip
def test_f_by_hand(figures: tuple[float, float, float, float], said: str) -> None:
    assert compare_spread(*figures) == said


def test_alpha_must_be_a_probability() -> None:
    with pytest.raises(ValueError, match=r"alpha: found 0, expected a number between 0 and 1"):
        compare_spread(1.0, 9, 1.0, 9, alpha=0)


KEPT = Reference(
    runs=10, spread=FloorSpread(sd_log_percent=1.0, df=90), median_s=0.2, between_log_percent=0.5, n=10
)  # fmt: skip


# t(0.995; 9) = 3.25: 3.25 x 0.5% x sqrt(1 + 1/10) = 1.70%; of five runs, x sqrt(2 + 1/10): 2.36%.
@pytest.mark.parametrize(("factor", "n", "said"), [
    (1.016, 10, "no"), (1.018, 10, "slower"), (1.023, 5, "no"), (1.025, 5, "slower"), (1 / 1.018, 10, "faster"),
    (1, 0, "unknown"),
])  # fmt: skip
def test_moved_by_hand(factor: float, n: int, said: str) -> None:
    assert compare_median(KEPT, 0.2 * factor, n) == said


AWAY = np.array([-1.5, -1.2, -0.8, -0.4, -0.1, 0.1, 0.4, 0.8, 1.2, 1.5])


def look(percent: float, median_s: float = 0.2, n: int = 10, n_disturbed: int = 0) -> Recheck:
    """Ten runs whose logs deviate by so many percent."""
    logs = AWAY / AWAY.std(ddof=1) * percent / 100
    return compare_with_floor(KEPT, "2026-01-02", list(median_s * np.exp(logs))[:n], n_disturbed)


THEN = "on 2026-01-02"


@pytest.mark.parametrize(("percent", "median_s", "changed", "moved", "sentence"), [
    (1.0, 0.2, "no", "no", f"differ by 1%, about the same as the 1% {THEN}"),
    (4.0, 0.22, "higher", "slower", f"differ by 4%, more than the 1% {THEN}; it takes 10% longer than then, beyond "
     "what such runs vary"),
    (0.2, 0.18, "lower", "faster", f"differ by 0.2%, less than the 1% {THEN}; it takes 10% less than then, beyond "
     "what such runs vary"),
])  # fmt: skip
def test_noise_and_median_now(percent: float, median_s: float, changed: str, moved: str, sentence: str) -> None:
    found = look(percent, median_s)
    assert (found.changed, found.moved, found.n, found.df) == (changed, moved, 10, 9)
    assert found.sd_log_percent == pytest.approx(percent)
    assert found.moved_percent == pytest.approx(100 * (median_s / 0.2 - 1), abs=0.01)
    assert found.sentence == f"10 runs of the same work {sentence}"
    assert Recheck.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("n", [0, 1, 4])
def test_too_few_runs_that_count(n: int) -> None:
    found = look(1.0, n=n, n_disturbed=10 - n)
    assert (found.changed, found.moved, found.sd_log_percent, found.df) == ("unknown", "unknown", None, None)
    assert found.sentence.endswith(f"is not known: {n} of 10 runs of the same work count")
    assert Recheck.model_validate_json(found.model_dump_json()) == found


def test_twice_as_slow_is_said_where_the_noise_is_not_known() -> None:
    spread = KEPT.spread.model_copy(update={"kurtosis": 40.0})  # a few outliers: ten runs say nothing of the noise
    found = compare_with_floor(KEPT.model_copy(update={"spread": spread}), "2026-01-02", list(0.4 * np.exp(AWAY / 100)))
    assert (found.changed, found.moved) == ("unknown", "slower")
    assert found.sentence.endswith("work count; it takes 100% longer than then, beyond what such runs vary")
