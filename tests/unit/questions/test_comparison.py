"""What a study says first that declares the comparison which answers its title."""

from typing import Any

import numpy as np
import pytest
from simulate.noise import Noise
from simulate.scaling import Shape, simulate_study

from scalograph.errors import StudyError
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.comparison import declared_claim
from scalograph.study.identity import study_hash
from scalograph.study.load import parse
from scalograph.study.model import DeclaredComparison
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
