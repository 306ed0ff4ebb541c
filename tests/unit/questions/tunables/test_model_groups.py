"""How many times as much one group of factors changes the performance as another one, where the truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from simulate.noise import Noise
from simulate.tunables import TunedProgram, search

from scalograph.questions.tunables.model_fit import SettingFit
from scalograph.questions.tunables.model_groups import (
    MOST_TIMES,
    OPEN_END,
    GroupSpread,
    group_ratio,
    plain_ratio,
    sensitivity,
)
from scalograph.study.model import ONE_AT_A_TIME

# Two factors of four settings each, and three of one: of a standard deviation of 4 and of 1%.
STRONG, WEAK = (0.0, 0.05, -0.05, 0.03, -0.03), (0.0, 0.0141)
MANY, FEW = (0, 1), (2, 3, 4)


def found(*gains: tuple[float, ...], seed: int = 1) -> SettingFit:
    """The fit of five runs of each setting alone, at 1% noise."""
    noise = Noise(within=0.0, between=0.01)
    made = search(TunedProgram(gains), np.random.default_rng(seed), noise, ONE_AT_A_TIME, 5).fit_settings()
    assert made is not None
    return made


def groups(fit: SettingFit) -> tuple[GroupSpread, GroupSpread]:
    return GroupSpread(fit, MANY), GroupSpread(fit, FEW)


def test_a_group_is_the_mean_of_its_factors() -> None:
    fit = found(STRONG, STRONG, WEAK, WEAK, WEAK)
    one, alone = GroupSpread(fit, (0,)).sensitivity, sensitivity(fit, 0)
    assert [one.value, one.plain, one.noise] == pytest.approx([alone.value, alone.plain, alone.noise])
    assert one.most == pytest.approx(alone.most, rel=0.01)
    first, _ = groups(fit)
    assert first.sensitivity.value == pytest.approx(np.mean([sensitivity(fit, j).value for j in MANY]))


def test_the_stronger_group_is_told_and_turned_round_it_is_the_weaker() -> None:
    first, second = groups(found(STRONG, STRONG, WEAK, WEAK, WEAK))
    said, turned = group_ratio(first, second, 0.95, 100), group_ratio(second, first, 0.95, 100)
    assert said.low is not None and 1 < said.low < 4 and said.n == 100
    assert turned.high == pytest.approx(1 / said.low, rel=0.01)
    assert turned.value == pytest.approx(1 / (said.value or 1), rel=0.05)


def test_groups_as_strong_as_each_other_are_not_told_apart() -> None:
    alike = (0.0, 0.0566)  # the standard deviation of both is 4%
    first, second = groups(found(STRONG, STRONG, alike, alike, alike))
    said = group_ratio(first, second, 0.95, 100)
    assert said.contains(1.0) and said.high is not None and said.high < 2


def test_a_group_that_does_nothing_is_no_division_by_zero() -> None:
    first, second = groups(found(STRONG, STRONG, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), seed=5))
    said = group_ratio(first, second, 0.95, 100)
    assert said.low is not None and 2 < said.low <= (said.value or 0) <= MOST_TIMES


def test_what_has_no_noise_at_all_is_known() -> None:
    fit = replace(found(STRONG, STRONG, WEAK, WEAK, WEAK), spread=0.0)
    first, second = groups(fit)
    said = group_ratio(first, second, 0.95, 100)
    assert said.low == pytest.approx(said.high) and said.value == pytest.approx(first.value / second.value, rel=0.01)


def test_without_any_effect_the_interval_is_open_at_both_ends_and_noise_alone_tells_how_sensitive_they_look() -> None:
    """Of a factor of one setting the standard deviation is half the time nearly none; of one of four it hardly is."""
    first, second = groups(found((0.0,) * 5, (0.0,) * 5, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), seed=3))
    said = group_ratio(first, second, 0.95, 100)
    assert (said.low, said.high, said.warnings) == (0.0, None, (OPEN_END,))
    assert 0.1 < float(said) < 10, "the ratio with the noise"
    seen, (low, middle, high) = plain_ratio(first, second)
    assert low < seen < high and middle > 1.1
