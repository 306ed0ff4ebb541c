"""`--show-output`: what runs write goes to standard error as it comes, and nothing of it is kept."""

import json
from pathlib import Path

import pytest

from scalograph.cli.console import terminal_echo
from tests.kit.command import degraded, in_process
from tests.kit.results import records_in
from tests.unit.cli.offered import known

WORDS = ("measure", "-r", 3, "-o", "results", "--json", "--shell")
COMMAND = ("--", "echo out; echo ops: 5; echo err >&2")


@pytest.mark.parametrize("more", [(), ("--response", "ops(1/s):higher: ^ops: ([0-9]+)")])
def test_each_run_is_shown_and_the_document_stays_alone(tmp_path: Path, more: tuple[str, ...]) -> None:
    done = in_process(*WORDS, "--show-output", *more, *COMMAND, cwd=tmp_path, env=degraded(tmp_path))
    lines = done.stderr.splitlines()
    assert [lines.count(text) for text in ("out", "ops: 5", "err")] == [3, 3, 3]
    assert json.loads(done.stdout)["claim"]
    copies = [copy for record in records_in(tmp_path / "results") for copy in record["copies"]]
    assert {(copy["stdout"], copy["stdout_truncated"]) for copy in copies} == {(None, False)}


def test_nothing_is_shown_where_nobody_asks(tmp_path: Path) -> None:
    done = in_process(*WORDS, *COMMAND, cwd=tmp_path, env=degraded(tmp_path))
    assert not {"out", "err"} & {*done.stderr.splitlines()}


def test_a_character_that_comes_in_two_pieces_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    echo = terminal_echo()
    for piece in (b"a\xc3", b"\xa9\xff", b"\n"):
        echo(piece)
    assert capsys.readouterr().err == "a\u00e9\ufffd\n"


@pytest.mark.parametrize("command", ["measure", "ab", "find"])
def test_commands_that_measure_a_command_have_it(command: str) -> None:
    assert "--show-output" in known(command) and "--show-output" not in known("load")
