"""`scalograph ab`: the study that it declares, and what it refuses."""

import pytest

from scalograph.cli.ab_command import AbOptions, _study
from scalograph.cli.adhoc.declaration import study_text
from scalograph.cli.options import CommandOptions
from scalograph.errors import StudyError


def declared(a: str, b: str, *words: str, threads: str | None = None) -> str:
    return study_text(_study(AbOptions(a=a, b=b, threads=threads), CommandOptions(command=list(words))))


def test_two_builds_are_levels_of_a_factor_and_the_first_is_the_reference() -> None:
    text = declared("./old", "./new", "{version}", "--size", "9")
    assert 'levels = "./old,./new"' in text and '[reference]\nversion = "./old"' in text
    assert 'precision = "1%"' in text and "runs = 40" in text and "What `scalograph ab` ran" in text
    assert "[factors.threads]" in declared("a", "b", "./{version}", "{threads}", threads="1,2")


@pytest.mark.parametrize(
    ("a", "b", "command", "message"),
    [
        ("old", "new", ["./prog"], "no {version}"),
        ("old", "old", ["./{version}"], "--a, --b"),
        ("a,b", "c", ["./{version}"], "without commas"),
        ("1:3", "4", ["./{version}"], "--a, --b"),
    ],
)
def test_what_makes_no_two_versions_is_refused(a: str, b: str, command: list[str], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        declared(a, b, *command)
