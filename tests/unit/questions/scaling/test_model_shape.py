from pathlib import Path

import numpy as np
import pytest

from scalograph.protocol.findings import Findings

from ...findings.made import JITTER, ONE_FACTOR, at, found_in
from ...records import recorded


def of(tmp_path: Path, truth: dict[int, float], n_cpus: int) -> Findings:
    cpus = tuple(range(n_cpus))
    made = [({"threads": n}, recorded(j * x, cpus=cpus)) for j in JITTER for n, x in truth.items()]
    return found_in(tmp_path, made, ONE_FACTOR)


@pytest.mark.parametrize("n_cpus", [2, 4, 64])
def test_a_curve_is_held_against_the_cpus_that_it_can_use(tmp_path: Path, n_cpus: int) -> None:
    truth = {n: 1.0 / min(n, n_cpus) for n in (1, 2, 4)}
    told = of(tmp_path, truth, n_cpus).answer[0]
    assert told.startswith("Along threads: 1 of 1 curves that can use more CPUs than their baseline reach 80 %")


def test_a_curve_on_one_cpu_cannot_use_more(tmp_path: Path) -> None:
    assert of(tmp_path, {1: 1.0, 2: 1.0}, 1).answer[0].startswith("Along threads: 0 of 1 curves become slower")


def test_a_fall_needs_its_whole_interval(tmp_path: Path) -> None:
    truth = {1: 1.0, 2: 0.5, 4: 1.6}
    sure = of(tmp_path, truth, 4)
    assert sure.answer[0].endswith("1 of 1 curves become slower than their baseline, 1 of them below 80 % of it.")
    assert "down to 0.625x" in sure.answer[1]
    # Pairs cancel what a block shares: noise of each run for itself is needed.
    rng = np.random.default_rng(3)
    noisy = [
        ({"threads": n}, recorded(x * np.exp(0.8 * rng.standard_normal()))) for _ in range(3) for n, x in truth.items()
    ]
    unsure = found_in(tmp_path, noisy, ONE_FACTOR)
    assert unsure.answer[0].endswith("0 of 1 curves become slower than their baseline.")
    assert "down to" not in unsure.answer[1]


def test_the_best_and_the_worst_are_told_with_the_interval_of_all_levels(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    runs = [
        ({"threads": n}, recorded(float(x * np.exp(0.02 * rng.standard_normal())), cpus=(0, 1, 2, 3)))
        for _ in range(5)
        for n, x in {1: 1.0, 2: 0.5, 4: 0.26}.items()
    ]
    found = found_in(tmp_path, runs, ONE_FACTOR)
    best = at(found, 4)
    assert best.simultaneous and best.speedup and best.simultaneous.low and best.speedup.low
    assert best.simultaneous.low < best.speedup.low
    assert f"[{best.simultaneous.low:.3g}, " in found.answer[1]


def test_a_fall_from_the_peak_that_stays_above_the_baseline_is_told(tmp_path: Path) -> None:
    found = of(tmp_path, {1: 1.0, 2: 0.5, 4: 0.8}, 4)
    assert "at most 2x (threads 2), down to 1.25x" in found.answer[1]
    assert "0 of 1 curves become slower" in found.answer[0]


def test_curves_that_are_flat_hardly_ever_seem_to_fall(tmp_path: Path) -> None:
    """Bands hold for all levels at once, so the choice of the lowest one costs nothing."""
    rng, n_studies = np.random.default_rng(41), 60
    fallen = 0
    for _ in range(n_studies):
        noise = 0.05 * rng.standard_normal((5, 3))
        made = [
            ({"threads": n}, recorded(float(np.exp(x)))) for row in noise for n, x in zip((1, 2, 4), row, strict=True)
        ]
        fallen += "down to" in found_in(tmp_path, made, ONE_FACTOR).answer[1]
    assert fallen / n_studies <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_studies)
