"""What is said of groups of factors whose effects are known, and what they offer to claims."""

import pytest

from scalograph.findings.answer import Answer
from scalograph.findings.table import Table
from scalograph.questions.tunables.chart import sensitivity_figures
from scalograph.questions.tunables.document import Tunables
from scalograph.questions.tunables.published import quantities
from scalograph.questions.tunables.tables import tunables_tables
from scalograph.study.published_claim import CONTRAST
from tests.unit.questions.tunables.test_answer import RATE, document, said, study, two

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


def test_a_sentence_says_of_which_group_the_factors_change_more(grouped: Answer) -> None:
    (told,) = [text for text in grouped.sentences if "average" in text]
    assert told.startswith("On average a factor of writing changes the rate ")
    assert "× as much as one of caches [" in told and told.endswith("].")


def test_what_is_not_resolved_is_said() -> None:
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


def test_a_study_without_groups_says_nothing_of_them() -> None:
    found = said(two, RATE, most=40)
    part = document(found)
    assert not part.groups and CONTRAST not in quantities(part) and "groups" not in part.model_dump()
    assert not [text for text in found.sentences if "average" in text]


def test_too_few_runs_compare_no_groups() -> None:
    found: Tunables = document(said(two, RATE, most=6, group_of=OF))
    assert found.groups == [] and found.contrasts == []


def test_bars_of_a_group_stand_together_in_its_color(grouped: Answer) -> None:
    part = document(grouped)
    (drawn,) = sensitivity_figures(part, {one.factor: one.factor for one in part.factors})
    _, writing, caches = drawn.views[0].plots[0].data
    assert (writing["marker"]["color"], caches["marker"]["color"]) == ("line-0", "line-1")
    assert min(writing["y"]) > max(caches["y"]) and drawn.caption.endswith(" From the top: writing and caches.")
