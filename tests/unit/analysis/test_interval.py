"""Interval of one configuration: textbook figures, want of data, and what must not change it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scalograph.analysis.center import score, scores
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from tests.kit.refusals import refuses

positive = st.floats(1e-6, 1e6)
samples = st.lists(positive, min_size=2, max_size=12)
any_scores = st.lists(st.one_of(st.none(), st.floats()), max_size=6)


def test_intervals_are_those_of_scipy_trimmed_or_not() -> None:
    x = [4.1, 3.9, 4.4, 4.0]
    low, high = stats.t.interval(0.95, 3, np.mean(np.log(x)), stats.sem(np.log(x)))
    e = summarize(x)
    assert (e.value, e.low, e.high) == pytest.approx((stats.gmean(x), math.exp(low), math.exp(high)))
    e = summarize(x, 0.9, estimand="mean")
    assert (e.value, e.low, e.high) == pytest.approx((4.1, *stats.t.interval(0.9, 3, 4.1, stats.sem(x))))
    assert e.confidence == 0.9
    assert "4 runs: slow runs that are rarer than 75% can be missing from this mean" in e.warnings
    x = np.exp([0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 1.0, 9.0])
    e = summarize(x, trim=0.2)
    assert e.value == pytest.approx(math.exp(stats.trim_mean(np.log(x), 0.2)))
    assert e == summarize([*x[:-1], 50 * x[-1]], trim=0.2) and "20% trimmed" in e.method


@pytest.mark.parametrize("estimand", ["typical", "mean"])
def test_no_run_one_run_two_runs(estimand: str) -> None:
    none = summarize([], estimand=estimand)  # type: ignore[arg-type]
    assert (none.value, none.low, none.high, none.n) == (None, None, None, 0)
    assert none.warnings == ("no run that counts",)
    one = summarize([3.0], estimand=estimand)  # type: ignore[arg-type]
    assert one.value == pytest.approx(3.0) and (one.low, one.high, one.n) == (None, None, 1)
    assert "need >= 2 runs for an interval, have 1" in one.warnings
    two = summarize([3.0, 3.3], estimand=estimand)  # type: ignore[arg-type]
    assert two.low is not None and two.high is not None and two.low < 3.0 < two.high


def test_missing_scores_are_counted_and_zeros_have_no_logs() -> None:
    e = summarize([1.0, None, math.nan, 1.1, 0.9])
    assert e.n == 3 and e.warnings == ("2 of 5 scores are missing",) and summarize([0.0, None]).value == 0.0
    e = summarize([0.0, 0.0, 0.3])
    assert e.value == pytest.approx(0.1) and e.low is not None and e.low < 0
    assert "2 of 3 scores <= 0, which have no log: plain t interval of the mean" in e.warnings
    assert "mean run" in e.method


def test_identical_few_or_endless_scores_are_warned_of() -> None:
    for value in (0.0, 0.1, 3.0):
        e = summarize([value] * 7)
        assert e.value == pytest.approx(value) and e.low == e.value == e.high
        assert any("identical" in w for w in e.warnings)
    e = summarize([1.0, 1.1, 0.9], trim=0.1)
    plain = summarize([1.0, 1.1, 0.9])
    assert (e.low, e.high) == (plain.low, plain.high)
    assert e.warnings == ("need >= 10 runs to trim 10% at each end, have 3: none trimmed",)
    e = summarize([1e-300, 1e300])
    assert e.high is None and any("no end" in w for w in e.warnings)


@pytest.mark.parametrize("wrong", [{"confidence": 95}, {"estimand": "median"}, {"trim": 0.5}, {"trim": -0.1}])
def test_meaningless_arguments_are_refused(wrong: dict[str, object]) -> None:
    refuses(ValueError, "found", summarize, [1.0, 2.0], **wrong)  # type: ignore[arg-type]
    refuses(ValueError, "one score for each run", summarize, np.ones((2, 2)))


@given(samples, st.floats(1e-3, 1e3), st.sampled_from(["typical", "mean"]))
def test_another_unit_scales_everything(x: list[float], k: float, estimand: str) -> None:
    before = summarize(x, estimand=estimand)  # type: ignore[arg-type]
    after = summarize([k * v for v in x], estimand=estimand)  # type: ignore[arg-type]
    size = max(x) * k
    for one, two in zip(ends(before.rescale(k)), ends(after), strict=True):
        # A relative tolerance alone fails at ends near zero and at spreads that are rounding.
        assert (one is None and two is None) or two == pytest.approx(one, rel=1e-5, abs=1e-9 * size)


@given(samples, st.randoms())
def test_order_does_not_matter(x: list[float], random: object) -> None:
    shuffled = list(x)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ends(summarize(shuffled)) == ends(summarize(x))


@given(samples)
def test_the_value_lies_in_its_interval_and_more_confidence_is_wider(x: list[float]) -> None:
    narrow, wide = summarize(x, 0.8), summarize(x, 0.99)
    assert narrow.value is not None and narrow.low is not None and wide.low is not None
    assert wide.low <= narrow.low <= narrow.value


@given(any_scores)
def test_no_data_make_it_raise(x: list[float | None]) -> None:
    for estimand in ("typical", "mean"):
        e = summarize(x, estimand=estimand)
        assert all(v is None or math.isfinite(v) for v in ends(e))
        assert e.value is not None or e.warnings


def test_score_is_the_median_after_warmup_and_runs_without_one_are_counted() -> None:
    assert score([100.0, 1.0, 2.0, 9.0], warmup=1) == 2.0 and score([None, 1.0, math.nan, 3.0]) == 2.0
    assert score([0.0]) == 0.0 and score([], warmup=0) is None and score([1.0, 2.0], warmup=5) is None
    assert score(np.array([5.0, 7.0]), warmup=0) == 6.0
    refuses(ValueError, "warmup", score, [1.0], warmup=-1)
    assert score([None, 9.0, 1.0], warmup=1) == 5.0
    values, notes = scores([[1.0], [None], []], warmup=0)
    assert values[0] == 1.0 and np.isnan(values[1:]).all()
    assert notes == ("2 of 3 runs without an iteration after a warm-up of 0",) and scores([[0.0]])[1] == ()


@given(st.lists(positive, min_size=1), st.floats(1e-3, 1e3))
def test_a_score_in_another_unit(x: list[float], k: float) -> None:
    assert score([k * v for v in x]) == pytest.approx(k * score(x))  # type: ignore[operator]


def ends(e: Estimate) -> tuple[float | None, float | None, float | None]:
    return e.value, e.low, e.high
