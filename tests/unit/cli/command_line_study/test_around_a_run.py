"""Options for what is around a run: environment, input, exit codes, quotes, and the short ones of hyperfine."""

from pathlib import Path

import pytest

from scalograph.cli.app import app
from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.cli.command_line_study.option_texts import argv, read_exits, read_variable
from scalograph.errors import StudyError
from scalograph.study.load import parse


def test_a_variable_has_the_value_that_is_given_or_that_it_has_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "x=y")
    assert (read_variable("A=1"), read_variable("A="), read_variable("HERE")) == (
        ("A", "1"),
        ("A", ""),
        ("HERE", "x=y"),
    )
    monkeypatch.delenv("HERE")
    for text, told in (("HERE", "HERE, which is not set here"), ("=1", "NAME=VALUE, or NAME")):
        with pytest.raises(StudyError, match=told):
            read_variable(text)


def test_exit_codes_are_a_list(tmp_path: Path) -> None:
    assert read_exits(" 1, 0,1") == [0, 1]
    for text in ("", "256", "-1", "a", "0,,1", "1000"):
        with pytest.raises(StudyError, match="exit codes such as 0,1"):
            read_exits(text)


def test_a_command_line_in_quotes_is_refused_with_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(
        StudyError, match=r"leave out the quotes: -- sleep 1 +\(for pipes and the like: --shell -- 'sleep 1'\)"
    ):
        argv(["sleep 1"], shell=False)
    program = tmp_path / "my prog"
    program.write_text("")
    program.chmod(0o755)
    assert argv([str(program)], shell=False) == (str(program),)
    assert argv(["sleep 1"], shell=True) == ("sh", "-c", "sleep 1")


def test_the_study_says_what_was_asked() -> None:
    command = CommandStudy(("grep", "x"), env_all=True, input="in.txt", ok_exits=(0, 1), protocol={"runs": 3})
    use = parse(study_text(command)).workload
    assert (use.env_all, use.input, use.ok_exits) == (True, "in.txt", [0, 1])
    plain = study_text(CommandStudy(("grep", "x"), protocol={"runs": 3}))
    assert not {"env_all", "input", "ok_exits"} & set(plain.split())


def test_short_options_are_those_of_hyperfine() -> None:
    measure = app.get_command(app.make_context("scalograph", ["measure", "--help"], resilient_parsing=True), "measure")
    options = {name: parameter.name for parameter in measure.params for name in parameter.opts}
    assert (options["-r"], options["-w"], options["--warmup"]) == ("runs", "warmup_runs", "warmup_runs")
    assert [options[name] for name in ("-s", "-p", "-c")] == ["setup", "prepare", "cleanup"]
