"""The short version of benchmarks/statistics_trust.py: healthy studies are believed, and the stated error holds."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from tests.kit import ROOT

FOLDER = ROOT / "benchmarks"


@pytest.fixture(scope="module")
def b() -> Iterator[ModuleType]:
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("statistics_trust")
    sys.modules.pop("statistics_trust", None)
    patch.undo()


@pytest.mark.parametrize(("n", "studies"), [(1, 40), (10, 15), (138, 2)])
def test_healthy_studies_are_believed(b: ModuleType, n: int, studies: int) -> None:
    rng = np.random.default_rng([51, n])
    levels = [b.study(rng, b.Machine(stolen=0.02), n, 5).trust.level for _ in range(studies)]
    assert levels.count("believe") >= 0.85 * studies


@pytest.mark.parametrize("n", [3, 46])
def test_studies_half_of_whose_runs_are_slowed_unseen_are_doubted(b: ModuleType, n: int) -> None:
    rng = np.random.default_rng([52, n])
    slowed = b.Machine(noise=0.02, slowed=0.5, by=float(np.log(1.3)))
    assert all(b.study(rng, slowed, n, 10).trust.level == "doubt" for _ in range(5))


@pytest.mark.parametrize("costs", [1.0, 6.0])
def test_figures_are_right_within_the_stated_error(b: ModuleType, costs: float) -> None:
    rng = np.random.default_rng([53, int(costs)])
    percent, _, told = b.off(b.Machine(stolen=0.01, costs=costs), 20, 5)(rng, 200)
    assert percent <= 5 and "never" not in told


def test_the_share_is_measured_and_not_assumed(b: ModuleType) -> None:
    """Slowed by 30 % in every run, which nothing can see, the same figures fail: the check can."""
    slowed = b.Machine(noise=0.02, slowed=1.0, by=float(np.log(1.3)))
    assert b.off(slowed, 10, 5)(np.random.default_rng(54), 20)[0] > 90
