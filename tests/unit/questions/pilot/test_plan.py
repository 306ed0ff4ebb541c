"""A pilot is a small study at the ends of a large one."""

import pytest

from scalograph.design.planner import Design
from scalograph.design.resolve import design
from scalograph.questions.pilot.plan import ends, pilot_study, takes_iterations
from scalograph.study.levels import Configuration
from scalograph.study.load import parse
from scalograph.study.model import Study
from tests.kit.findings import ONE_FACTOR
from tests.kit.studies import VALID, facts_of

HOST = facts_of(4)
ITERATED = VALID.replace('"{threads}"]', '"{threads}", "-i", "{iterations}"]')


def planned(text: str) -> tuple[Study, Design]:
    study = parse(text)
    return study, design(study, HOST)


def pilot_of(text: str, iterated: bool = True) -> tuple[Study, list[Configuration]]:
    """The pilot and its configurations, planned anew from what the pilot declares."""
    small = pilot_study(*planned(text), iterated)
    return small, list(design(small, HOST).configurations)


ENDS = {(1, "none"), (1, "cas"), (4, "none"), (4, "cas")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (VALID, ENDS),
        (VALID.replace("[baseline]\nthreads = 1\n", ""), ENDS),
        (f'{VALID}\n[[exclude]]\nthreads = [4]\nlock = ["cas"]\n', {*ENDS, (2, "cas")} - {(4, "cas")}),
        (VALID.replace('"1,2,4"', "[1]").replace('["none", "cas"]', '["none"]'), {(1, "none")}),
    ],
    ids=["of the first and the last curve", "along the factor with the most levels", "not what is left out", "of one"],
)
def test_its_configurations_are_the_ends(text: str, expected: set[tuple[int, str]]) -> None:
    configurations = pilot_of(text)[1]
    assert {(t["threads"], t["lock"]) for t in configurations} == expected and len(configurations) == len(expected)
    assert len(expected) > 1 or ends(planned(text)[1]) == configurations


@pytest.mark.parametrize(("protocol", "iterated", "expected"), [
    ("runs = 3", True, {"runs": 3, "budget_s": 60}),
    ("runs = 40\niterations = 4\nwarmup = 2", True, {"iterations": 7}),
    ("runs = 40\niterations = 4\nwarmup = 2", False, {"iterations": 4}),
    ("iterations = 50", True, {"iterations": 50}), ('budget = "20min"', True, {"budget_s": 120}),
    ('budget = "2min"', True, {"budget_s": 60}),
])  # fmt: skip
def test_it_has_five_iterations_and_a_minute_or_less(protocol: str, iterated: bool, expected: dict[str, int]) -> None:
    small = pilot_of(VALID.replace("runs = 3", protocol), iterated)[0].protocol
    assert {name: getattr(small, name) for name in expected} == expected


def test_few_configurations_run_more_often() -> None:
    assert pilot_of(ONE_FACTOR)[0].protocol.runs == 5


@pytest.mark.parametrize(
    ("levels", "baseline", "found"), [('"1,2,4"', "4", {1, 4}), ('"1,2,4"', "2", {2, 4}), ('"1:all"', "1", {1, 4})]
)
def test_the_baseline_is_one_of_them(levels: str, baseline: str, found: set[int]) -> None:
    text = VALID.replace('"1,2,4"', levels).replace("threads = 1", f"threads = {baseline}")
    assert {configuration["threads"] for configuration in pilot_of(text)[1]} == found


def test_of_many_factors_no_other_is_run_in_results_of_its_own() -> None:
    more = "".join(f'[factors.f{n}]\nlevels = ["a", "b", "c"]\n' for n in range(6))
    text = VALID.replace("[protocol]", more + "[protocol]")
    small, configurations = pilot_of(text)
    assert len(configurations) == 4
    assert len(small.exclude) < 40
    small, _ = pilot_of(VALID.replace("runs = 3", 'runs = 40\nprecision = "1%"'))
    assert small.name == "hello-pilot"
    assert small.protocol.precision is None
    long = pilot_of(VALID.replace('"hello"', f'"{"a" * 56}-{"b" * 7}"'))[0].name
    assert long == "a" * 56 + "-pilot"


def test_who_says_how_many_iterations_there_are() -> None:
    study = parse(ITERATED)
    assert takes_iterations(study, ["./prog", "{iterations}"])
    assert not takes_iterations(study, ["./prog", "{threads}"])
    factor = parse(ITERATED.replace("[factors.lock]", '[factors.iterations]\nlevels = "1,2"\n[factors.lock]'))
    assert not takes_iterations(factor, ["./prog", "{iterations}"])
    other = parse(VALID + '\n[responses.rss]\nfrom = "run.max_rss"\n')
    assert not takes_iterations(other, ["./prog", "{iterations}"])
