"""The short versions of benchmarks/statistics_{compare,aa_drift}.py: only what differs seems to differ."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from simulate.noise import HIGH, LOW, Noise
from simulate.runs import Order, aa_tests, sweep
from simulate.two_studies import Place

from scalograph.analysis.comparisons import compare
from scalograph.analysis.speedup_points import speedup
from tests.calibration.sequential import is_share
from tests.kit.scripts import Benchmarks

Answers = Callable[..., Iterator[str]]


@pytest.fixture
def answers(b: Benchmarks) -> Answers:
    """What is said of one pair of studies after the other."""

    def told(
        effect: float, place: Place = "level", disturbed: float = 0.0, margin: float | None = None
    ) -> Iterator[str]:
        rng, compare = np.random.default_rng([29, int(1000 * effect)]), b.statistics_compare
        while True:
            yield compare.said(*compare.pair(rng, effect, place, LOW, 10, disturbed), margin).answer

    return told


@pytest.mark.parametrize("disturbed", [0.0, 0.33])
def test_what_did_not_change_is_seldom_called_slower(answers: Answers, disturbed: float) -> None:
    assert is_share((word == "slower" for word in answers(0.0, disturbed=disturbed)), 0.05, 0.20) is True


def test_five_percent_are_found_unless_most_runs_were_disturbed(answers: Answers) -> None:
    assert is_share((word == "slower" for word in answers(0.05)), 0.95, 0.80) is True
    assert is_share((word == "slower" for word in answers(0.05, "sigma")), 0.90, 0.65) is True
    assert is_share((word == "slower" for word in answers(0.05, "kappa")), 0.80, 0.50) is True
    told = answers(0.10, disturbed=0.75)
    assert {next(told) for _ in range(20)} == {"inconclusive"}


NOISES = pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])


def false_share(noise: Noise, order: Order, *, paired: bool, n: int = 10, drift: float = 0.06) -> float:
    rng = np.random.default_rng([21, n])
    a, b = aa_tests(rng, 1000, n, order=order, drift_total=drift, noise=noise)
    found = [compare(x, y, paired=paired).p_value for x, y in zip(a, b, strict=True)]
    return sum(p is not None and p < 0.05 for p in found) / len(found)


@NOISES
@pytest.mark.parametrize("n", [3, 5, 10])
def test_randomized_pairs_keep_false_positives_at_6_percent(noise: Noise, n: int) -> None:
    assert false_share(noise, "randomized", paired=True, n=n) <= 0.06


def test_all_of_a_before_all_of_b_does_not() -> None:
    assert 0.45 < false_share(LOW, "blocked", paired=False) < 0.65
    assert false_share(LOW, "blocked", paired=False, drift=0.0) <= 0.06


def test_pairs_see_more_than_independent_samples_under_a_drift() -> None:
    rng = np.random.default_rng(22)
    a, b = aa_tests(rng, 300, 10, drift_total=0.06, noise=LOW)
    effects = []
    for way in (True, False):
        found = [compare(x, y, paired=way) for x, y in zip(a, b, strict=True)]
        effects.append(np.median([c.minimum_detectable_effect or 0.0 for c in found]))
    assert effects[0] < 0.95 * effects[1]


@NOISES
def test_differences_below_the_margin_are_hardly_ever_called(noise: Noise) -> None:
    a, b = aa_tests(np.random.default_rng(23), 1000, 10, drift_total=0.06, noise=noise)
    labels = [compare(x, y, paired=True, margin=0.01).label for x, y in zip(a, b, strict=True)]
    assert sum(word in ("faster", "slower") for word in labels) <= 0.03 * len(labels)


def test_no_level_of_a_flat_table_seems_to_differ() -> None:
    rng, n_tables, wrong = np.random.default_rng(24), 150, 0
    for _ in range(n_tables):
        scores, blocks = sweep(rng, dict.fromkeys((1, 2, 4, 8, 16), 1.0), 5, drift_total=0.06)
        points = speedup(scores, blocks=blocks)
        wrong += not all(p.simultaneous.contains(1.0) for p in points)
    assert wrong / n_tables <= 0.06 + 2 * np.sqrt(0.05 * 0.95 / n_tables)
