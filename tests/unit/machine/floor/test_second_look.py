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


THEN = "on 2026-01-02"


@pytest.mark.parametrize(("percent", "median_s", "changed", "moved", "sentence"), [
    (1.0, 0.2, "no", "no", f"differ by 1 %, about the same as the 1 % {THEN}"),
    (4.0, 0.22, "higher", "slower", f"differ by 4 %, more than the 1 % {THEN}; it takes 10 % longer than then, beyond "
     "what such runs vary"),
    (0.2, 0.18, "lower", "faster", f"differ by 0.2 %, less than the 1 % {THEN}; it takes 10 % less than then, beyond "
     "what such runs vary"),
])  # fmt: skip
def test_noise_and_median_beside_those_of_then(
    percent: float, median_s: float, changed: str, moved: str, sentence: str
) -> None:
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


def test_twice_as_slow_is_said_where_the_noise_is_not_known() -> None:
    spread = KEPT.spread.model_copy(update={"kurtosis": 40.0})  # a few outliers: ten runs say nothing of the noise
    found = compare_with_floor(KEPT.model_copy(update={"spread": spread}), "2026-01-02", list(0.4 * np.exp(AWAY / 100)))
    assert (found.changed, found.moved) == ("unknown", "slower")
    assert found.sentence.endswith("work count; it takes 100 % longer than then, beyond what such runs vary")


def test_it_goes_into_a_journal_and_back() -> None:
    found = look(4.0, n_disturbed=2)
    assert Recheck.model_validate_json(found.model_dump_json()) == found
