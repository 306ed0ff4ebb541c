"""What is said of settings whose effects are known, from the rows of a journal: claim, labels, failures."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any

import numpy as np
import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.tunables.answer import answer
from scalograph.questions.tunables.claim import tunables_claim
from scalograph.questions.tunables.document import Tunables
from scalograph.questions.tunables.search_state import begin
from scalograph.study.load import parse
from scalograph.study.scalars import Level
from scalograph.text.cell_numbers import cell_number
from scalograph.verdict.cause import Cause

STUDY = """\
version = 1
name = "knobs"
title = "Which settings matter?"
question = "tunables"
work = "total"
seed = 3
{more}
[workload]
command = ["true", "{{a}}", "{{b}}", "{{c}}", "{{d}}"]
[factors.a]
title = "dirty ratio"
levels = [20, 40, 80]
[factors.b]
levels = ["off", "on"]
[factors.c]
levels = [1, 2, 3]
[factors.d]
levels = [1, 2, 3, 4]
[baseline]
c = 2
[responses.figure]
title = "{title}"
from = "value.figure"
{response}
[responses.cpu]
from = "run.cpu"
unit = "s"
better = "none"
"""
RATE, TIME = 'unit = "1/s"\nbetter = "higher"', 'unit = "s"'
# Log performance of a configuration, or None where its run fails.
Truth = Callable[[Mapping[str, Level]], float | None]


def said(
    truth: Truth,
    response: str = TIME,
    noise: float = 0.01,
    most: int = 500,
    more: str = "",
    before: Sequence[Row] = (),
    text: str = STUDY,
) -> Answer:
    """Search to the end, or to so many runs, and answer; `before` them are others in the journal."""
    study = parse(text.format(more=more, response=response, title="rate" if response == RATE else "time"))
    search, draw, rows = begin(study, ()), np.random.default_rng(8), list[Row]()
    planned = [dict(configuration) for (configuration,) in search.steps.values()]
    while (level := search.state.next_level) is not None and len(rows) < most:
        (configuration,) = search.steps[level]
        log, k = truth(configuration), len(rows)
        figure = None if log is None else exp((log + noise * draw.standard_normal()) * (1 if response == RATE else -1))
        scores = (
            {}
            if figure is None
            else {"figure": figure, "cpu": (3 if configuration["d"] == 4 else 2) * exp(0.001 * draw.standard_normal())}
        )
        rows.append(
            Row(
                f"e{k:04d}",
                k,
                0,
                False,
                configuration,
                "failed" if log is None else "ok",
                None,
                "clean",
                (),
                {},
                scores,
            )
        )
        search.state.observe(
            level, 1 / figure if response == RATE else figure
        ) if figure else search.state.observe_failure(level)
    table = Table(study, "h", {}, planned, [1] * len(planned), [*before, *rows])
    return answer(table, samples_by_configuration(table), [])


def document(found: Answer) -> Tunables:
    assert isinstance(found.document, Tunables)
    return found.document


def claim_of(found: Answer) -> Claim:
    assert found.claim is not None
    return found.claim


def cases(found: Answer) -> dict[str, dict[str, Any]]:
    return {case.case: case.values for case in claim_of(found).cases}


def two(configuration: Mapping[str, Level]) -> float:
    return {80: 0.06}.get(configuration["a"], 0.0) + {3: -0.05}.get(configuration["c"], 0.0)  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def rated() -> Answer:
    return said(two, RATE)


def test_gains_are_confirmed_and_losses_are_told(rated: Answer) -> None:
    first, effects, others = (cases(rated)[case] for case in ("matter", "effects", "others"))
    assert (first["n"], first["all"], first["who"]) == (2, 4, ["dirty ratio 80"])
    assert first["gain"][0].value == pytest.approx(1.06, abs=0.01)
    assert [name for name, _ in effects["lower"]] == ["c=3"], "c 1 is as good as the default"
    assert not effects["higher"] and others["left"] == "b and d"
    assert claim_of(rated).answered
    shown = claim_of(rated).matrix
    assert shown is not None and [row.label for row in shown.rows[:2]] == ["dirty ratio 80", "c=3"]


def test_a_time_is_told_as_time() -> None:
    """Sentence and matrix have one quantity in one direction."""
    found = said(two)
    assert cases(found)["matter"]["gain"][0].value == pytest.approx(0.94, abs=0.01)
    shown = claim_of(found).matrix
    assert shown is not None and (shown.title, shown.better) == ("time over the default", "lower")


def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(rated: Answer) -> None:
    for found in (
        rated,
        said(two),
        said(two, most=20),
        said(lambda t: {80: 0.06}.get(t["a"], 0.0) + 0.05 * (t["d"] > 2)),
    ):  # type: ignore[call-overload]
        claim = claim_of(found)
        assert claim.matrix is not None
        cells = {cell_number(c.estimate).split()[0] for row in claim.matrix.rows for c in row.cells if c.estimate}
        numbers = re.findall(r"([0-9.]+)\N{MULTIPLICATION SIGN}", " ".join(claim.sentences))
        assert numbers and {*numbers} <= cells, (claim.sentences, cells)


def test_what_fresh_runs_do_not_confirm_is_named_and_does_not_count(rated: Answer) -> None:
    effect = next(one for one in document(rated).settings if one.alone)
    none = Estimate(1.0, 0.98, 1.02, 0.95, 10)
    settings = [one.model_copy(update={"alone": none}) if one is effect else one for one in document(rated).settings]
    table = Table(parse(STUDY.format(more="", response=RATE, title="rate")), "h", {}, [], [], [])
    claim = tunables_claim(table, document(rated).model_copy(update={"settings": settings}), "")
    first, effects = (case.values for case in claim.cases[:2])
    assert (first["n"], first["who"]) == (1, []) and [name for name, _ in effects["refuted"]] == ["dirty ratio 80"]
    assert [name for name, _ in effects["lower"]] == ["c=3"]


def test_the_document_has_every_setting_with_its_evidence(rated: Answer) -> None:
    found = document(rated)
    labels = {(one.factor, one.level): one.label for one in found.settings}
    assert labels["a", 80] == "positive" and labels["c", 3] == "negative"
    assert len(labels) == 8 and ("c", 2) not in labels
    assert [one.factor for one in found.factors if one.matters] == ["a", "c"]
    assert [one.factor for one in found.settings if one.alone] == ["a"] and len(found.combinations) == 1
    cpu = next(one.cpu_time for one in found.settings if one.level == 80)
    assert cpu is not None and cpu.value == pytest.approx(1.0, abs=0.01)
    assert cpu.low is not None and cpu.low > 0.998, "d 4, which does not matter to the rate, is no noise of CPU time"
    assert found.n_fresh == 20 and found.n_default >= found.blocks and rated.decided


def test_what_else_a_setting_changes_says_whether_it_was_in_effect(rated: Answer) -> None:
    found = document(rated)
    moved = {(one.factor, one.level): one.moved for one in found.settings if one.moved}
    assert [*moved] == [("d", 4)] and moved["d", 4]["cpu"].value == pytest.approx(1.5, abs=0.01)
    (idle,) = [text for text in rated.sentences if text.startswith("No change of rate and cpu is seen with ")]
    assert "b on" in idle and "d 4" not in idle and "dirty ratio 80" not in idle


def test_fresh_runs_test_a_gain_whatever_they_find(rated: Answer) -> None:
    (made,) = [text for text in rated.sentences if " compare settings " in text]
    assert " of the default), 20 fresh ones test the gains; runs of one setting differ by " in made


def test_a_run_of_no_step_is_none_of_the_others(rated: Answer) -> None:
    strange = {"a": 20, "b": "on", "c": 7, "d": 1}
    row = Row("e9999", 9999, 0, False, strange, "ok", None, "clean", (), {}, {"figure": 1.0, "cpu": 50.0})
    found = document(said(two, RATE, before=[row]))
    assert found.model_dump() == document(rated).model_dump()


def test_the_default_is_best_where_all_other_levels_are_worse() -> None:
    found = said(lambda configuration: -0.05 * (configuration["c"] != 2), RATE)
    assert cases(found)["matter"]["best"] == ["c"] and len(cases(found)["effects"]["lower"]) == 2


def test_an_effect_of_unknown_size_has_its_direction() -> None:
    found = said(lambda configuration: -1.2 * (configuration["c"] == 3), noise=0.25, most=25)
    assert cases(found)["effects"]["higher"] == [("c=3 (size uncertain)", [])]


@pytest.mark.parametrize(("noise", "case"), [(0.002, "equivalent"), (0.012, "nothing")])
def test_where_nothing_matters_it_says_how_much_may(noise: float, case: str) -> None:
    found = said(lambda configuration: 0.0, noise=noise)
    assert found.decided and claim_of(found).answered
    assert [*cases(found)] == [case] and 0 < cases(found)[case]["most"] < 0.05
    assert document(found).n_fresh == 0


def test_what_is_too_noisy_is_not_said() -> None:
    found = said(lambda configuration: 0.0, noise=0.3)
    assert not claim_of(found).answered and not found.decided and [*cases(found)] == ["open"]
    (doubt,) = found.doubts
    assert doubt.endswith(" to each side: 4% was to be reached")


def test_a_search_that_ends_early_confirms_nothing() -> None:
    found = said(two, most=20)
    assert [name for name, _ in cases(found)["effects"]["candidates"]] == ["dirty ratio 80"]
    assert found.doubts and document(found).combinations == []


@pytest.mark.parametrize("most", [6, 9])
def test_nothing_is_said_before_a_block_is_complete(most: int) -> None:
    few = said(two, most=most)
    assert cases(few) == {"too few": {"n_runs": most}} and few.doubts and not claim_of(few).answered


def test_a_busy_machine_is_named_as_the_cause() -> None:
    told = "preempted by cc1 for {} of the CPU time that it wanted"
    causes = [Cause("neighbor", k / 100, "of wanted", told.format(f"{k}.0%")) for k in range(10, 20)]
    configuration: dict[str, Level] = {"a": 20, "b": "off", "c": 2, "d": 1}
    rows = [
        Row(f"e000{k}", k, 0, False, configuration, "ok", None, "disturbed", (cause,), {}, {"figure": 1.0})
        for k, cause in enumerate(causes)
    ]
    found = said(two, most=0, before=rows)
    assert found.claim is not None and not found.claim.answered
    assert found.claim.sentences == [
        "No answer: 10 of 10 runs were disturbed.",
        f"Most disturbed: {told.format('19.0%')}.",
        "A search counts undisturbed runs only; --wait-quiet 10m waits for a quiet machine.",
    ]


def test_a_setting_that_fails_is_an_answer_and_gets_no_more_runs() -> None:
    found = said(lambda configuration: None if configuration["b"] == "on" else two(configuration))
    broken = next(one for one in document(found).settings if one.factor == "b")
    others = [one.n_failed for one in document(found).settings if one.factor != "b"]
    assert broken.left_out and broken.n_failed == broken.n > 2 and broken.gain is None
    assert others == [0] * 7, "failures of another setting are not theirs"
    assert cases(found)["others"]["fails"] == "b=on" and not cases(found)["others"]["unknown"]
    shown = claim_of(found).matrix
    assert shown is not None and "b=on" in [row.label for row in shown.rows]


def test_settings_of_which_nothing_is_known_are_all_counted() -> None:
    found = document(said(lambda configuration: 0.0, noise=0.012))
    lost = {"gain": None, "fails_p": 1e-9}
    settings = [one.model_copy(update=lost if one.factor in ("c", "d") else {}) for one in found.settings]
    table = Table(parse(STUDY.format(more="", response=TIME, title="time")), "h", {}, [], [], [])
    claim = tunables_claim(table, found.model_copy(update={"settings": settings}), "")
    (case,) = claim.cases
    assert case.case == "nothing" and not case.values["unknown"]
    assert case.values["fails"] == "c=1, c=3, d=2 and 2 more"


def test_a_default_that_fails_ends_the_search() -> None:
    found = said(lambda configuration: None)
    assert document(found).n_runs < 40 and not found.decided


def test_a_default_that_fails_is_why_nothing_is_said() -> None:
    default = {"a": 20, "b": "off", "c": 2, "d": 1}
    found = said(lambda configuration: None if configuration == default else 0.0)
    told = "runs of the default fail, so nothing can be compared with it"
    assert found.claim is not None and found.claim.sentences == [f"No answer: {told}."] and found.doubts == [told]


def test_one_at_a_time_has_every_setting_alone_and_confirms_nothing() -> None:
    found = said(two, RATE, more='plan = "one-at-a-time"\nprotocol.runs = 3')
    one = document(found)
    assert (one.n_runs, one.n_default, one.n_fresh, {x.n for x in one.settings}) == (34, 10, 0, {3})
    assert [name for name, _ in cases(found)["effects"]["candidates"]] == ["dirty ratio 80"]


def test_one_at_a_time_that_ends_early_says_what_is_known() -> None:
    found = said(two, RATE, noise=0.001, most=22, more='plan = "one-at-a-time"\nprotocol.runs = 3')
    assert "too few" not in cases(found)
    assert all(one.p is not None for one in document(found).factors) and not found.decided
    assert found.doubts == ["the runs end before the planned blocks are complete"]


def test_figures_beyond_all_measure_are_an_answer_like_any() -> None:
    """A program may print any number, and its journal is analyzed all the same."""
    draw = np.random.default_rng(3)
    for found in (said(lambda t: 600.0 if t["a"] == 80 else -600.0), said(lambda t: draw.uniform(-650, 650), most=12)):
        assert found.claim is not None and document(found).model_dump_json()
