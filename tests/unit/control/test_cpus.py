"""The control `cpus`."""

import pytest

from scalograph.control.control import Launch, Level, LevelError
from scalograph.control.placement import CpusControl
from tests.kit.studies import facts_of

HOST = facts_of(64)
CONTROL = CpusControl()


@pytest.mark.parametrize(
    ("levels", "resolved"), [([1, 2], [1, 2]), (["all"], [64]), ([1, 64, "all"], [1, 64]), ([64], [64])]
)
def test_levels(levels: list[Level], resolved: list[Level]) -> None:
    assert CONTROL.resolve(levels, HOST) == resolved


@pytest.mark.parametrize(
    ("level", "said"),
    [
        (96, "level 96 exceeds the 64 CPUs of this host; lower it or choose another host"),
        (0, "level 0, expected a count of CPUs from 1; correct it"),
        (-1, "level -1, expected"),
        (True, "level True, expected"),
        (1.0, "level 1.0, expected"),
        ("two", "level 'two', expected"),
    ],
)
def test_refused_levels(level: Level, said: str) -> None:
    with pytest.raises(LevelError) as caught:
        CONTROL.resolve([1, level], HOST)
    assert str(caught.value).startswith(said)


def test_the_count_is_set_in_the_launch() -> None:
    assert CONTROL.apply(Launch(), 2, HOST).n_cpus == 2
