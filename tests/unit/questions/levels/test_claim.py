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


def test_the_largest_difference_stands_first_and_then_which_level_of_a_further_factor_takes_more() -> None:
    found = said(table(flat, lambda n: 2.0 if n == 8 else 1.0))
    assert found.sentences[0].startswith("Wall time goes from ") and "ms" in found.sentences[0]
    assert "with 8 threads to " in found.sentences[0] and "(lock 1)" in found.sentences[0]
    assert found.sentences[1].startswith("Not with lock 0: there every level lies within ")
    assert found.matrix and "8 threads" in found.matrix.columns and found.matrix.unit == "s"
    found = said(table(lambda n: 4.0 if n == 8 else 1.0, lambda n: 3.0 if n == 8 else 0.75))
    assert found.sentences[1].startswith("Lock: a run with lock 1 takes 3")
    assert "more wall time than one with lock 0 [" in found.sentences[1]


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


NOISE = "Runs of a typical configuration differ "


@pytest.mark.parametrize(
    ("given", "begins", "answered"),
    [
        (table(flat, flat), "Cannot be told apart: every level lies within ", True),
        (table(flat, flat, sd=0.2), "Cannot be said: effects below ", False),
        (table(flat, flat, kind="nuisance"), f"{NOISE}by 0.", True),
        (alone(), "A run takes ", True),
        (only(table(flat), 0), "Cannot be said: no run was made.", False),
        (only(table(flat), status="failed", scores={}), "Cannot be said: no run succeeded.", False),
        (only(table(flat), scores={"wall": 0.0}), "Cannot be said: figures of 0 or less have no ratio.", False),
        (table(flat, flat, sd=5.0), "Cannot be said: runs differ too much to compare.", False),
    ],
    ids=["alike", "not shown to be", "of the same work", "one", "no run", "no success", "zero", "too wide"],
)
def test_what_is_said_first(given: Table, begins: str, answered: bool) -> None:
    found = said(given)
    assert found.answered is answered
    assert found.sentences[0] == begins if begins.endswith("e.") else found.sentences[0].startswith(begins)
    assert "no run" not in begins or len(found.sentences) == 1
    if "too much" in begins:
        assert found.sentences[1:] == [f"{NOISE}more than 10-fold."]


def test_one_disturbed_configuration_has_its_figures_without_a_claim() -> None:
    found = said(only(alone(), verdict="disturbed"))
    assert not found.answered and found.sentences[0].endswith(" runs were disturbed.")
    assert found.matrix == said(alone()).matrix


def test_of_runs_that_differ_too_much_their_range_is_told() -> None:
    given = only(alone(), 2)
    given.rows[:] = [
        structs.replace(row, scores=dict.fromkeys(row.scores, x)) for row, x in zip(given.rows, (1, 4), strict=True)
    ]
    assert said(given).sentences == ["2 runs took 1.00 to 4.00 s: what is typical is not resolved."]


def test_of_many_configurations_one_is_no_answer() -> None:
    given = table(flat, flat)
    given.rows[:] = [row for row in given.rows if row.configuration == given.rows[0].configuration]
    assert not said(given).answered


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
