import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.study.levels import LevelsError, check_levels, is_possible_level, needs_host, parse_levels
from scalograph.study.scalars import Level
from tests.kit.refusals import refuses


@pytest.mark.parametrize(("text", "levels"), [
    ("1,2,8", [1, 2, 8]),
    ("1:8", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("1:512:*2", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]),
    ("0:30:+10", [0, 10, 20, 30]),
    ("0", [0]),
    ("1.5, 2", [1.5, 2]),
    ("none,method", ["none", "method"]),
    ("1:3,8", [1, 2, 3, 8]),
    ("17-debian,4k,-1,1.50", ["17-debian", "4k", -1, 1.5]),
])  # fmt: skip
def test_grammar(text: str, levels: list[object]) -> None:
    assert parse_levels(text) == levels


def test_all_is_the_host_and_never_twice() -> None:
    assert parse_levels("1:all", 4) == [1, 2, 3, 4] and parse_levels("1,2,all", 2) == [1, 2]
    assert parse_levels("1:all:*2", 6) == [1, 2, 4]
    refuses(LevelsError, "host is not known", parse_levels, "1:all")
    assert not needs_host("small,tall,allocate")
    refuses(LevelsError, "more than 4096", parse_levels, ",".join(["1:4096"] * 100_000))


@pytest.mark.parametrize("text", [
    "", ",", "8:1", "1:8:*1", "0:8:*2", "1:8:+0", "1:", ":3", "1:2:3", "1,1", "1:100000", "-1:4", "a:b",
    # Numbers in another notation, which are no texts either.
    "1_0", "0x10", "1e5", "nan", "-inf", "007", "+1", "1.", ".5", "\u0661", "9" * 30, "1,1.0",
])  # fmt: skip
def test_what_is_refused(text: str) -> None:
    refuses(LevelsError, "found", parse_levels, text)


@given(st.integers(1, 300), st.integers(0, 300))
def test_a_range_is_the_list_it_stands_for(first: int, more: int) -> None:
    spelled_out = ",".join(str(level) for level in range(first, first + more + 1))
    assert parse_levels(f"{first}:{first + more}") == parse_levels(spelled_out)


@pytest.mark.parametrize("levels", [[1, True], [1, 1.0], [0, False], [2, "2"], [True, "true"], ["a", "a"]], ids=repr)
def test_levels_that_are_equal_or_read_alike_are_one(levels: list[Level]) -> None:
    refuses(LevelsError, "expected each level once", check_levels, levels)


@pytest.mark.parametrize("level", [math.nan, math.inf, 1 << 63, "a\0b", [1], None], ids=repr)
def test_what_is_no_level(level: Any) -> None:
    refuses(LevelsError, r"^found .*, expected", check_levels, [level])


@pytest.mark.parametrize(("level", "text", "is_possible"), [
    (7, "1:all", True), (3000, "1:all", True), (0, "1:all", False), (-1, "1:all", False), ("x", "1:all", False),
    (True, "1:all", False), (7, "1,all", True), (3, "1:all:*2", False), (2000, "100:all", True),
])  # fmt: skip
def test_which_levels_a_host_may_have(level: Level, text: str, is_possible: bool) -> None:
    assert is_possible_level(level, text) is is_possible


@given(st.integers(-(10**17), 10**17) | st.floats(-1e9, 1e9).map(lambda x: round(x, 3)))
def test_a_plain_number_is_itself(number: float) -> None:
    text = f"{number:.3f}" if isinstance(number, float) else str(number)
    assert parse_levels(text) == [number]
