import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.study import LevelsError, needs_host, parse_levels


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("1,2,8", [1, 2, 8]),
        ("1:8", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("1:512:*2", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]),
        ("0:30:+10", [0, 10, 20, 30]),
        ("0", [0]),
        ("1.5, 2", [1.5, 2]),
        ("none,method", ["none", "method"]),
        ("1:3,8", [1, 2, 3, 8]),
    ],
)
def test_grammar(text: str, levels: list[object]) -> None:
    assert parse_levels(text) == levels


def test_all_is_the_host_and_never_twice() -> None:
    assert parse_levels("1:all", 4) == [1, 2, 3, 4]
    assert parse_levels("1,2,all", 2) == [1, 2]
    assert parse_levels("1:all:*2", 6) == [1, 2, 4]
    with pytest.raises(LevelsError, match="host is not known"):
        parse_levels("1:all")


@pytest.mark.parametrize(
    "text", ["", ",", "8:1", "1:8:*1", "0:8:*2", "1:8:+0", "1:", ":3", "1:2:3", "1,1", "1:100000", "-1:4", "a:b"]
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(LevelsError, match="found"):
        parse_levels(text)


def test_a_word_that_contains_all_needs_no_host() -> None:
    assert not needs_host("small,tall,allocate")


@given(st.integers(1, 300), st.integers(0, 300))
def test_a_range_is_the_list_it_stands_for(first: int, more: int) -> None:
    spelled_out = ",".join(str(level) for level in range(first, first + more + 1))
    assert parse_levels(f"{first}:{first + more}") == parse_levels(spelled_out)


def test_two_levels_that_print_alike_are_not_equal() -> None:
    assert parse_levels("1,1.0") == [1, 1.0]
    assert [type(level) for level in parse_levels("1,1.0")] == [int, float]
