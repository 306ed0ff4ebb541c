"""How many times as many runs would decide a claim: by how far its intervals have to shrink."""

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.findings.published.claim_texts import run_factor, runs_needed_text
from scalograph.protocol.published_claim import ClaimValue, Decision

OPEN: Decision = "not resolved"


def figure(value: float, low: float | None, high: float | None, decision: Decision = OPEN) -> ClaimValue:
    return ClaimValue(label="", here=Estimate(value, low, high, 0.95, 5, "t"), decision=decision)


@pytest.mark.parametrize(("here", "bounds", "times"), [
    ((1.0, 0.9, 1.1), (0.95, 1.05), 4),
    ((1.0, 0.9, 1.1), (0.95, None), 4),
    ((1.02, 0.96, 1.08), (0.95, 1.05), 4),  # the nearer end
    ((0.9, 0.7, 1.1), (0.95, 1.05), 16),  # outside: until all of it is
    ((1.2, 1.0, 1.4), (None, 1.1), 4),
    ((1.05, 1.0, 1.1), (0.95, 1.05), float("inf")),
])  # fmt: skip
def test_one_figure(here: tuple[float, float, float], bounds: tuple[float | None, float | None], times: float) -> None:
    assert run_factor([figure(*here)], bounds) == pytest.approx(times)


def test_of_several_the_widest_inside_or_the_first_outside_counts() -> None:
    figures = [figure(1.0, 0.9, 1.1), figure(1.0, 0.8, 1.2), figure(1.0, 0.99, 1.01, "holds")]
    assert run_factor(figures, (0.95, 1.05)) == pytest.approx(16)
    figures = [figure(1.0, 0.0, 2.0), figure(1.2, 1.0, 1.4), figure(1.1, 0.5, 1.7)]
    assert run_factor(figures, (0.9, 1.05)) == pytest.approx((0.2 / 0.15) ** 2)
    assert run_factor([figure(1.0, None, 1.1), figure(1.0, 0.9, 1.1)], (0.95, 1.05)) is None
    assert run_factor([figure(1.0, 0.99, 1.01, "holds")], (0.95, 1.05)) is None


@pytest.mark.parametrize(("high", "words"), [
    (1.06, "about twice as many runs may decide it"),
    (1.31, "about 39 times as many runs may decide it"),
    (2.0, "more than 100 times as many runs may be needed"),
    (None, ""),
])  # fmt: skip
def test_it_is_said_in_words(high: float | None, words: str) -> None:
    assert runs_needed_text([figure(1.0, 0.99, high)], (0.95, 1.05)) == words
