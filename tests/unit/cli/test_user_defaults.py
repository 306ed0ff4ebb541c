"""Defaults that a user keeps in config.toml: they stand in place of ours, and an option wins."""

import json
from pathlib import Path

import pytest

from scalograph.cli.user_defaults import KEYS, OWN_LIMIT, defaults_file, read_defaults
from scalograph.errors import Exit, StudyError
from tests.golden.command import scalograph
from tests.kit.command import in_process, simulated
from tests.kit.results import events_in
from tests.unit.cli.offered import known
from tests.unit.cli.test_compare import journal


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a user who has a folder of configurations."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "scalograph" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


def test_the_file_is_where_the_system_has_configurations() -> None:
    assert defaults_file({"HOME": "/h"}) == Path("/h/.config/scalograph/config.toml")
    assert defaults_file({"HOME": "/h", "XDG_CONFIG_HOME": "/c"}) == Path("/c/scalograph/config.toml")
    assert defaults_file({"HOME": "/h", "XDG_CONFIG_HOME": "here"}) == Path("/h/.config/scalograph/config.toml")
    assert read_defaults({"HOME": "/dev/null"}) == {}


def test_a_default_stands_in_place_of_ours_and_an_option_wins(tmp_path: Path, config: Path) -> None:
    config.write_text('margin = "30%"\n')
    for name, slower in (("a", 1.0), ("b", 1.2)):
        journal(tmp_path, name, slower)
    assert "margin 30%" in scalograph(["compare", "a", "b"], tmp_path).printed
    done = scalograph(["compare", "a", "b", "--margin", "5%"], tmp_path)
    assert done.code == Exit.SLOWER and "margin 5%" in done.printed


def test_a_result_holds_what_came_from_it(tmp_path: Path, config: Path) -> None:
    config.write_text('budget = "3min"\nwait_quiet = "10ms"\nwhen_busy = "stop"\nmargin = "5%"\n')
    words = ["measure", "-r", 3, "-o", "results", "--when-busy", "cpu-time", "--", "true"]
    done = in_process(*words, cwd=tmp_path, env=simulated(tmp_path, {"true": 0.1}))
    assert done.returncode in (Exit.DONE, Exit.NO_ANSWER), done.stderr
    protocol = events_in(tmp_path / "results", "study")[0]["study"]["protocol"]
    kept = {key: protocol[key] for key in ("budget_s", "wait_quiet_s", "when_busy")}
    assert kept == {"budget_s": 180.0, "wait_quiet_s": 0.01, "when_busy": "cpu-time"}
    assert 'budget = "3min"' in (tmp_path / "results" / "study.toml").read_text()


def test_the_limit_of_a_study_is_its_own_and_help_shows_the_default(tmp_path: Path, config: Path) -> None:
    config.write_text('budget = "4min"\n')
    commands = (["find", "cliff"], ["run"], ["study"])
    helps = [scalograph([*words, "--help"], tmp_path).printed for words in commands]
    assert ["default 4min" in text for text in helps] == [True, False, False]
    assert all("--budget" in known(name) for name in OWN_LIMIT)
    assert {f"--{key.replace('_', '-')}" for key in KEYS} <= known("ab")


@pytest.mark.parametrize(("text", "wrong", "hint"), [
    ('marign = "5%"', 'unknown key "marign"', 'did you mean "margin"?'),
    ("margin = 5", "margin = 5 is not valid", 'write margin = "5%"'),
    ('budget = "soon"', "budget = 'soon' is not valid", 'write budget = "5min"'),
    ('when_busy = "wait"', "when_busy = 'wait' is not valid", 'write when_busy = "cpu-time"'),
    ("margin", "is not valid TOML", "write lines such as"),
    ("# " + "x" * (64 << 10), "cannot be read", "correct or remove it"),
])  # fmt: skip
def test_a_wrong_key_or_value_is_one_error(tmp_path: Path, config: Path, text: str, wrong: str, hint: str) -> None:
    config.write_text(f"{text}\nbudgte = 1")
    done = scalograph(["measure", "--", "true"], tmp_path)
    error, fix = done.printed.splitlines()
    assert done.code == Exit.STUDY and error.startswith(f"error: {config}: ") and wrong in error and hint in fix
    assert scalograph(["--help"], tmp_path).code == Exit.DONE


def test_bytes_that_are_no_text_are_refused(config: Path) -> None:
    config.write_bytes(b'margin = "\xff"')
    with pytest.raises(StudyError, match="is not valid TOML"):
        read_defaults()


def test_doctor_names_the_file_where_there_is_one(tmp_path: Path, config: Path) -> None:
    assert json.loads(in_process("doctor", "--json", cwd=tmp_path).stdout)["defaults"]["values"] == {}
    config.write_text('margin = "5%"\nwait_quiet = "1min"\n')
    assert f"Your defaults ({config}): margin 5%, wait_quiet 1min" in in_process("doctor", cwd=tmp_path).stdout
