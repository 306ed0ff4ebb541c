"""A coefficient of the law is said to change where its intervals do not touch, and the law holds in both."""

from dataclasses import replace

import pytest

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.exchange.compare.compare_claim import compare_claim
from scalograph.exchange.compare.measured_source import MeasuredSource, divide_scores, select_levels
from scalograph.exchange.compare.result_answer import compare_sources, law_changes
from scalograph.protocol.findings import Curve, FactorDoc, LawDoc
from tests.unit.exchange.compare.made import source

CURVE = {1: 8.0, 2: 4.2, 4: 2.3, 8: 1.4}
NAMES = {"threads": 1}


def with_law(label: str, sigma: float, *flags: Flag) -> MeasuredSource:
    fixed = Estimate(0.001, 0.0005, 0.002)
    law = LawDoc(
        sigma=Estimate(sigma, 0.9 * sigma, 1.1 * sigma), kappa=fixed, gamma=fixed, optimum=fixed, twice=fixed,
        flags=list(flags), largest=8,
    )  # fmt: skip
    made = source(label, {n: t * (1 + sigma) for n, t in CURVE.items()})
    return replace(made, curves=(Curve(group={}, factor="threads", points=[], law=law),))


def test_only_what_does_not_touch_changed() -> None:
    found = law_changes(with_law("old", 0.10), with_law("new", 0.20), NAMES)
    assert [(one.coefficient, one.reference.value, one.other.value) for one in found] == [("sigma", 0.10, 0.20)]
    assert law_changes(with_law("old", 0.10), with_law("new", 0.11), NAMES) == []
    assert law_changes(with_law("old", 0.10), with_law("new", 0.20, Flag("lack of fit", "")), NAMES) == []


def test_the_claim_names_it() -> None:
    case = compare_claim(compare_sources(with_law("old", 0.10), [with_law("new", 0.20)])).cases[-1]
    assert (case.case, case.values["changes"]) == ("law", ["sigma rises"])


@pytest.mark.parametrize("changed", ["--where", "--per"])
def test_no_law_is_compared_of_anything_else_than_it_was_fitted_to(changed: str) -> None:
    both = [with_law("old", 0.10), with_law("new", 0.20)]
    chosen = select_levels(both, ["threads=2", "threads=4"])
    old, new = chosen if changed == "--where" else [divide_scores(one, "cpu") for one in both]
    found = compare_sources(old, [new])
    assert found.results[0].laws == [] and found.results[0].laws_left_out
    assert "no law" in [case.case for case in compare_claim(found).cases]


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
