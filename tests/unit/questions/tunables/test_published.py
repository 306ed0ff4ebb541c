"""What settings offer to the claims of a paper."""

from collections.abc import Mapping

import pytest

from scalograph.analysis.estimate import proportion
from scalograph.questions.tunables.published import quantities
from scalograph.study.catalogue import claims_of
from scalograph.study.declare import declare_shipped
from scalograph.study.scalars import Level
from tests.unit.questions.tunables.test_answer import RATE, document, said, two


def failing(configuration: Mapping[str, Level]) -> float | None:
    return None if configuration["b"] == "on" else two(configuration)


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


def test_the_worst_of_the_other_factors_leaves_out_the_one_that_is_named() -> None:
    offered = quantities(document(said(two, RATE)))["worst_other_gain"]
    beside = {(one.group["a"], one.group["c"]): one.estimate.value for one in offered}
    assert beside[80, 2] == pytest.approx(0.951, abs=0.02), "c 3 is the worst of all"
    assert beside[20, 3] == beside[20, 1] and (beside[20, 3] or 0) > 0.98, "without c nothing is lost"


def test_failures_of_one_setting_alone_can_bear_out_the_claim_about_them() -> None:
    study = declare_shipped("vm-tunables").study
    (claim,) = (one for one in claims_of(declare_shipped("vm-tunables")) if one.id == "S3-3")
    n = study.protocol.runs
    assert (proportion(n, n, n, study.protocol.confidence).low or 0) >= (claim.bounds[0] or 1.0)
