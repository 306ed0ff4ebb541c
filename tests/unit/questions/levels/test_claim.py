"""What a study without speedups says first."""

import numpy as np
import pytest
from msgspec import structs

from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.levels.answer import applies
from scalograph.questions.levels.claim import claim
from scalograph.questions.scaling.truth import Shape, simulate_study
from scalograph.simulate.noise import Noise
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


def test_the_largest_difference_stands_first() -> None:
    found = said(table(flat, lambda n: 2.0 if n == 8 else 1.0))
    assert found.sentences[0].startswith("Wall time goes from ") and "ms" in found.sentences[0]
    assert "with 8 threads to " in found.sentences[0] and "(lock 1)" in found.sentences[0]
    assert found.sentences[1].startswith("Not with lock 0: there every level lies within ")
    assert found.matrix and "8 threads" in found.matrix.columns and found.matrix.unit == "s"


def test_of_a_further_factor_it_is_told_which_level_takes_more() -> None:
    found = said(table(lambda n: 4.0 if n == 8 else 1.0, lambda n: 3.0 if n == 8 else 0.75))
    assert found.sentences[1].startswith("Lock: a run with lock 1 takes 3")
    assert "more wall time than one with lock 0 [" in found.sentences[1]


@pytest.mark.parametrize(
    ("sd", "begins", "answered"),
    [(0.003, "Cannot be told apart: every level lies within ", True), (0.2, "Cannot be said: effects below ", False)],
)
def test_levels_are_alike_only_where_that_is_shown(sd: float, begins: str, answered: bool) -> None:
    found = said(table(flat, flat, sd=sd))
    assert found.sentences[0].startswith(begins) and found.answered is answered


def test_of_work_that_is_the_same_its_noise_is_the_answer() -> None:
    assert (
        said(table(flat, flat, kind="nuisance")).sentences[0].startswith("Runs of a typical configuration differ by 0.")
    )


def alone() -> Table:
    """One configuration."""
    given = table(flat)
    given.configurations[:] = given.configurations[:1]
    given.rows[:] = [row for row in given.rows if row.configuration == given.configurations[0]]
    return given


def test_one_configuration_has_its_figure() -> None:
    found = said(alone())
    assert found.answered and found.sentences[0].startswith("A run takes ")


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
    assert said(given).sentences == ["2 runs took 1.00 to 4.00 s: what is typical is not resolved."]


def test_without_a_run_nothing_is_said() -> None:
    given = table(flat)
    given.rows[:] = []
    assert said(given).sentences == ["Cannot be said: no run was made."]
    given = table(flat)
    given.rows[:] = [structs.replace(row, status="failed", scores={}) for row in given.rows]
    assert said(given).sentences == ["Cannot be said: no run succeeded."]


def test_of_many_configurations_one_is_no_answer() -> None:
    given = table(flat, flat)
    kept = given.rows[0].configuration
    given.rows[:] = [row for row in given.rows if row.configuration == kept]
    assert not said(given).answered


def test_figures_of_zero_are_told_and_not_compared() -> None:
    given = table(flat)
    given.rows[:] = [structs.replace(row, scores=dict.fromkeys(row.scores, 0.0)) for row in given.rows]
    assert said(given).sentences[0] == "Cannot be said: figures of 0 or less have no ratio."


def test_what_is_too_wide_has_no_percentage() -> None:
    told = said(table(flat, flat, sd=5.0)).sentences
    assert told == [
        "Cannot be said: runs differ too much to compare.",
        "Runs of a typical configuration differ more than 10-fold.",
    ]


@pytest.mark.parametrize(
    ("failed", "begins"), [(False, "All 3 runs ended well: one of each"), (True, "2 of 3 runs ended well: one of each")]
)
def test_of_one_run_each_without_times_it_is_told_whether_they_ended_well(failed: bool, begins: str) -> None:
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
    assert found.answered and found.sentences[0].startswith(begins)
    # Two runs of each are compared; with times one run each is too little.
    given.rows[:] = [*functional, *functional]
    assert "ended well" not in said(given).sentences[0]
    given.rows[:] = [structs.replace(row, verdict="clean", causes=[]) for row in functional]
    assert "ended well" not in said(given).sentences[0]
