"""The page for users of other tools names commands and options that there are."""

import re
import shlex

import pytest

from scalograph.cli.app import COMMANDS, app
from tests.kit.sources import ROOT
from tests.unit.cli.offered import known, parameters

PAGE = (ROOT / "docs" / "howto" / "coming-from.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").replace(r"\|", " ").split("|") for line in PAGE.splitlines() if line.startswith("| ")][1:]
# Parts of a command line that begin one of ours, in the column of what does it here.
CALLS = [
    code.removeprefix("scalograph ")
    for row in ROWS
    for code in re.findall(r"`([^`]+)`", row[1])
    if re.match(r"(scalograph )?(\w+)( |$)", code) and code.removeprefix("scalograph ").split()[0] in COMMANDS
]
# Of `measure` and of `run`, where a row names an option alone.
ALONE = sorted({code.split()[0].split("=")[0] for row in ROWS for code in re.findall(r"`(--?[a-z][^`]*)`", row[1])})


def test_there_are_thirty_rows_and_an_option_that_stands_alone_is_one_of_some_command() -> None:
    assert len(ROWS) >= 30 and len(CALLS) >= 15 and all(len(row) == 2 for row in ROWS)
    every = {option for name in COMMANDS for option in known(name)} | set(parameters(app)) | {"--install-completion"}
    assert set(ALONE) <= every


@pytest.mark.parametrize("call", CALLS)
def test_a_command_has_the_options_that_a_row_gives_it(call: str) -> None:
    name, *words = shlex.split(call.partition(" -- ")[0])
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert options <= known(name)
