"""What a study without speedups says first."""

import re
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from simulate.noise import Noise
from simulate.scaling import Shape, simulate_study

from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, MatrixRow
from scalograph.questions.levels.answer import applies
from scalograph.questions.levels.claim import claim
from scalograph.text.cell_numbers import cell_number, matrix_scale
from scalograph.text.scale import Scale
from scalograph.verdict.cause import Cause
from scalograph.verdict.judge import FUNCTIONAL


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


def cases(found: Claim) -> dict[str, dict[str, Any]]:
    return {case.case: case.values for case in found.cases}


def late(n: float) -> float:
    return 2.0 if n == 8 else 1.0


def slow(n: float) -> float:
    return 1.1 if n == 8 else 1.5


def test_the_largest_difference_stands_first_where_it_is_and_what_is_alike_beside_it() -> None:
    found = said(table(flat, late, flat))
    first = found.cases[0]
    assert first.case == "larger" and first.values["who"] == ["lock 1"] and found.answered
    (ratio,) = first.values["gain"]
    assert ratio.contains(2.0) and first.values["low"] == "8 threads"
    more, less = (quantity.estimate.value for quantity in first.values["values"])
    assert more / less == pytest.approx(2.0, rel=0.02)
    assert cases(found)["beside"]["alike"] == ["lock 0 or 2"] and cases(found)["beside"]["most"] < 0.05
    assert found.matrix and "8 threads" in found.matrix.columns and found.matrix.unit == "s"


def test_a_difference_that_turns_has_one_direction() -> None:
    found = said(table(late, late, slow))
    ((text, (ratio,)),) = cases(found)["beside"]["reversed"]
    assert text == "lock 2" and ratio.value == pytest.approx(1.1 / 1.5, rel=0.02)
    assert {round(e.value, 1) for e in found.cases[0].values["gain"]} == {2.0}
    assert found.cases[0].values["who"] == ["lock 0 or 1"]


def test_of_many_configurations_the_least_and_the_largest_are_told() -> None:
    found = said(table(late, lambda n: 1.5 if n == 8 else 1.0))
    assert found.cases[0].values["who"] == [] and found.cases[0].values["values"] == []
    assert [round(e.value, 1) for e in found.cases[0].values["gain"]] == [1.5, 2.0]


def test_of_a_further_factor_its_largest_difference_is_told() -> None:
    found = said(table(lambda n: 4.0 if n == 8 else 1.0, lambda n: 3.0 if n == 8 else 0.75))
    other = cases(found)["other"]
    assert (other["high"], other["low"]) == ("lock 1", "lock 0")
    assert other["more"].estimate.value / other["less"].estimate.value == pytest.approx(4 / 3, rel=0.02)


@pytest.mark.parametrize(("sd", "case", "answered"), [(0.003, "equivalent", True), (0.2, "open", False)])
def test_levels_are_alike_only_where_that_is_shown(sd: float, case: str, answered: bool) -> None:
    found = said(table(flat, flat, sd=sd))
    assert found.cases[0].case == case and found.answered is answered


def test_of_a_further_factor_without_a_difference_it_is_told_how_large_one_may_be() -> None:
    others = cases(said(table(late, late)))["other factors"]
    assert others["alike"] == ["lock"] and others["most"] < 0.05 and not others["left"]
    others = cases(said(table(lambda n: 9.0 if n == 8 else 1.0, lambda n: 9.0 if n == 8 else 1.0, sd=0.06)))
    assert others["other factors"]["left"] == ["lock"] and others["other factors"]["possible"] > 0.05


def test_of_work_that_is_the_same_its_noise_is_the_answer() -> None:
    first = said(table(flat, flat, kind="nuisance")).cases[0]
    assert first.case == "noise" and first.values["noise"] == pytest.approx(0.003, rel=0.5)


def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows() -> None:
    for shapes in ((flat, late), (late, late, slow), (late, lambda n: 1.5 if n == 8 else 1.0), (late, flat, slow)):
        found = said(table(*shapes))
        assert found.matrix is not None
        cells = {number for row in found.matrix.rows for number in shown(row, matrix_scale(found.matrix))}
        numbers = [text for text in NUMBERS.findall(" ".join(found.sentences)) if "." in text or len(text) > 2]
        assert numbers and {*numbers} <= cells, (found.sentences, cells)


NUMBERS = re.compile(r"(?<![\d.–-])([\d.,]*\d)(?=\N{MULTIPLICATION SIGN}| vs\. \d| m?s\b)")


def shown(row: MatrixRow, scale: Scale) -> list[str]:
    return [(cell.text or cell_number(cell.estimate, scale)).split()[0] for cell in row.cells]


def alone() -> Table:
    """One configuration."""
    given = table(flat)
    given.configurations[:] = given.configurations[:1]
    given.rows[:] = [row for row in given.rows if row.configuration == given.configurations[0]]
    return given


def test_one_configuration_has_its_figure() -> None:
    found = said(alone())
    assert found.answered and found.cases[0].case == "one time" and found.matrix
    assert found.cases[0].values["value"].estimate == found.matrix.rows[0].cells[0].estimate


def test_one_disturbed_configuration_has_its_figures_without_a_claim() -> None:
    given, quiet = alone(), said(alone())
    given.rows[:] = [structs.replace(row, verdict="disturbed") for row in given.rows]
    found = said(given)
    assert not found.answered and found.sentences[0].endswith(" runs were disturbed.") and found.matrix == quiet.matrix


def test_of_runs_that_differ_too_much_their_range_is_told() -> None:
    given = alone()
    given.rows[:] = given.rows[:2]
    far = [structs.replace(row, scores=dict.fromkeys(row.scores, x)) for row, x in zip(given.rows, (1, 4), strict=True)]
    given.rows[:] = far
    assert said(given).sentences == ["Inconclusive: wall time ranges from 1 s to 4 s in 2 runs. Add runs."]


def test_without_a_run_nothing_is_said() -> None:
    given = table(flat)
    given.rows[:] = []
    assert said(given).sentences == ["No answer: no run was made."]
    given = table(flat)
    given.rows[:] = [structs.replace(row, status="failed", scores={}) for row in given.rows]
    assert said(given).sentences == ["No answer: no run succeeded."]


def test_of_many_configurations_one_is_no_answer() -> None:
    given = table(flat, flat)
    kept = given.rows[0].configuration
    given.rows[:] = [row for row in given.rows if row.configuration == kept]
    assert not said(given).answered


def test_figures_of_zero_are_told_and_not_compared() -> None:
    given = table(flat)
    given.rows[:] = [structs.replace(row, scores=dict.fromkeys(row.scores, 0.0)) for row in given.rows]
    assert said(given).sentences == ["No answer: values of 0 or less have no ratio."]


def test_what_is_too_wide_has_no_percentage() -> None:
    assert [case.case for case in said(table(flat, flat, sd=5.0)).cases] == ["too noisy"]


def test_what_no_run_recorded_is_said_with_what_was() -> None:
    given = table(flat)
    given.rows[:] = [structs.replace(row, scores={"cpu": 1.0}) for row in given.rows]
    assert said(given).sentences == ["No answer: wall time was not recorded; recorded: CPU time."]


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
    assert found.answered and cases(found) == {"success": {"n": n, "all": 3}}
    # Two runs of each are compared; with times one run each is too little.
    given.rows[:] = [*functional, *functional]
    assert "success" not in cases(said(given))
    given.rows[:] = [structs.replace(row, verdict="clean", causes=[]) for row in functional]
    assert "success" not in cases(said(given))
