"""Faster, slower, the same, or inconclusive: of two results, two versions in pairs, laws, and published tables."""

import math
from dataclasses import replace
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.analysis.interval import summarize
from scalograph.analysis.versus import versus
from scalograph.errors import StudyError
from scalograph.exchange.compare.compare_claim import compare_claim, differences
from scalograph.exchange.compare.measured_source import MeasuredSource, divide_scores, select_levels
from scalograph.exchange.compare.paired_versions import paired_versions, pairs_remedy
from scalograph.exchange.compare.published_source import published_source
from scalograph.exchange.compare.result_answer import compare_sources, law_changes
from scalograph.protocol.compared_results import ResultComparison, ResultComparisons
from scalograph.protocol.findings import Curve, FactorDoc, LawDoc, Trust
from tests.kit.findings import cases_of
from tests.kit.refusals import refuses
from tests.unit.exchange.compare.made import source

CURVE = {1: 8.0, 2: 4.2, 4: 2.3, 8: 1.4}


OLD = source("old", CURVE)


def compared(old: MeasuredSource, new: MeasuredSource, margin: float | None = None) -> ResultComparison:
    return compare_sources(old, [new], margin).results[0]


def cases(old: MeasuredSource, *new: MeasuredSource, margin: float | None = None) -> dict[str, dict[str, Any]]:
    return cases_of(compare_claim(compare_sources(old, new, margin)))


def grown(by: float, only: int | None = None) -> dict[int, float]:
    return {n: t * (by if only in (None, n) else 1.0) for n, t in CURVE.items()}


def test_a_common_factor_is_the_same_shape_at_another_level_also_of_a_rate() -> None:
    new = source("new", grown(1.1))
    found = compared(OLD, new)
    assert found.answer == "slower" and found.shift and found.shift.value == pytest.approx(1.1)
    assert found.alike is not None and found.alike < 0.1
    assert cases(OLD, new)["alike"]["gain"] == found.shift
    rate = {"better": "higher", "unit": "1/s", "title": "throughput"}
    found = compared(source("old", CURVE, response=rate), source("new", grown(0.8), response=rate))
    assert found.answer == "slower" and found.shift and found.shift.value == pytest.approx(0.8)


def test_one_level_is_told_by_itself_and_the_worst_of_several_is_the_answer() -> None:
    found = compared(OLD, source("new", grown(1.2, only=8)))
    assert [one.shown for one in found.configurations] == ["equivalent", "equivalent", "equivalent", "slower"]
    assert found.answer == "slower" and found.alike is None
    values = cases(OLD, source("new", grown(1.2, only=8)))
    assert values["different"]["who"] == "8 threads" and values["different"]["gain"] == found.configurations[3].ratio
    assert (values["beside"]["n"], values["beside"]["all"]) == (1, 4)
    assert compared(OLD, source("new", grown(0.8, only=8))).answer == "faster"
    slower_and_faster = source("new", grown(1.2, only=8) | {1: 6.0})
    assert compared(OLD, slower_and_faster).answer == "slower"
    ((name, ratios),) = cases(OLD, slower_and_faster)["beside"]["faster"]
    assert name == "1 thread" and [e.value for e in ratios] == pytest.approx([0.75])
    found = compare_sources(OLD, [source("a", grown(0.7)), source("b", CURVE), source("c", grown(1.4))])
    assert [one.answer for one in found.results] == ["faster", "equivalent", "slower"] and found.answer == "slower"
    assert [case.values["other"] for case in compare_claim(found).cases] == ["c", "a", "b"]  # the worst first


@pytest.mark.parametrize("times", [grown(1.1), grown(1.2, only=8), grown(1.2, only=8) | {1: 6.0}, grown(2.5, only=4)])
def test_every_number_of_the_sentences_is_that_of_a_row(times: dict[int, float]) -> None:
    claim = compare_claim(compare_sources(OLD, [source("new", times)]))
    assert claim.matrix is not None
    shown = [cell.estimate for row in claim.matrix.rows for cell in row.cells if cell.estimate]
    values = [case.values for case in claim.cases]
    named = [one["gain"] for one in values if "gain" in one]
    named += [e for one in values for _, ratios in one.get("faster", []) for e in ratios]
    assert named and all(any(e == cell for cell in shown) for e in named)


@pytest.mark.parametrize(("before", "after", "answer", "widest"), [
    (1.0, 1.03, "slower", 0.05), (0.01, 0.02, "inconclusive", 9.0), (1.0, 1.0000001, "equivalent", 1e-3),
    (1.0, 1.0, "inconclusive", 0.0),
])  # fmt: skip
def test_times_without_variance_are_no_certainty(before: float, after: float, answer: str, widest: float) -> None:
    old, new = (source(label, {1: time}, (1.0, 1.0, 1.0)) for label, time in (("old", before), ("new", after)))
    (result,) = compare_sources(old, [new]).results
    (row,) = result.configurations
    assert result.answer == answer
    assert bool(widest) == (row.ratio.low is not None and row.ratio.low < row.ratio.high <= 1 + widest)


def test_the_same_only_within_the_margin() -> None:
    new, slower = source("new", CURVE), source("new", grown(1.03))
    assert compared(OLD, new).answer == compared(OLD, new, 0.05).answer == "equivalent"
    narrow = compared(OLD, new, 0.001)
    assert (narrow.answer, narrow.case) == ("inconclusive", "open") and "the margin is 0.1%" in narrow.why
    assert cases(OLD, new, margin=0.001)["open"]["most"] == narrow.reach
    # A difference that is shown, and is within the margin, is none.
    assert (compared(OLD, slower).answer, compared(OLD, slower, 0.10).answer) == ("slower", "equivalent")


@pytest.mark.parametrize("refused", ["old", "new"])
def test_of_a_study_that_was_disturbed_nothing_is_compared(refused: str) -> None:
    why = "31 of 60 runs were disturbed"
    sides = [source(n, t, refused=why if n == refused else "") for n, t in (("old", CURVE), ("new", grown(2.0)))]
    found = compared(*sides)
    assert found.answer == "inconclusive" and why in found.why
    assert found.case == "refused" and [*cases(*sides)] == ["refused"]


def test_disturbed_configurations_and_few_runs_decide_nothing_and_doubts_are_passed_on() -> None:
    found = compared(source("old", CURVE, doubt="includes disturbed runs"), source("new", grown(3.0, only=1)))
    assert found.configurations[0].shown == "inconclusive" and found.configurations[0].doubt
    assert found.answer == "equivalent" and found.n_inconclusive == 1
    assert compared(source("old", CURVE, (1.0,)), source("new", grown(2.0), (1.0,))).answer == "inconclusive"
    new = source("new", CURVE, trust=Trust(level="caution", sentence="The machine drifted."))
    assert compared(OLD, new).doubts == ["Of new: The machine drifted."]


@pytest.mark.parametrize("odd", [(0.0, 1.0), (1e-300, 1e300), (1e308, 1e308)])
def test_scores_without_a_ratio_leave_it_open(odd: tuple[float, ...]) -> None:
    new = source("new", CURVE)
    first, *others = new.configurations
    strange = first._replace(scores=(*odd, *first.scores[2:]))
    found = compared(OLD, replace(new, configurations=(strange, *others)))
    assert found.n_inconclusive == 1 and found.configurations[0].ratio.value is None
    assert (found.answer, found.case) == ("inconclusive", "few runs") and found.why.startswith("no interval in 1 of ")
    grew = source("new", grown(3.0)).configurations
    assert compared(OLD, replace(new, configurations=(strange, *grew[1:]))).answer == "slower"


def test_what_only_the_other_has_is_named() -> None:
    more = {**CURVE, **{2**i: 1.0 for i in range(4, 9)}}
    comparisons = compare_sources(OLD, [source("new", more)])
    named = comparisons.results[0].added
    assert [text.rpartition("=")[2] for text in named] == ["16", "32", "64", "128", "256"]
    (sentence,) = [text for text in compare_claim(comparisons).sentences if text.startswith("New in new, ")]
    assert all(name in sentence for name in named[:4]) and "1 more" in sentence


def test_a_score_of_zero_is_the_reason() -> None:
    new = source("new", CURVE)
    zeros = [
        row._replace(scores=(0.0,) * len(row.scores), estimate=summarize([0.0] * len(row.scores)))
        for row in new.configurations
    ]
    found = compared(OLD, replace(new, configurations=tuple(zeros)))
    assert (found.answer, found.case, found.why) == ("inconclusive", "refused", "a score of 0 has no ratio")


def test_what_differs_around_the_runs_is_told() -> None:
    machine = {"kernel": "6.12.1", "n_cpus": 2, "clock_mhz": 2000.0, "jvms_used": {"25": "25.0.1"}}
    old = source("old", CURVE, machine=machine, levels={"version": "a"})
    new = source("new", CURVE, machine={**machine, "kernel": "6.18.4", "clock_mhz": 2001.0}, levels={"version": "b"})
    found = compare_sources(old, [new])
    told = [(one.what, one.reference, one.other) for one in found.results[0].differences]
    assert told == [("kernel", "6.12.1", "6.18.4"), ("version", "a", "b")]
    assert differences(found).startswith("differs: kernel 6.12.1")


@pytest.mark.parametrize("odd", [10**400, "much", None, [1], True, {"a": 10**9}])
def test_facts_that_nobody_measured_are_differences_like_any(odd: object) -> None:
    facts = ("memory_bytes", "clock_mhz", "n_cpus")
    old = source("old", CURVE, machine=dict.fromkeys(facts, 1000.5))
    new = source("new", CURVE, machine=dict.fromkeys(facts, odd))
    assert len(compared(old, new).differences) == (0 if odd is None else 3)
    refuses(StudyError, "does not record its clock", divide_scores, new, "clock")


def test_sources_without_a_common_configuration_are_refused_and_rows_are_chosen() -> None:
    with pytest.raises(StudyError, match="no configuration that both have"):
        compared(source("old", {1: 1.0, 2: 1.0}), source("new", {4: 1.0, 8: 1.0}))
    refuses(StudyError, "figures of one unit", compared, OLD, source("new", CURVE, response={"unit": "bytes"}))
    refuses(StudyError, "no configuration with threads=3", select_levels, [OLD], ["threads=3"])
    found = published_source("published:parallel-build:smp=smp,scheduler=ule,tree=full")
    assert [configuration.levels["jobs"] for configuration in found.configurations] == [1, 2, 4, 8]
    assert found.response.name == "wall" and found.is_printed


def test_scores_are_counted_per_clock_and_per_cpu() -> None:
    """A processor with a clock that is 16.5% higher took 40% less time: 1.43 times as much in a cycle."""
    old, new = source("old", CURVE, machine={"clock_mhz": 2000.0}), source("new", grown(0.6))
    found = compared(divide_scores(old, "clock"), divide_scores(new, "clock", 2330.0))
    assert found.shift and 1 / (found.shift.value or 0) == pytest.approx(1.43, abs=0.005)
    refuses(StudyError, "does not record its clock", divide_scores, new, "clock")
    times = divide_scores(source("old", CURVE, (1.0, 1.0)), "cpu")
    assert times.configurations[2].scores[0] == pytest.approx(4 * 2.3)
    rates = divide_scores(source("old", CURVE, (1.0, 1.0), response={"better": "higher"}), "cpu")
    assert rates.configurations[2].scores[0] == pytest.approx(2.3 / 4)


@pytest.mark.parametrize(("slower", "margin", "floor", "machine", "warned"), [
    (1.1, None, 0.0, {"cpu_model": "one"}, True),  # nothing is known
    (1.1, None, 0.03, {"cpu_model": "one"}, False),  # a floor is kept
    (1.1, 0.05, 0.0, {"cpu_model": "one"}, False),  # a margin was asked
    (1.0, None, 0.0, {"cpu_model": "one"}, False),  # no difference
    (1.1, None, 0.0, {}, False),  # not measured here
])  # fmt: skip
def test_a_difference_is_told_with_care_where_nobody_knows_how_much_the_machine_changes(
    slower: float, margin: float | None, floor: float, machine: dict[str, str], warned: bool
) -> None:
    old, new = (replace(source(name, grown(by)), machine=machine) for name, by in (("old", 1.0), ("new", slower)))
    doubts = compare_sources(old, [new], margin, floor=floor).results[0].doubts
    assert [text.startswith("Results of different times differ") for text in doubts] == [True] * warned


NAMES = {"threads": 1}


def with_law(label: str, sigma: float, *flags: Flag) -> MeasuredSource:
    fixed = Estimate(0.001, 0.0005, 0.002)
    law = LawDoc(
        sigma=Estimate(sigma, 0.9 * sigma, 1.1 * sigma), kappa=fixed, gamma=fixed, optimum=fixed, twice=fixed,
        flags=list(flags), largest=8,
    )  # fmt: skip
    made = source(label, {n: t * (1 + sigma) for n, t in CURVE.items()})
    return replace(made, curves=(Curve(group={}, factor="threads", points=[], law=law),))


def test_only_what_does_not_touch_changed_and_the_claim_names_it() -> None:
    found = law_changes(with_law("old", 0.10), with_law("new", 0.20), NAMES)
    assert [(one.coefficient, one.reference.value, one.other.value) for one in found] == [("sigma", 0.10, 0.20)]
    assert law_changes(with_law("old", 0.10), with_law("new", 0.11), NAMES) == []
    assert law_changes(with_law("old", 0.10), with_law("new", 0.20, Flag("lack of fit", "")), NAMES) == []
    assert cases(with_law("old", 0.10), with_law("new", 0.20))["law"]["changes"] == ["sigma rises"]


@pytest.mark.parametrize("changed", ["--where", "--per"])
def test_no_law_is_compared_of_anything_else_than_it_was_fitted_to(changed: str) -> None:
    both = [with_law("old", 0.10), with_law("new", 0.20)]
    chosen = select_levels(both, ["threads=2", "threads=4"])
    old, new = chosen if changed == "--where" else [divide_scores(one, "cpu") for one in both]
    found = compare_sources(old, [new])
    assert found.results[0].laws == [] and found.results[0].laws_left_out
    assert "no law" in cases_of(compare_claim(found))


def test_a_whole_curve_that_is_chosen_keeps_its_law() -> None:
    every = []
    for label, sigma in (("old", 0.10), ("new", 0.20)):
        one = with_law(label, sigma)
        (curve,) = one.curves
        locks = tuple(curve.model_copy(update={"group": {"lock": lock}}) for lock in ("none", "cas"))
        of_locks = [(lock, own) for lock in ("none", "cas") for own in one.configurations]
        own = tuple(own._replace(levels={**own.levels, "lock": lock}) for lock, own in of_locks)
        factors = {**one.factors, "lock": FactorDoc(name="lock", title="lock", levels=[])}
        every.append(replace(one, curves=locks, configurations=own, factors=factors))
    old, new = select_levels(every, ["lock=cas"])
    (found,) = compare_sources(old, [new]).results
    assert [one.group for one in found.laws] == [{"lock": "cas"}] and not found.laws_left_out


def test_windows_against_os_x_and_nothing_from_disturbed_runs_alone() -> None:
    found = compare_sources(published_source("published:8"), [published_source("published:15")])
    (one,) = found.results
    ratios = {configuration.levels["threads"]: configuration.ratio.value or 0 for configuration in one.configurations}
    assert 1 / ratios[1] == pytest.approx(1.52, abs=0.005)
    middle = [ratios[n] for n in (2, 8, 32, 128)]
    assert (min(middle), max(middle)) == pytest.approx((1.06, 1.23), abs=0.005)
    assert ratios[512] == pytest.approx(2.08, abs=0.005) and one.answer == "inconclusive"
    assert [(d.what, d.reference, d.other) for d in one.differences] == [("os", "Windows XP", "Mac OS X 10.4.8")]
    told = cases_of(compare_claim(found))
    assert [*told] == ["refused", "values"]
    assert [e.value for e in told["values"]["values"]] == pytest.approx([1 / 1.52, 2.08], abs=0.005)
    lost = [ratio.model_copy(update={"doubt": "includes disturbed runs"}) for ratio in one.configurations]
    busy = one.model_copy(update={"configurations": lost, "why": "a: 9 of 9 runs were disturbed"})
    busy_claim = compare_claim(found.model_copy(update={"results": [busy]}))
    (sentence,) = busy_claim.sentences
    assert sentence == "Inconclusive: a: 9 of 9 runs were disturbed. Compare both in pairs (scalograph ab)."


# Blocks that differ by half, which single runs could not see through.
BLOCKS = (1.0, 1.5, 0.8, 1.2, 1.4, 0.9, 1.1, 1.3)
PAIRED = {"./old": "old", "./new": "new"}


def study(new: float, refused: str = "") -> MeasuredSource:
    old = source("s", {1: 1.0}, BLOCKS, levels={"version": "./old"}, refused=refused)
    own = [score * new * (1 + 0.001 * (i % 3)) for i, score in enumerate(BLOCKS)]
    new_ones = source("s", {1: 1.0}, own, levels={"version": "./new"}).configurations
    return replace(old, configurations=(*old.configurations, *new_ones))


def said(new: float, margin: float | None = None, refused: str = "") -> ResultComparisons:
    return paired_versions(study(new, refused), "version", PAIRED, margin)


def test_pairs_show_what_blocks_would_hide() -> None:
    (case,) = compare_claim(said(0.957)).cases
    assert case.case == "different" and case.values["gain"] == said(0.957).results[0].configurations[0].ratio
    assert (said(0.957).answer, said(1.05).answer) == ("faster", "slower")
    assert said(1.01).answer == said(1.03, margin=0.05).answer == "equivalent"
    found = said(2.0, refused="9 of 16 runs were disturbed")
    assert found.answer == "inconclusive" and "9 of 16" in found.results[0].why


def test_pairs_beyond_the_plan_hold_with_more_confidence() -> None:
    def ends(planned: int | None) -> tuple[float, float]:
        compared = paired_versions(study(1.01), "version", PAIRED, planned=planned)
        ratio = compared.results[0].configurations[0].ratio
        assert ratio.low and ratio.high and ratio.confidence == 0.95
        return ratio.low, ratio.high

    assert ends(None) == ends(len(BLOCKS)) and ends(5)[0] < ends(None)[0] < ends(None)[1] < ends(5)[1]
    before, after = ([c * x for x in BLOCKS] for c in (1.0, 1.01))
    after = [score * (1 + 0.001 * (i % 3)) for i, score in enumerate(after)]
    assert ends(5) == pytest.approx([*versus(after, before, 0.965)][::2])


@pytest.mark.parametrize(("half", "n", "margin", "precision", "options"), [
    (0.03, 40, 0.02, 0.01, "Add pairs: --pairs 348"),  # three times as wide as it may be: nine times as many
    (0.02, 40, 0.01, 0.01, "Add pairs: --pairs 610 --precision 0.5%"),  # at 1% the pairs would end too early
    (0.02, 9, 0.02, 0.01, "Add pairs: --pairs 29"),
])  # fmt: skip
def test_open_answers_name_deciding_pairs(half: float, n: int, margin: float, precision: float, options: str) -> None:
    """Made-up intervals; with as many pairs their ends are no farther apart than the margin."""
    (result,) = said(1.0).results
    ratio = Estimate(1.0, math.exp(-half), math.exp(half), 0.95, n)
    row = result.configurations[0].model_copy(update={"ratio": ratio, "shown": "inconclusive"})
    update = {"configurations": [row], "margin": margin, "answer": "inconclusive", "case": "open"}
    assert pairs_remedy(result.model_copy(update=update), precision) == options
    assert pairs_remedy(result.model_copy(update={**update, "case": "refused"}), precision) == ""
