"""A coefficient of the law is said to change where its intervals do not touch, and the law holds in both."""

from dataclasses import replace

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import Flag
from scalograph.exchange.compare.compare_claim import compare_claim
from scalograph.exchange.compare.law_changes import law_changes
from scalograph.exchange.compare.measured_source import MeasuredSource
from scalograph.exchange.compare.result_answer import compared
from scalograph.protocol.findings import Curve, LawDoc

from .made import source

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
    told = compare_claim(compared(with_law("old", 0.10), [with_law("new", 0.20)])).sentences
    assert told[1].startswith("Of the scaling law changed: sigma 0.10")
