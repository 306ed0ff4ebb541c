"""What is said of settings whose effects are known, from the rows of a journal: claim, labels, failures."""

from collections.abc import Callable, Mapping, Sequence
from math import exp
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from scalograph.analysis.estimate import proportion
from scalograph.findings.answer import Answer
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.tunables.answer import answer
from scalograph.questions.tunables.claim import tunables_claim
from scalograph.questions.tunables.document import Tunables
from scalograph.questions.tunables.published import quantities
from scalograph.questions.tunables.search_state import begin
from scalograph.study.catalogue import claims_of
from scalograph.study.declare import declare_shipped
from scalograph.study.load import parse
from scalograph.study.model import Study
from scalograph.study.scalars import Level
from scalograph.verdict.cause import Cause
from tests.kit.studies import a_study

RATE, TIME = {"unit": "1/s", "better": "higher"}, {"unit": "s"}
DEFAULT: dict[str, Level] = {"a": 20, "b": "off", "c": 2, "d": 1}
LEVELS: dict[str, list[Level]] = {"a": [20, 40, 80], "b": ["off", "on"], "c": [1, 2, 3], "d": [1, 2, 3, 4]}


def study(response: dict[str, str] = TIME, group_of: Mapping[str, str] = MappingProxyType({}), **more: Any) -> Study:
    """Four settings, of which one has a title; `more` are further tables and keys."""
    titles = {"a": {"title": "dirty ratio"}}
    groups = {name: {"group": group} for name, group in group_of.items()}
    factors = {name: {**titles.get(name, {}), "levels": of, **groups.get(name, {})} for name, of in LEVELS.items()}
    figure = {"title": "rate" if response == RATE else "time", "from": "value.figure", **response}
    responses = {"figure": figure, "cpu": {"from": "run.cpu", "unit": "s", "better": "none"}}
    asked = {"question": "tunables", "seed": 3, "baseline": {"c": 2}, "responses": responses}
    return parse(a_study(factors, **asked, **more))


# Log performance of a configuration, or None where its run fails.
Truth = Callable[[Mapping[str, Level]], float | None]


def row(k: int, levels: Mapping[str, Level], scores: dict[str, float], verdict: str = "clean", *causes: Cause) -> Row:
    """The run of this number; one without scores has failed."""
    status = "ok" if scores else "failed"
    return Row(f"e{k:04d}", k, 0, False, {**levels}, status, None, verdict, causes, {}, scores)


def said(
    truth: Truth, response: dict[str, str] = TIME, noise: float = 0.01, most: int = 500, before: Sequence[Row] = (),
    **more: Any,
) -> Answer:  # fmt: skip
    """Search to the end, or to so many runs, and answer; `before` them are others in the journal."""
    asked = study(response, **more)
    search, draw, rows = begin(asked, ()), np.random.default_rng(8), list[Row]()
    planned = [dict(configuration) for (configuration,) in search.steps.values()]
    sign = 1 if response == RATE else -1
    while (level := search.state.next_level) is not None and len(rows) < most:
        (configuration,) = search.steps[level]
        if (log := truth(configuration)) is None:
            rows.append(row(len(rows), configuration, {}))
            search.state.observe_failure(level)
            continue
        figure = exp((log + noise * draw.standard_normal()) * sign)
        cpu = (3 if configuration["d"] == 4 else 2) * exp(0.001 * draw.standard_normal())
        rows.append(row(len(rows), configuration, {"figure": figure, "cpu": cpu}))
        search.state.observe(level, figure**-sign)
    table = Table(asked, "h", {}, planned, [1] * len(planned), [*before, *rows])
    return answer(table, samples_by_configuration(table), [])


def document(found: Answer) -> Tunables:
    assert isinstance(found.document, Tunables)
    return found.document


def claim_of(found: Answer) -> Claim:
    assert found.claim is not None
    return found.claim


def two(configuration: Mapping[str, Level]) -> float:
    return 0.06 * (configuration["a"] == 80) - 0.05 * (configuration["c"] == 3)


def nothing(_: Mapping[str, Level]) -> float:
    return 0.0


@pytest.fixture(scope="module")
def rated() -> Answer:
    return said(two, RATE)


def test_gains_are_confirmed_and_losses_are_told(rated: Answer) -> None:
    assert claim_of(rated).answered and rated.decided
    first, second = claim_of(rated).sentences
    assert first.startswith("2 of 4 matter: dirty ratio 80 gives 6.") and "more rate [" in first
    assert "; c 3 gives " in first and "less rate [" in first
    assert first.endswith("]."), "c 1 is as good as the default"
    assert second.startswith("The others change it by at most ")
    matrix = claim_of(rated).matrix
    assert matrix is not None and matrix.rows[0].label == "dirty ratio 80"
    (made,) = [text for text in rated.sentences if " compare settings " in text]
    assert " of the default), 20 fresh ones test the gains; runs of one setting differ by " in made
    time = claim_of(said(two))
    assert "dirty ratio 80 takes " in time.sentences[0] and "less time [" in time.sentences[0]
    assert time.matrix is not None and time.matrix.title == "1 / time over the default"


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
    assert found.n_fresh == 20 and found.n_default >= found.blocks
    # What else a setting changes says whether it was in effect.
    moved = {(one.factor, one.level): one.moved for one in found.settings if one.moved}
    assert [*moved] == [("d", 4)] and moved["d", 4]["cpu"].value == pytest.approx(1.5, abs=0.01)
    (idle,) = [text for text in rated.sentences if text.startswith("No change of rate and cpu is seen with ")]
    assert "b on" in idle and "d 4" not in idle and "dirty ratio 80" not in idle
    # A run of no step is none of the others.
    strange = row(9999, {**DEFAULT, "b": "on", "c": 7}, {"figure": 1.0, "cpu": 50.0})
    assert document(said(two, RATE, before=[strange])).model_dump() == found.model_dump()


def test_the_default_is_best_where_all_other_levels_are_worse() -> None:
    found = said(lambda configuration: -0.05 * (configuration["c"] != 2), RATE)
    assert claim_of(found).sentences[0].endswith("], the default is best.")


def test_an_effect_of_unknown_size_has_its_direction() -> None:
    found = said(lambda configuration: -1.2 * (configuration["c"] == 3), noise=0.25, most=25)
    assert "c 3 takes more time, how much is not resolved" in claim_of(found).sentences[0]


@pytest.mark.parametrize(
    ("noise", "told"),
    [(0.002, "matters: all are equivalent"), (0.012, "is seen to matter: no setting changes the time by ")],
)
def test_where_nothing_matters_it_says_how_much_may(noise: float, told: str) -> None:
    found = said(nothing, noise=noise)
    assert claim_of(found).sentences[0].startswith(f"None of 4 {told}") and len(claim_of(found).sentences) == 1
    assert document(found).n_fresh == 0 and found.decided


def test_what_is_too_noisy_is_not_said() -> None:
    found = said(nothing, noise=0.3)
    assert not claim_of(found).answered and not found.decided
    told = "Cannot be said: none of 4 is seen to matter, but a setting may take up to "
    assert claim_of(found).sentences[0].startswith(told)
    (doubt,) = found.doubts
    assert doubt.endswith(" to each side: 4 % was to be reached")


@pytest.mark.parametrize("most", [6, 9, 20])
def test_a_search_that_ends_early_confirms_nothing_and_in_its_first_block_says_nothing(most: int) -> None:
    found = said(two, most=most)
    told = f"Cannot be said: {most} runs, less than a block, cannot compare 8 settings."
    assert claim_of(found).sentences == [told] if most < 20 else "not confirmed" in claim_of(found).sentences[0]
    assert found.doubts and (most < 20 or document(found).combinations == [])


def test_a_busy_machine_is_named_as_the_cause() -> None:
    told = "preempted by cc1 for {} of the CPU time that it wanted"
    causes = [Cause("neighbor", k / 100, "of wanted", told.format(f"{k}.0 %")) for k in range(10, 20)]
    rows = [row(k, DEFAULT, {"figure": 1.0}, "disturbed", cause) for k, cause in enumerate(causes)]
    claim = claim_of(said(two, most=0, before=rows))
    assert not claim.answered and claim.sentences == [
        "Cannot be said: 10 of 10 runs were disturbed.",
        f"The worst: {told.format('19.0 %')}.",
        "A search counts undisturbed runs only; --wait-quiet 10m waits for a quiet machine.",
    ]


def failing(configuration: Mapping[str, Level]) -> float | None:
    return None if configuration["b"] == "on" else two(configuration)


def test_a_setting_that_fails_is_an_answer_and_gets_no_more_runs() -> None:
    found = said(failing)
    broken = next(one for one in document(found).settings if one.factor == "b")
    others = [one.n_failed for one in document(found).settings if one.factor != "b"]
    assert broken.left_out and broken.n_failed == broken.n > 2 and broken.gain is None
    assert others == [0] * 7, "failures of another setting are not theirs"
    assert claim_of(found).sentences[1] == "Runs fail with b on."
    assert claim_of(found).sentences[2].startswith("The others, b on aside, change it by at most ")
    # What it offers to the claims of a paper are shares of all of them.
    offered = quantities(document(found))["failed_share"]
    shares = {one.group["b"]: one.estimate.value for one in offered if one.group["a"] == 20}
    assert shares["on"] == 1.0 and shares["off"] == 0.0


def test_settings_of_which_nothing_is_known_are_all_counted() -> None:
    found = document(said(nothing, noise=0.012))
    lost = {"gain": None, "fails_p": 1e-9}
    settings = [one.model_copy(update=lost if one.factor in ("c", "d") else {}) for one in found.settings]
    claim = tunables_claim(Table(study(), "h", {}, [], [], []), found.model_copy(update={"settings": settings}), "")
    assert "no setting, c 1, c 3, d 2 and 2 more aside, changes the time by more than " in claim.sentences[0]
    assert claim.sentences[1] == "Runs fail with c 1, c 3, d 2 and 2 more."


def test_a_default_that_fails_ends_the_search_and_is_why_nothing_is_said() -> None:
    every = said(lambda configuration: None)
    assert document(every).n_runs < 40 and not every.decided
    found = said(lambda configuration: None if configuration == DEFAULT else 0.0)
    told = "runs of the default fail, so nothing can be compared with it"
    assert claim_of(found).sentences == [f"Cannot be said: {told}."] and found.doubts == [told]


def test_one_at_a_time_has_every_setting_alone_and_confirms_nothing() -> None:
    alone: dict[str, Any] = {"plan": "one-at-a-time", "protocol": {"runs": 3}}
    found = said(two, RATE, **alone)
    one = document(found)
    assert (one.n_runs, one.n_default, one.n_fresh, {x.n for x in one.settings}) == (34, 10, 0, {3})
    assert "not confirmed" in claim_of(found).sentences[0]
    early = said(two, RATE, noise=0.001, most=22, **alone)
    assert "less than a block" not in claim_of(early).sentences[0]
    assert all(one.p is not None for one in document(early).factors) and not early.decided
    assert early.doubts == ["the runs end before the planned blocks are complete"]


def test_figures_beyond_all_measure_are_an_answer_like_any() -> None:
    """A program may print any number, and its journal is analyzed all the same."""
    draw = np.random.default_rng(3)
    for found in (said(lambda t: 600.0 if t["a"] == 80 else -600.0), said(lambda t: draw.uniform(-650, 650), most=12)):
        assert claim_of(found) and document(found).model_dump_json()


def test_claims_of_a_paper_may_ask_for_best_and_worst_and_for_ranks_of_factors(rated: Answer) -> None:
    found = quantities(document(rated))
    best, worst = (found[name][0].estimate for name in ("best_gain", "worst_gain"))
    assert best.value == pytest.approx(1.062, abs=0.02) and worst.value == pytest.approx(0.951, abs=0.02)
    ranks = {tuple(one.group.items()): one.estimate for one in found["sensitivity_rank"]}
    first = ranks[tuple({**DEFAULT, "a": 80}.items())]
    assert first.low is not None and first.low <= (first.value or 0) <= 2 and first.high == 2
    assert all(one.estimate.value is None for one in found["failed_share"]), "no run failed"
    beside = {(one.group["a"], one.group["c"]): one.estimate.value for one in found["worst_other_gain"]}
    assert beside[80, 2] == pytest.approx(0.951, abs=0.02), "c 3 is the worst of all"
    assert beside[20, 3] == beside[20, 1] and (beside[20, 3] or 0) > 0.98, "without c nothing is lost"


def test_failures_of_one_setting_alone_can_bear_out_the_claim_about_them() -> None:
    shipped = declare_shipped("vm-tunables")
    (claim,) = (one for one in claims_of(shipped) if one.id == "S3-3")
    n, confidence = shipped.study.protocol.runs, shipped.study.protocol.confidence
    assert (proportion(n, n, n, confidence).low or 0) >= (claim.bounds[0] or 1.0)
