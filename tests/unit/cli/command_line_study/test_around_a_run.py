"""Options for what is around a run: environment, input, exit codes, quotes, and the short ones of hyperfine."""

from pathlib import Path

import pytest

from scalograph.cli.app import app
from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.cli.command_line_study.option_texts import argv, read_exits, read_variable, split
from scalograph.study.load import parse


def test_words_of_the_command_line_are_read_as_hyperfine_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "my prog"
    program.write_text("")
    program.chmod(0o755)
    assert argv([str(program)], shell=False) == (str(program),)
    assert argv(["sleep 1"], shell=True) == ("sh", "-c", "sleep 1")
    assert argv(["a", "b"], False) == ("a", "b")
    assert split("--prepare", "make 'a b'", False) == ("make", "a b")
    assert split("--prepare", "make; x", True) == ("sh", "-c", "make; x")
    monkeypatch.setenv("HERE", "x=y")
    variables = {"A=1": ("A", "1"), "A=": ("A", ""), "HERE": ("HERE", "x=y"), "A=b=c": ("A", "b=c")}
    assert {text: read_variable(text) for text in variables} == variables
    assert read_exits(" 1, 0,1") == [0, 1]
    measure = app.get_command(app.make_context("scalograph", ["measure", "--help"], resilient_parsing=True), "measure")
    options = {name: parameter.name for parameter in measure.params for name in parameter.opts}
    assert (options["-r"], options["-w"], options["--warmup"]) == ("runs", "warmup_runs", "warmup_runs")
    assert [options[name] for name in ("-s", "-p", "-c")] == ["setup", "prepare", "cleanup"]


def test_the_study_says_what_was_asked() -> None:
    command = CommandStudy(("grep", "x"), env_all=True, input="in.txt", ok_exits=(0, 1), protocol={"runs": 3})
    use = parse(study_text(command)).workload
    assert (use.env_all, use.input, use.ok_exits) == (True, "in.txt", [0, 1])
    plain = study_text(CommandStudy(("grep", "x"), protocol={"runs": 3}))
    assert not {"env_all", "input", "ok_exits"} & set(plain.split())
