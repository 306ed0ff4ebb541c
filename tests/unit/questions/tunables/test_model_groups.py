"""How much more one group of factors changes the performance than another; what is said of groups and offered."""

from dataclasses import replace

import numpy as np
import pytest
from simulate.noise import Noise
from simulate.tunables import TunedProgram, search

from scalograph.findings.answer import Answer
from scalograph.findings.table import Table
from scalograph.questions.tunables.chart import sensitivity_figures
from scalograph.questions.tunables.document import Tunables
from scalograph.questions.tunables.model_fit import SettingFit
from scalograph.questions.tunables.model_groups import (
    MOST_TIMES,
    OPEN_END,
    GroupSpread,
    group_ratio,
    plain_ratio,
    sensitivity,
)
from scalograph.questions.tunables.published import quantities
from scalograph.questions.tunables.tables import tunables_tables
from scalograph.study.model import ONE_AT_A_TIME
from scalograph.study.published_claim import CONTRAST
from tests.unit.questions.tunables.test_answer import RATE, document, said, study, two

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


def test_a_group_is_the_mean_of_its_factors_and_turned_round_it_is_the_weaker() -> None:
    fit = found(STRONG, STRONG, WEAK, WEAK, WEAK)
    one, alone = GroupSpread(fit, (0,)).sensitivity, sensitivity(fit, 0)
    assert [one.value, one.plain, one.noise] == pytest.approx([alone.value, alone.plain, alone.noise])
    assert one.most == pytest.approx(alone.most, rel=0.01)
    first, _ = groups(fit)
    assert first.sensitivity.value == pytest.approx(np.mean([sensitivity(fit, j).value for j in MANY]))
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


def test_a_group_that_does_nothing_or_has_no_noise_is_no_division_by_zero() -> None:
    first, second = groups(found(STRONG, STRONG, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), seed=5))
    said = group_ratio(first, second, 0.95, 100)
    assert said.low is not None and 2 < said.low <= (said.value or 0) <= MOST_TIMES
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


# The factors that matter are of one group, the idle ones of another.
OF = {"a": "writing", "c": "writing", "b": "caches", "d": "caches"}


@pytest.fixture(scope="module")
def grouped() -> Answer:
    return said(two, RATE, group_of=OF)


def test_groups_are_told_with_their_factors_and_beside_noise_alone(grouped: Answer) -> None:
    found = document(grouped)
    assert {one.group: one.factors for one in found.groups} == {"writing": ["a", "c"], "caches": ["b", "d"]}
    writing, caches = found.groups
    assert writing.sensitivity > 4 * writing.sensitivity_noise and caches.sensitivity <= 2 * caches.sensitivity_noise
    (contrast,) = found.contrasts
    assert (contrast.first, contrast.second) == ("writing", "caches")
    assert (contrast.ratio.low or 0) > 2 and contrast.plain > contrast.plain_noise[2]


def test_a_sentence_says_of_which_group_the_factors_change_more_or_that_none_is(grouped: Answer) -> None:
    (told,) = [text for text in grouped.sentences if "average" in text]
    assert told.startswith("On average a factor of writing changes the rate ")
    assert "× as much as one of caches [" in told and told.endswith("].")
    found = said(lambda _: 1.0, group_of=OF)
    assert [text for text in found.sentences if text.startswith("Inconclusive: on average a factor of writing ")]


def test_tables_have_groups_and_their_contrast(grouped: Answer) -> None:
    made = tunables_tables(Table(study(RATE, OF), "h", {}, [], [], []), document(grouped))
    tables = {one.id: [row[:2] for row in one.rows] for one in made}
    assert tables["tunables-groups"] == [["writing", "dirty ratio and c"], ["caches", "b and d"]]
    assert tables["tunables-contrasts"][0] == ["writing", "caches"]


def test_claims_may_ask_for_either_group_over_the_other(grouped: Answer) -> None:
    offered = {one.of_groups: one.estimate for one in quantities(document(grouped))[CONTRAST]}
    over, under = offered["writing", "caches"], offered["caches", "writing"]
    assert over.low is not None and under.high == pytest.approx(1 / over.low)


def test_studies_without_groups_or_of_too_few_runs_say_nothing_of_them() -> None:
    found = said(two, RATE, most=40)
    part = document(found)
    assert not part.groups and CONTRAST not in quantities(part) and "groups" not in part.model_dump()
    assert not [text for text in found.sentences if "average" in text]
    found: Tunables = document(said(two, RATE, most=6, group_of=OF))
    assert found.groups == [] and found.contrasts == []


def test_bars_of_a_group_stand_together_in_its_color(grouped: Answer) -> None:
    part = document(grouped)
    (drawn,) = sensitivity_figures(part, {one.factor: one.factor for one in part.factors})
    _, writing, caches = drawn.views[0].plots[0].data
    assert (writing["marker"]["color"], caches["marker"]["color"]) == ("line-0", "line-1")
    assert min(writing["y"]) > max(caches["y"]) and drawn.caption.endswith(" From the top: writing and caches.")
