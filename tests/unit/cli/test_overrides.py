"""Options that say what a study says in `[protocol]`."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import doctor_command
from scalograph.cli.app import app
from scalograph.cli.options import WHEN_BUSY
from scalograph.cli.overrides import override_protocol, refuse_unused, warn_no_quick_form
from scalograph.errors import StudyError
from scalograph.study.declare import Declared
from scalograph.study.load import parse
from scalograph.study.model import Protocol
from tests.kit.refusals import refuses
from tests.kit.studies import VALID

DECLARED = Declared(parse(VALID), Path("study.toml"))


def test_each_option_changes_its_key_and_no_other() -> None:
    assert override_protocol(DECLARED) is DECLARED
    changed = override_protocol(DECLARED, "90s", 12, "10m", "stop").study
    found = changed.protocol
    assert (found.budget_s, found.budget_runs, found.wait_quiet_s, found.when_busy) == (90.0, 12, 600.0, "stop")
    kept = changed.model_copy(update={"protocol": DECLARED.study.protocol})
    assert kept == DECLARED.study and found.runs == DECLARED.study.protocol.runs
    for choice in WHEN_BUSY:
        assert Protocol.model_validate({"when_busy": choice}).when_busy == choice
    refuse_unused(False, True, ["kernel"], 4, True)
    refuse_unused(True, False, None, None, False)


def test_runs_are_those_of_a_study_in_blocks() -> None:
    assert override_protocol(DECLARED, runs=9).study.protocol.runs == 9
    precise = DECLARED.study.protocol.model_copy(update={"precision": 0.02})
    for changed, words in (
        ({"question": "cliff"}, r'--runs: the question "cliff", .*--max-runs'),
        ({"protocol": precise}, r"--runs: precision = 0.02, "),
    ):
        with pytest.raises(StudyError, match=words):
            override_protocol(Declared(DECLARED.study.model_copy(update=changed), Path("study.toml")), runs=9)


def test_quick_says_so_where_it_shortens_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    quick = Declared(parse(VALID + "[quick]\nprotocol = { runs = 2 }\n"), Path("study.toml"))
    for declared, asked in ((quick, True), (quick, False), (DECLARED, False)):
        warn_no_quick_form(declared, asked)
    assert capsys.readouterr() == ("", "")
    warn_no_quick_form(DECLARED, True)
    assert "the study declares no shorter form ([quick]), so it runs in full" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["measure", "ab", "find", "load", "study", "run", "reproduce", "doctor"])
def test_what_measures_has_the_same_limit_of_time(name: str) -> None:
    context = app.make_context("scalograph", ["--help"], resilient_parsing=True)
    command: Any = app.get_command(context, name)
    below = command.list_commands(context) if hasattr(command, "list_commands") else []
    for part in [command.get_command(context, one) for one in below] or [command]:
        (limit,) = [parameter for parameter in part.params if "--budget" in parameter.opts]
        assert limit.metavar == "TIME" and "Time limit" in limit.help, part.name


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90.0), ("2min", 120.0), ("1h", 3600.0)])
def test_a_limit_of_time_is_written_with_its_unit(text: str, seconds: float) -> None:
    assert override_protocol(DECLARED, budget=text).study.protocol.budget_s == seconds
    refuses(StudyError, '--budget: found "90", expected a number with a unit', override_protocol, DECLARED, budget="90")


def test_doctor_limits_the_time_of_its_noise_only() -> None:
    refuses(StudyError, "--budget shortens --noise only; add --noise", doctor_command.command, budget="1min")
