"""What is written or shown beside an answer: the document of --json in a file, and what runs write as it comes."""

import json
from pathlib import Path

import pytest

from scalograph.cli.console import terminal_echo
from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.kit.command import degraded, in_process, simulated
from tests.kit.results import records_in
from tests.unit.cli.offered import known
from tests.unit.cli.test_compare import journal


@pytest.mark.parametrize(("words", "as_json"), [
    (["compare", "a", "b"], ["--json"]),
    (["gate", "b", "--against", "a"], ["--format", "json"]),
    (["history", "."], ["--json"]),
])  # fmt: skip
def test_the_file_holds_the_json_beside_the_usual_answer(tmp_path: Path, words: list[str], as_json: list[str]) -> None:
    for name, slower in (("a", 1.0), ("b", 1.2)):
        journal(tmp_path, name, slower)
    plain = scalograph(words, tmp_path)
    done = scalograph([*words, "--export-json", "out.json"], tmp_path)
    # The last line names the command that was typed.
    assert done.code == plain.code and done.printed.partition("\ntables")[0] == plain.printed.partition("\ntables")[0]
    assert (tmp_path / "out.json").read_text() == scalograph([*words, *as_json], tmp_path).printed


def test_a_measurement_writes_its_document_with_the_place_of_its_results(tmp_path: Path) -> None:
    words = ["measure", "-r", 3, "-o", "results", "--json", "--export-json", "out.json", "--", "true"]
    done = in_process(*words, cwd=tmp_path, env=simulated(tmp_path, {"true": 0.1}))
    document = json.loads((tmp_path / "out.json").read_text())
    assert document == json.loads(done.stdout) and document["results"] == "results" and document["claim"]


@pytest.mark.parametrize(("file", "code", "message"), [
    ("nowhere/out.json", Exit.HOST, "nowhere/out.json: cannot be written"), (".", Exit.STUDY, "use a plain file"),
    ("/dev/null", Exit.STUDY, "--export-json /dev/null is not valid"),
])  # fmt: skip
def test_an_impossible_place_is_refused_before_any_run(tmp_path: Path, file: str, code: Exit, message: str) -> None:
    done = in_process("measure", "--export-json", file, "--", "touch", "ran", cwd=tmp_path)
    assert done.returncode == code and message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["measure", "ab", "compare", "gate", "history", "find", "load"])
def test_every_command_with_a_document_has_it(command: str) -> None:
    assert "--export-json" in known(command)


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
