"""What settings offer to the claims of a paper."""

from collections.abc import Mapping

import pytest

from scalograph.questions.tunables.published import quantities
from scalograph.study.scalars import Level

from .test_answer import RATE, document, said, two


def failing(treatment: Mapping[str, Level]) -> float | None:
    return None if treatment["b"] == "on" else two(treatment)


def test_best_and_worst_are_intervals_and_ranks_are_of_factors() -> None:
    found = quantities(document(said(two, RATE)))
    best, worst = (found[name][0].estimate for name in ("best_gain", "worst_gain"))
    assert best.value == pytest.approx(1.062, abs=0.02) and worst.value == pytest.approx(0.951, abs=0.02)
    ranks = {tuple(one.group.items()): one.estimate for one in found["sensitivity_rank"]}
    alone = {"a": 80, "b": "off", "c": 2, "d": 1}
    first = ranks[tuple(alone.items())]
    assert first.low is not None and first.low <= (first.value or 0) <= 2 and first.high == 2
    assert all(one.estimate.value is None for one in found["failed_share"]), "no run failed"


def test_failures_are_shares_of_all_of_them() -> None:
    found = quantities(document(said(failing)))
    shares = {one.group["b"]: one.estimate.value for one in found["failed_share"] if one.group["a"] == 20}
    assert shares["on"] == 1.0 and shares["off"] == 0.0
