"""What is said of settings whose effects are known, from the rows of a journal: claim, labels, failures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import exp
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from scalograph.analysis.estimate import Estimate, proportion
from scalograph.design.resolve import assumed_host, design
from scalograph.errors import StudyError
from scalograph.findings.answer import Answer
from scalograph.findings.published.measured_values import MeasuredValue
from scalograph.findings.published.published_claims import (
    OfferedQuantity,
    decide_claim,
    decide_claims,
    find_undecidable,
)
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.questions.tunables.answer import answer
from scalograph.questions.tunables.claim import tunables_claim
from scalograph.questions.tunables.document import Tunables
from scalograph.questions.tunables.published import quantities
from scalograph.questions.tunables.search_state import NOTHING_TO_COMPARE, RESOLVED, begin
from scalograph.study.declare import claims_of, declare_shipped
from scalograph.study.load import parse
from scalograph.study.model import Study
from scalograph.study.published_claim import PublishedClaim
from scalograph.study.scalars import Level
from scalograph.text.warning_catalog import Caveat
from scalograph.verdict.cause import Cause
from tests.kit.findings import cases_of, cells_of, claim_of
from tests.kit.shown_numbers import check_numbers
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


def two(configuration: Mapping[str, Level]) -> float:
    return 0.06 * (configuration["a"] == 80) - 0.05 * (configuration["c"] == 3)


def nothing(_: Mapping[str, Level]) -> float:
    return 0.0


@pytest.fixture(scope="module")
def rated() -> Answer:
    return said(two, RATE)


def test_gains_are_confirmed_and_losses_are_told(rated: Answer) -> None:
    first, effects, others = (cases_of(rated)[case] for case in ("matter", "effects", "others"))
    assert (first["n"], first["all"], first["who"]) == (2, 4, ["dirty ratio 80"])
    assert first["gain"][0].value == pytest.approx(1.06, abs=0.01)
    assert [name for name, _ in effects["lower"]] == ["c=3"], "c 1 is as good as the default"
    assert not effects["higher"] and others["left"] == "b and d"
    assert claim_of(rated).answered and [*cells_of(rated)][:2] == ["dirty ratio 80", "c=3"]
    (made,) = [text for text in rated.sentences if " compare settings " in text]
    assert " of the default), 20 fresh ones test the gains; runs of one setting differ by " in made


def test_a_time_is_told_as_time() -> None:
    """Sentence and matrix have one quantity in one direction."""
    found = said(two)
    assert cases_of(found)["matter"]["gain"][0].value == pytest.approx(0.94, abs=0.01)
    shown = claim_of(found).matrix
    assert shown is not None and (shown.title, shown.better) == ("time over the default", "lower")


def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(rated: Answer) -> None:
    both = said(lambda t: 0.06 * (t["a"] == 80) + 0.05 * (t["d"] in (3, 4)))
    for found in (rated, said(two), said(two, most=20), both):
        check_numbers(claim_of(found))


def test_what_fresh_runs_do_not_confirm_is_named_and_does_not_count(rated: Answer) -> None:
    effect = next(one for one in document(rated).settings if one.alone)
    none = Estimate(1.0, 0.98, 1.02, 0.95, 10)
    settings = [one.model_copy(update={"alone": none}) if one is effect else one for one in document(rated).settings]
    table = Table(study(RATE), "h", {}, [], [], [])
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
    assert found.n_fresh == 20 and found.n_default >= found.blocks
    # What else a setting changes says whether it was in effect.
    moved = {(one.factor, one.level): one.moved for one in found.settings if one.moved}
    assert [*moved] == [("d", 4)] and moved["d", 4]["cpu"].value == pytest.approx(1.5, abs=0.01)
    (idle,) = [text for text in rated.sentences if text.startswith("No change of rate and cpu is seen with ")]
    assert "b on" in idle and "d 4" not in idle and "dirty ratio 80" not in idle
    # A run of no step is none of the others.
    strange = row(9999, {**DEFAULT, "b": "on", "c": 7}, {"figure": 1.0, "cpu": 50.0})
    assert document(said(two, RATE, before=[strange])).model_dump() == found.model_dump()


def test_the_default_is_best_where_all_others_are_worse_and_unknown_sizes_have_a_direction() -> None:
    found = said(lambda configuration: -0.05 * (configuration["c"] != 2), RATE)
    assert cases_of(found)["matter"]["best"] == ["c"] and len(cases_of(found)["effects"]["lower"]) == 2
    found = said(lambda configuration: -1.2 * (configuration["c"] == 3), noise=0.25, most=25)
    assert cases_of(found)["effects"]["higher"] == [("c=3 (size uncertain)", [])]


@pytest.mark.parametrize(("noise", "case"), [(0.002, "equivalent"), (0.012, "nothing")])
def test_where_nothing_matters_it_says_how_much_may(noise: float, case: str) -> None:
    found = said(lambda configuration: 0.0, noise=noise)
    assert found.decided and claim_of(found).answered
    assert [*cases_of(found)] == [case] and 0 < cases_of(found)[case]["most"] < 0.05
    assert document(found).n_fresh == 0


def test_what_is_too_noisy_is_not_said_and_an_early_end_confirms_nothing() -> None:
    found = said(nothing, noise=0.3)
    assert not claim_of(found).answered and not found.decided and [*cases_of(found)] == ["open"]
    (doubt,) = found.doubts
    assert doubt.code == "wide settings" and doubt.values["wide"] > doubt.values["target"] == RESOLVED
    found = said(two, most=20)
    assert [name for name, _ in cases_of(found)["effects"]["candidates"]] == ["dirty ratio 80"]
    assert found.doubts and document(found).combinations == []


@pytest.mark.parametrize("most", [6, 9])
def test_nothing_is_said_before_a_block_is_complete(most: int) -> None:
    few = said(two, most=most)
    assert cases_of(few) == {"too few": {"n_runs": most}} and few.doubts and not claim_of(few).answered


def test_a_busy_machine_is_named_as_the_cause() -> None:
    told = "preempted by cc1 for {} of the CPU time that it wanted"
    causes = [Cause("neighbor", k / 100, "of wanted", told.format(f"{k}.0%")) for k in range(10, 20)]
    rows = [row(k, DEFAULT, {"figure": 1.0}, "disturbed", cause) for k, cause in enumerate(causes)]
    claim = claim_of(said(two, most=0, before=rows))
    assert not claim.answered and claim.sentences == [
        "No answer: 10 of 10 runs were disturbed.",
        f"The most disturbed run was {told.format('19.0%')}.",
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
    assert cases_of(found)["others"]["fails"] == "b=on" and not cases_of(found)["others"]["unknown"]
    assert "b=on" in cells_of(found)
    # What it offers to the claims of a paper are shares of all of them.
    offered = quantities(document(found))["failed_share"]
    shares = {one.group["b"]: one.estimate.value for one in offered if one.group["a"] == 20}
    assert shares["on"] == 1.0 and shares["off"] == 0.0


def test_settings_of_which_nothing_is_known_are_all_counted() -> None:
    found = document(said(nothing, noise=0.012))
    lost = {"gain": None, "fails_p": 1e-9}
    settings = [one.model_copy(update=lost if one.factor in ("c", "d") else {}) for one in found.settings]
    claim = tunables_claim(Table(study(), "h", {}, [], [], []), found.model_copy(update={"settings": settings}), "")
    (case,) = claim.cases
    assert case.case == "nothing" and not case.values["unknown"]
    assert case.values["fails"] == "c=1, c=3, d=2 and 2 more"


def test_a_default_that_fails_ends_the_search_and_is_why_nothing_is_said() -> None:
    every = said(lambda configuration: None)
    assert document(every).n_runs < 40 and not every.decided
    found = said(lambda configuration: None if configuration == DEFAULT else 0.0)
    assert cases_of(found) == {"no answer": {"reason": NOTHING_TO_COMPARE}} and not claim_of(found).answered
    assert found.doubts == [Caveat("undecided", {"reason": NOTHING_TO_COMPARE})]


def test_one_at_a_time_has_every_setting_alone_and_confirms_nothing() -> None:
    alone: dict[str, Any] = {"plan": "one-at-a-time", "protocol": {"runs": 3}}
    found = said(two, RATE, **alone)
    one = document(found)
    assert (one.n_runs, one.n_default, one.n_fresh, {x.n for x in one.settings}) == (34, 10, 0, {3})
    assert [name for name, _ in cases_of(found)["effects"]["candidates"]] == ["dirty ratio 80"]
    early = said(two, RATE, noise=0.001, most=22, **alone)
    assert "too few" not in cases_of(early)
    assert all(one.p is not None for one in document(early).factors) and not early.decided
    assert early.doubts == [Caveat("early end", {"unmade": "the planned blocks are complete"})]


def test_figures_beyond_all_measure_are_an_answer_like_any() -> None:
    """A program may print any number, and its journal is analyzed all the same."""
    draw = np.random.default_rng(3)
    for found in (said(lambda t: 600.0 if t["a"] == 80 else -600.0), said(lambda t: draw.uniform(-650, 650), most=12)):
        assert claim_of(found) and document(found).model_dump_json()


def test_claims_of_a_paper_may_ask_for_best_worst_ranks_and_failures(rated: Answer) -> None:
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
    shipped = declare_shipped("vm-tunables")
    (claim,) = (one for one in claims_of(shipped) if one.id == "S3-3")
    n, confidence = shipped.study.protocol.runs, shipped.study.protocol.confidence
    assert (proportion(n, n, n, confidence).low or 0) >= (claim.bounds[0] or 1.0)


def paired(n_blocks: int, noise: float, drift: float = 0.0, plan: str = "pairs") -> Answer:
    """Settings without effect, on a machine whose pace drifts by so much from run to run; to so many blocks."""
    k, walk, draw = 0, 0.0, np.random.default_rng(5)

    def pace(_: Mapping[str, Level]) -> float:
        nonlocal k, walk
        k, walk = k + 1, walk + drift * draw.standard_normal()
        return walk

    n = sum(len(levels) - 1 for levels in LEVELS.values())
    return said(pace, RATE, noise, most=2 * n * n_blocks, plan=plan, protocol={"runs": n_blocks})


def test_pairs_are_one_setting_and_the_default_and_drift_between_them_is_in_no_interval() -> None:
    search = begin(study(RATE, plan="pairs", protocol={"runs": 2}), ())
    blocks: dict[int, list[tuple[int, ...]]] = {}
    for run in search.state.queue:
        blocks.setdefault(run.block, []).append(run.settings)
    default = search.state.space.default
    assert all(len(pair) == 2 and default in pair for pair in blocks.values())
    assert {next(x for x in pair if x != default) for pair in blocks.values()} == {
        search.state.space.alone(*setting) for setting in search.state.space.settings
    }  # fmt: skip
    assert len({pair[0] == default for pair in blocks.values()}) == 2, "either comes first"
    pairs, pooled = (document(paired(8, 0.004, 0.02, plan)) for plan in ("pairs", "one-at-a-time"))
    assert pairs.noise_percent and pooled.noise_percent and pairs.noise_percent < 0.75 * pooled.noise_percent


@pytest.mark.parametrize(("noise", "is_decided"), [(0.01, True), (0.2, False)])
def test_pairs_end_within_5_percent_or_tell_how_many_blocks_would(noise: float, is_decided: bool) -> None:
    found = paired(8, noise)
    part = document(found)
    assert part.decided is is_decided and part.half_width is not None
    if is_decided:
        assert part.half_width <= 0.05 and part.blocks < 8 and part.blocks_needed is None, "it ends early"
        return
    assert part.half_width > 0.05 and part.blocks == 8
    assert part.blocks_needed is not None and 8 < part.blocks_needed <= 1000
    assert cases_of(found)["open"]["needed"] == part.blocks_needed


def test_a_factor_that_cannot_act_on_this_memory_is_not_testable_here() -> None:
    declared = declare_shipped("vm-tunables")
    facts = assumed_host(declared.study, 2)
    small, big = (
        design(declared.study, facts.model_copy(update={"memory_bytes": n << 30})) for n in (1, 24)
    )  # fmt: skip
    assert {len(factor.levels) for factor in small.study.factors.values()} >= {3, 4, 5} and not small.dropped
    acting = {name for name, factor in big.study.factors.items() if len(factor.levels) > 1}
    assert acting == {"dirty_expire_centisecs", "dirty_writeback_centisecs"}
    reason = "it needs a machine with at most 1 GiB, this one has 24 GiB"
    assert all(text.endswith(reason) for text in big.dropped) and len(big.dropped) == 8
    planned = [*big.configurations]
    rows = [row(k, planned[k % len(planned)], {"rate": 100.0 + k % 7}) for k in range(2 * len(planned))]
    table = Table(big.study, "h", {"memory_bytes": 24 << 30}, planned, [2] * len(planned), rows)
    answered = answer(table, samples_by_configuration(table), [])
    (text,) = [text for text in answered.sentences if text.startswith("Not testable here: ")]
    assert "dirty_ratio" in text and reason in text and "dirty_expire_centisecs" not in text
    offers = quantities(document(answered))
    offered = lambda name: OfferedQuantity(name, offers.get(name, ()), "" if name in offers else "unknown")  # noqa: E731
    claims = {each.id: each for each in decide_claims(table, samples_by_configuration(table), offered)}
    assert {claims[f"S3-{name}"].decision for name in ("3", "4a", "4b", "5a", "5b")} == {"not testable here"}
    # The worst setting but those of min_free_kbytes is the worst of those that are run here.
    (worst,) = claims["S3-2"].figures
    assert worst.here and worst.here.value == min(s.gain.value for s in document(answered).settings if s.gain)
    undecidable = find_undecidable(replace(table, rows=[]), samples_by_configuration(replace(table, rows=[])))
    assert {*undecidable} == {"S3-3", "S3-4a", "S3-4b", "S3-5a", "S3-5b"} and {*undecidable.values()} == {reason}
    with pytest.raises(StudyError, match="no setting that can act"):
        begin(big.study.model_copy(update={"factors": {"a": big.study.factors["dirty_ratio"]}}), ())


def test_a_guest_without_times_decides_failures_and_no_time() -> None:
    asked = study(RATE, plan="pairs", protocol={"runs": 3})
    search, rows = begin(asked, ()), list[Row]()
    planned = [dict(configuration) for (configuration,) in search.steps.values()]
    while (level := search.state.next_level) is not None:
        (configuration,) = search.steps[level]
        if configuration["a"] == 80:
            rows.append(row(len(rows), configuration, {}))
            search.state.observe_failure(level)
        else:
            timeless = row(len(rows), configuration, {}, "unverified", Cause("functional", None, "", ""))
            rows.append(structs.replace(timeless, status="ok"))
            search.state.observe_timeless(level)
    assert not search.state.default_fails and len(rows) == 2 * 3 * len(search.state.space.settings)
    table = Table(asked, "h", {}, planned, [1] * len(planned), rows)
    part = document(answer(table, samples_by_configuration(table), []))
    assert part.n_failed == 3 and all(setting.gain is None for setting in part.settings)
    assert [s.level for s in part.settings if s.n_failed] == [80]
    claim = PublishedClaim(id="a", sentence="b", kind="count", quantity="best_gain", holds=[1, 2])
    offers = quantities(part)
    values = [MeasuredValue("", missing="nothing is known of it")]
    assert "best_gain" not in offers and offers["failed_share"]
    decided = decide_claim(table, claim, "x", values)
    assert (decided.decision, "emulated" in decided.why) == ("not testable here", True)
