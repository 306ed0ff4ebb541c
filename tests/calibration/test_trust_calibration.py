"""The short version of benchmarks/statistics_trust.py: healthy studies are believed, and the stated error holds."""

from types import ModuleType

import numpy as np
import pytest

from tests.kit.scripts import Benchmarks


@pytest.fixture(scope="module")
def trust(b: Benchmarks) -> ModuleType:
    return b.statistics_trust


@pytest.mark.parametrize(("n", "studies"), [(1, 40), (10, 15), (138, 2)])
def test_healthy_studies_are_believed(trust: ModuleType, n: int, studies: int) -> None:
    rng = np.random.default_rng([51, n])
    levels = [trust.study(rng, trust.Machine(stolen=0.02), n, 5).trust.level for _ in range(studies)]
    assert levels.count("reliable") >= 0.85 * studies


@pytest.mark.parametrize("n", [3, 46])
def test_studies_half_of_whose_runs_are_slowed_unseen_are_doubted(trust: ModuleType, n: int) -> None:
    rng = np.random.default_rng([52, n])
    slowed = trust.Machine(noise=0.02, slowed=0.5, by=float(np.log(1.3)))
    assert all(trust.study(rng, slowed, n, 10).trust.level == "caution" for _ in range(5))


@pytest.mark.parametrize("costs", [1.0, 6.0])
def test_figures_are_right_within_the_stated_error(trust: ModuleType, costs: float) -> None:
    rng = np.random.default_rng([53, int(costs)])
    percent, _, told = trust.off(trust.Machine(stolen=0.01, costs=costs), 20, 5)(rng, 200)
    assert percent <= 5 and "never" not in told


def test_the_share_is_measured_and_not_assumed(trust: ModuleType) -> None:
    """Slowed by 30% in every run, which nothing can see, the same figures fail: the check can."""
    slowed = trust.Machine(noise=0.02, slowed=1.0, by=float(np.log(1.3)))
    assert trust.off(slowed, 10, 5)(np.random.default_rng(54), 20)[0] > 90
