"""A short form of benchmarks/inputs_campaign.py: inputs of every kind, each answered by one message and exit code."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.kit import ROOT

FOLDER = ROOT / "benchmarks"
# Others than the campaign begins with.
FIRST, N = 1_000_000, 250


@pytest.fixture(scope="module")
def campaign() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield importlib.import_module("inputs_campaign")


def test_every_input_ends_in_one_message_and_its_exit_code(campaign: ModuleType) -> None:
    ended = list(campaign.batch(FIRST, FIRST + N))
    assert [one["seed"] for one in ended] == list(range(FIRST, FIRST + N))
    assert {(one["seed"], one["defect"], one["place"]) for one in ended if one["defect"]} == set()
    assert {one["code"] for one in ended} >= {0, 2, 6}


def test_a_seed_is_one_input_for_ever(campaign: ModuleType) -> None:
    cases = sys.modules["inputs_cases"]
    kinds = [cases.kind_of(seed) for seed in range(FIRST, FIRST + 100)]
    assert {kind: kinds.count(kind) for kind in cases.KINDS} == {
        kind: share for kind, (_, share) in cases.KINDS.items()
    }
    for kind in cases.KINDS:
        seed = FIRST + kinds.index(kind)
        one, again = cases.case(seed), cases.case(seed)
        assert one == again and one.files
