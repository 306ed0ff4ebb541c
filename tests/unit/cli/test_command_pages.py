"""The manual page, what a shell completes, and the page for users of other tools: all name commands that there are."""

import re
import shlex

import pytest

from scalograph.cli.app import COMMANDS, app
from scalograph.cli.main import _code
from scalograph.cli.man_page import man_page, roff
from scalograph.study.shipped import shipped_studies
from tests.kit.sources import ROOT
from tests.unit.cli.offered import known, parameters


def test_the_page_has_every_command_with_its_options_and_is_printed_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    page = man_page(app, COMMANDS)
    assert all(f'.SS "scalograph {name}"' in page for name in COMMANDS)
    assert ".B \\-r, \\-\\-runs" in page and ".B scalograph find cliff" in page
    macros = {"TH", "SH", "SS", "PP", "TP", "B", "I"}
    assert {line[1:3].strip() for line in page.splitlines() if line.startswith((".", "'"))} <= macros
    assert _code(["--man"]) == 0 and capsys.readouterr().out == man_page(app, COMMANDS)
    assert roff("'quoted' \\ -x") == "\\&'quoted' \\\\ \\-x"


@pytest.mark.parametrize(("words", "place", "found"), [
    ("scalograph me", "1", "measure"), ("scalograph study thread-sc", "2", "thread-scaling"),
    ("scalograph import hyp", "2", "hyperfine"), ("scalograph measure --wait-l", "2", "--wait-lock"),
])  # fmt: skip
def test_commands_options_and_names_are_completed(
    words: str, place: str, found: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"COMP_WORDS": words, "COMP_CWORD": place, "_SCALOGRAPH_COMPLETE": "complete_bash"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        _code([])
    assert found in capsys.readouterr().out.split()
    assert found in {*COMMANDS, *shipped_studies(), "hyperfine", "--wait-lock"}


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
