"""What a study without speedups says first."""

from typing import Any

import numpy as np
import pytest
from msgspec import structs
from simulate.noise import Noise
from simulate.scaling import Shape, simulate_study

from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.levels.answer import applies
from scalograph.questions.levels.claim import claim
from scalograph.verdict.cause import Cause
from scalograph.verdict.judge import FUNCTIONAL
from tests.kit.findings import cases_of
from tests.kit.shown_numbers import check_numbers


def flat(n: float) -> float:
    return 1.0


def table(*shapes: Shape, sd: float = 0.003, kind: str = "workload") -> Table:
    """Times without a baseline: of a configuration, one over its shape at so many threads."""
    made = simulate_study(np.random.default_rng(2), shapes, Noise(0.0, sd))
    factors = {name: factor.model_copy(update={"declared_kind": kind}) for name, factor in made.study.factors.items()}
    made.study = made.study.model_copy(update={"baseline": {}, "factors": factors})
    return made


def said(given: Table) -> Claim:
    assert applies(given) is None
    return claim(given, samples_by_configuration(given))


def late(n: float) -> float:
    return 2.0 if n == 8 else 1.0


def slow(n: float) -> float:
    return 1.1 if n == 8 else 1.5


def later(n: float) -> float:
    return 1.5 if n == 8 else 1.0


def test_the_largest_difference_stands_first_where_it_is_and_what_is_alike_beside_it() -> None:
    found = said(table(flat, late, flat))
    first, beside = found.cases[0], cases_of(found)["beside"]
    assert first.case == "larger" and first.values["who"] == ["lock 1"] and found.answered
    (ratio,) = first.values["gain"]
    assert ratio.contains(2.0) and first.values["low"] == "8 threads"
    more, less = (quantity.estimate.value for quantity in first.values["values"])
    assert more / less == pytest.approx(2.0, rel=0.02)
    assert beside["alike"] == ["lock 0 or 2"] and beside["most"] < 0.05
    assert found.matrix and "8 threads" in found.matrix.columns and found.matrix.unit == "s"


def test_a_difference_that_turns_has_one_direction() -> None:
    found = said(table(late, late, slow))
    ((text, (ratio,)),) = cases_of(found)["beside"]["reversed"]
    assert text == "lock 2" and ratio.value == pytest.approx(1.1 / 1.5, rel=0.02)
    assert {round(e.value, 1) for e in found.cases[0].values["gain"]} == {2.0}
    assert found.cases[0].values["who"] == ["lock 0 or 1"]


def test_of_many_configurations_and_of_a_further_factor_the_largest_difference_is_told() -> None:
    first = said(table(late, later)).cases[0]
    assert first.values["who"] == first.values["values"] == []
    assert [round(e.value, 1) for e in first.values["gain"]] == [1.5, 2.0]
    other = cases_of(said(table(lambda n: 4.0 if n == 8 else 1.0, lambda n: 3.0 if n == 8 else 0.75)))["other"]
    assert (other["high"], other["low"]) == ("lock 1", "lock 0")
    assert other["more"].estimate.value / other["less"].estimate.value == pytest.approx(4 / 3, rel=0.02)
    # One without a difference: how large it may be.
    others = cases_of(said(table(late, late)))["other factors"]
    assert others["alike"] == ["lock"] and others["most"] < 0.05 and not others["left"]
    wide = table(lambda n: 9.0 if n == 8 else 1.0, lambda n: 9.0 if n == 8 else 1.0, sd=0.06)
    others = cases_of(said(wide))["other factors"]
    assert others["left"] == ["lock"] and others["possible"] > 0.05


@pytest.mark.parametrize("shapes", [(flat, late), (late, late, slow), (late, later), (late, flat, slow)])
def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(shapes: tuple[Shape, ...]) -> None:
    check_numbers(said(table(*shapes)))


def alone() -> Table:
    """One configuration."""
    given = table(flat)
    given.configurations[:] = given.configurations[:1]
    given.rows[:] = [row for row in given.rows if row.configuration == given.configurations[0]]
    return given


def only(given: Table, n_rows: int | None = None, **changes: object) -> Table:
    """The same table of fewer rows, changed in this."""
    given.rows[:] = [structs.replace(row, **changes) for row in given.rows[:n_rows]]
    return given


NO_RATIO = "No answer: values of 0 or less have no ratio."
OTHER = "No answer: wall time was not recorded; recorded: CPU time."


@pytest.mark.parametrize(
    ("given", "expected", "answered"),
    [
        (table(flat, flat), "equivalent", True),
        (table(flat, flat, sd=0.2), "open", False),
        (table(flat, flat, kind="nuisance"), "noise", True),
        (alone(), "one time", True),
        (only(table(flat), 0), "No answer: no run was made.", False),
        (only(table(flat), status="failed", scores={}), "No answer: no run succeeded.", False),
        (only(table(flat), scores={"wall": 0.0}), NO_RATIO, False),
        (only(table(flat), scores={"cpu": 1.0}), OTHER, False),
        (table(flat, flat, sd=5.0), "too noisy", False),
    ],
    ids=["alike", "not shown to be", "of the same work", "one", "no run", "no success", "zero", "other", "too wide"],
)
def test_what_is_said_first(given: Table, expected: str, answered: bool) -> None:
    found = said(given)
    assert found.answered is answered
    assert found.sentences == [expected] if expected.endswith(".") else found.cases[0].case == expected
    values: dict[str, Any] = found.cases[0].values if found.cases else {}
    if expected == "noise":
        assert values["noise"] == pytest.approx(0.003, rel=0.5)
    elif expected == "one time":
        assert found.matrix and values["value"].estimate == found.matrix.rows[0].cells[0].estimate
    assert expected != "too noisy" or len(found.cases) == 1


def test_disturbed_runs_or_too_different_ones_have_values_and_no_claim() -> None:
    found = said(only(alone(), verdict="disturbed"))
    assert not found.answered and found.sentences[0].endswith(" runs were disturbed.")
    assert found.matrix == said(alone()).matrix
    given = only(alone(), 2)
    given.rows[:] = [
        structs.replace(row, scores=dict.fromkeys(row.scores, x)) for row, x in zip(given.rows, (1, 4), strict=True)
    ]
    assert said(given).sentences == ["Inconclusive: wall time ranges from 1 s to 4 s in 2 runs. Add runs."]
    given = table(flat, flat)
    given.rows[:] = [row for row in given.rows if row.configuration == given.rows[0].configuration]
    assert not said(given).answered


@pytest.mark.parametrize(("failed", "n"), [(False, 3), (True, 2)])
def test_of_one_run_each_without_times_it_is_told_whether_they_succeeded(failed: bool, n: int) -> None:
    given = table(flat)
    first = {tuple(row.configuration.items()): row for row in reversed(given.rows)}
    functional = [
        structs.replace(row, verdict="unverified", causes=[Cause("functional", None, "", FUNCTIONAL)])
        for row in [*first.values()][:3]
    ]
    given.rows[:] = functional
    if failed:
        given.rows[1] = structs.replace(functional[1], status="failed", verdict="failed", causes=[], scores={})
    found = said(given)
    assert found.answered and cases_of(found) == {"success": {"n": n, "all": 3}}
    # Two runs of each are compared; with times one run each is too little.
    given.rows[:] = [*functional, *functional]
    assert "success" not in cases_of(said(given))
    given.rows[:] = [structs.replace(row, verdict="clean", causes=[]) for row in functional]
    assert "success" not in cases_of(said(given))
