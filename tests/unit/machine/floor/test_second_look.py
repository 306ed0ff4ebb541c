import numpy as np
import pytest

from scalograph.machine.floor.recheck import compare_with_floor
from scalograph.protocol.noise_floor import Recheck
from tests.unit.machine.floor.test_changed import KEPT

AWAY = np.array([-1.5, -1.2, -0.8, -0.4, -0.1, 0.1, 0.4, 0.8, 1.2, 1.5])


def look(percent: float, median_s: float = 0.2, n: int = 10, n_disturbed: int = 0) -> Recheck:
    """Ten runs whose logs deviate by so many percent."""
    logs = AWAY / AWAY.std(ddof=1) * percent / 100
    return compare_with_floor(KEPT, "2026-01-02", list(median_s * np.exp(logs))[:n], n_disturbed)


def test_no_change() -> None:
    found = look(1.0)
    assert (found.changed, found.moved, found.n, found.df) == ("no", "no", 10, 9)
    assert found.sd_log_percent == pytest.approx(1.0)
    assert found.sentence == "10 runs of the same work differ by 1 %, about the same as the 1 % on 2026-01-02"


def test_more_noise_and_longer() -> None:
    found = look(4.0, 0.22)
    assert (found.changed, found.moved) == ("higher", "slower")
    assert found.moved_percent == pytest.approx(10, abs=0.01)
    assert found.sentence == (
        "10 runs of the same work differ by 4 %, more than the 1 % on 2026-01-02; "
        "it takes 10 % longer than then, beyond what such runs vary"
    )


def test_less_noise_and_faster() -> None:
    found = look(0.2, 0.18)
    assert (found.changed, found.moved) == ("lower", "faster")
    assert "less than the 1 %" in found.sentence and "it takes 10 % less than then" in found.sentence


@pytest.mark.parametrize("n", [0, 1, 4])
def test_too_few_runs_that_count(n: int) -> None:
    found = look(1.0, n=n, n_disturbed=10 - n)
    assert (found.changed, found.moved, found.sd_log_percent, found.df) == ("unknown", "unknown", None, None)
    assert found.sentence.endswith(f"is not known: {n} of 10 runs of the same work count")


def test_twice_as_slow_is_said_where_the_noise_is_not_known() -> None:
    spread = KEPT.spread.model_copy(update={"kurtosis": 40.0})  # a few outliers: ten runs say nothing of the noise
    found = compare_with_floor(KEPT.model_copy(update={"spread": spread}), "2026-01-02", list(0.4 * np.exp(AWAY / 100)))
    assert (found.changed, found.moved) == ("unknown", "slower")
    assert found.sentence.endswith("work count; it takes 100 % longer than then, beyond what such runs vary")


def test_it_goes_into_a_journal_and_back() -> None:
    found = look(4.0, n_disturbed=2)
    assert Recheck.model_validate_json(found.model_dump_json()) == found
