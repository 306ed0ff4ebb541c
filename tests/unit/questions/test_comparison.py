"""What a study says first that declares the comparison which answers its title."""

from typing import Any

import numpy as np
import pytest
from simulate.noise import Noise
from simulate.scaling import Shape, simulate_study

from scalograph.errors import StudyError
from scalograph.findings.curves import make_curves
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.protocol.published_claim import PublishedCurve, PublishedPoint
from scalograph.questions.claims import add_published
from scalograph.questions.comparison import declared_claim
from scalograph.questions.scaling.claim import claim as scaling_claim
from scalograph.study.identity import study_hash
from scalograph.study.load import parse
from scalograph.study.model import DeclaredComparison, replace_claims
from scalograph.study.published_claim import PublishedClaim
from tests.kit.findings import cases_of

EIGHT = {"of": {"threads": 8}, "over": {"threads": 1}}


def flat(n: float) -> float:
    return 1.0


def half(n: float) -> float:
    return 0.5 if n == 8 else 1.0


def twice(n: float) -> float:
    return 2.0 if n == 8 else 1.0


def claim(*shapes: Shape, compare: list[dict[str, Any]], sd: float = 0.003) -> Claim:
    given = table(*shapes, compare=compare, sd=sd)
    stated = declared_claim(given, samples_by_configuration(given))
    assert stated is not None
    return stated


def table(*shapes: Shape, compare: list[dict[str, Any]], sd: float = 0.003) -> Table:
    """Times of a configuration: one over its shape at so many threads."""
    given = simulate_study(np.random.default_rng(2), shapes, Noise(0.0, sd))
    comparisons = [DeclaredComparison.model_validate(one) for one in compare]
    given.study = given.study.model_copy(update={"compare": comparisons})
    return given


@pytest.mark.parametrize(
    ("shape", "name", "ratio"), [(flat, "same", 1.0), (half, "differs", 2.0), (twice, "differs", 0.5)]
)
def test_the_ratio_is_that_of_the_declared_levels_in_their_order(shape: Shape, name: str, ratio: float) -> None:
    stated = claim(shape, compare=[EIGHT])
    case = stated.cases[0]
    assert (
        case.case == name and stated.answered and (case.values["of"], case.values["over"]) == ("8 threads", "1 thread")
    )
    (estimate,) = case.values["ratio"]
    assert estimate.contains(ratio) and estimate.value == pytest.approx(ratio, rel=0.02)
    assert stated.matrix and stated.matrix.columns == ["8 threads", "1 thread", "ratio"]
    values = [quantity.estimate.value for quantity in case.values["values"]]
    assert len(values) == (0 if name == "same" else 2)
    assert not values or values[0] / values[1] == pytest.approx(ratio, rel=0.02)


def test_what_is_otherwise_elsewhere_stands_beside_it() -> None:
    stated = claim(flat, flat, half, compare=[EIGHT])
    assert stated.cases[0].case == "same" and stated.cases[0].values["where"] == ["lock 0 or 1"]
    ((where, (ratio,)),) = cases_of(stated)["beside"]["more"]
    assert where == "lock 2" and ratio.value == pytest.approx(2.0, rel=0.02)
    # The levels of `where` alone.
    (only,) = claim(flat, flat, half, compare=[{**EIGHT, "where": {"lock": "2"}}]).cases
    assert only.case == "differs" and only.values["where"] == ["lock 2"]


def test_ratios_that_are_not_alike_have_the_least_and_the_largest() -> None:
    (stated,) = claim(half, lambda n: 0.25 if n == 8 else 1.0, compare=[EIGHT]).cases
    assert [round(e.value) for e in stated.values["ratio"]] == [2, 4] and not stated.values["values"]


def test_noise_decides_nothing_and_says_how_large_a_difference_may_be() -> None:
    stated = claim(flat, compare=[EIGHT], sd=0.08)
    assert stated.cases[0].case == "open" and not stated.answered
    assert 0.05 < stated.cases[0].values["most"] < 1
    assert claim(flat, compare=[EIGHT], sd=0.8).cases[0].case == "too noisy"


def test_without_other_levels_the_value_itself_answers() -> None:
    single = {"of": {"threads": 8}}
    (value,) = claim(half, half, compare=[single]).cases
    assert value.case == "value" and value.values["value"].estimate.value == pytest.approx(2.0, rel=0.02)
    (ends,) = claim(flat, half, compare=[single]).cases
    assert (ends.case, ends.values["low"], ends.values["high"]) == ("range", "lock 0", "lock 1")
    assert ends.values["most"].estimate.value / ends.values["least"].estimate.value == pytest.approx(2.0, rel=0.02)


def test_a_comparison_that_decides_stands_before_one_that_does_not() -> None:
    ninth = {"of": {"threads": 9}, "over": {"threads": 1}}
    assert [case.case for case in claim(half, compare=[ninth, EIGHT]).cases] == ["differs"]
    given = table(half, compare=[ninth])
    assert declared_claim(given, samples_by_configuration(given)) is None  # its levels were not measured


PAPER: dict[str, Any] = {"kind": "ratio", "holds": [0.5, 2.0], "id": "a", "sentence": "b"}


@pytest.mark.parametrize(
    ("of", "over", "where", "text"),
    [(8, 1, {}, "Published: 1.8\N{MULTIPLICATION SIGN}."), (1, 8, {}, "Published: 0.556\N{MULTIPLICATION SIGN}."),
     (8, 1, {"lock": "1"}, ""), (9, 1, {}, "")],
)  # fmt: skip
def test_the_ratio_of_a_paper_stands_beside_that_of_the_same_levels(
    of: int, over: int, where: dict[str, Any], text: str
) -> None:
    given = table(half, half, compare=[{**EIGHT, "where": {"lock": "0"}}])
    paper = {**PAPER, "of": {"threads": of}, "over": {"threads": over}, "where": where, "published": 1.8}
    given.study = replace_claims(given.study, [PublishedClaim.model_validate(paper)])
    stated = declared_claim(given, samples_by_configuration(given))
    assert stated and stated.published == text


def test_the_speedup_of_a_paper_stands_beside_that_of_the_same_configuration() -> None:
    here: dict[str, Any] = {"lock": "1", "threads": 8}
    stated = Claim(sentences=["A."], about=[here])
    curves = [
        PublishedCurve(group={"lock": lock}, factor="threads", points=[PublishedPoint(level=n, values={"speedup": x})])
        for lock, n, x in (("1", 8, 1.81), ("1", 4, 3.0), ("0", 8, 4.0), ("1", 8, 1.98))
    ]
    assert (
        add_published(stated, curves).published
        == "Published: 1.81\N{MULTIPLICATION SIGN} to 1.98\N{MULTIPLICATION SIGN}."
    )
    assert add_published(stated, curves[1:3]).published == ""
    # What a sweep says first names its configurations.
    swept = simulate_study(np.random.default_rng(2), [twice, flat], Noise(0.0, 0.003))
    samples = samples_by_configuration(swept)
    spoken = scaling_claim(swept, samples, make_curves(swept, samples))
    assert spoken and spoken.about == [{"lock": "0", "threads": 8}] and "about" not in spoken.model_dump()


STUDY = """
version = 1
name = "a"
title = "A?"
work = "total"
seed = 1
workload = { command = ["true", "{threads}"] }
factors.threads = { levels = [1, 8] }
"""


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("of = {}", "compare"),
        ("of = { threads = 8 }\nover = { cpus = 1 }", "cpus"),
        ("of = { threads = 8 }\nover = { threads = 8 }", "levels twice"),
        ("of = { threads = 8 }\nwhere = { threads = 1 }", "levels twice"),
        ("of = { threads = 9 }", "9"),
        ('of = { threads = 8 }\nresponse = "heat"', "heat"),
    ],
)
def test_a_comparison_of_what_is_not_declared_is_refused(declared: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        parse(f"{STUDY}[[compare]]\n{declared}\n")


def test_a_comparison_only_shows_results() -> None:
    declared = parse(f"{STUDY}[[compare]]\nof = {{ threads = 8 }}\nover = {{ threads = 1 }}\n")
    assert declared.compare and study_hash(declared) == study_hash(parse(STUDY))
