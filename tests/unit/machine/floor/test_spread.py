import math

import numpy as np
import pytest

from scalograph.machine.floor.floor import detectable_effects, effective_df, spread
from scalograph.simulate.noise import Noise


def test_spread_by_hand() -> None:
    """Logs -2 .. 2 % twice, at other means: squares 20 over 8 degrees of freedom."""
    logs = np.array([-2, -1, 0, 1, 2]) / 100
    found = spread([list(np.exp(logs)), list(np.exp(logs + 5))])
    assert found is not None and found.low is not None and found.high is not None
    assert found.sd_log_percent == pytest.approx(math.sqrt(20 / 8))
    assert found.df == 8  # kurtosis 1.7 is below that of normal logs: worth no more than its runs
    assert found.kurtosis == pytest.approx(10 * 2 * 34 / 400)
    # Chi-square of 8: 2.180 and 17.535.
    assert (found.low, found.high) == pytest.approx((math.sqrt(20 / 17.535), math.sqrt(20 / 2.180)), rel=1e-3)


@pytest.mark.parametrize("groups", [[], [[1.0]], [[1.0, 1.1, 1.2, 1.3]], [[2.0] * 9], [[1.0]] * 9])
def test_too_little_to_tell(groups: list[list[float]]) -> None:
    assert spread(groups) is None


def test_runs_that_stick_out_are_worth_less() -> None:
    assert [effective_df(n, kurtosis) for n, kurtosis in ((10, 3.0), (10, 2.0), (1, 3.0))] == [9, 9, 0]
    assert effective_df(10, 30.0) == pytest.approx(20 / (30 - 7 / 9))


def test_the_interval_covers() -> None:
    """Nominal 95 %: of normal runs, and of runs of which a few are slowed, where the plain one covers far less."""
    rng = np.random.default_rng(20261)
    for noise, true, least in ((Noise(0, 0.02), 0.02, 0.93), (Noise(0, 0.02, 0.03, 1.1), 0.0258, 0.88)):
        samples = np.exp(noise.run_logs(rng, (1000, 100)))
        found = [spread([list(sample)]) for sample in samples]
        inside = [f for f in found if f and f.low and f.high and f.low <= 100 * true <= f.high]
        assert least <= len(inside) / 1000 <= 0.985


def test_what_can_be_seen() -> None:
    """A log effect of 9.1 % (methods: sd 3 %, 3 runs of each) is a ratio of exp(0.091)."""
    found = detectable_effects(3.0)
    assert found == pytest.approx({3: 9.53, 5: 6.29, 10: 4.11, 20: 2.75}, abs=0.06)
    assert detectable_effects(3.0, (1,)) == {}
