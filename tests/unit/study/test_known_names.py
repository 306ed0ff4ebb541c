"""A name that is none of those which a message lists: the message asks whether the nearest one was meant."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from scalograph.control.control import LevelError, find_control
from scalograph.design.resolve import assumed_host
from scalograph.errors import StudyError
from scalograph.protocol.facts import HostFacts
from scalograph.study.declare import declare_shipped
from scalograph.study.load import parse
from scalograph.study.scalars import unknown_name_error
from scalograph.study.shipped import shipped_study, shipped_workload
from tests.kit.studies import VALID


@pytest.mark.parametrize(("look_up", "near"), [
    (lambda: declare_shipped("thread-scalin"), "thread-scaling"),
    (lambda: shipped_study("thread-scalin"), "thread-scaling"),
    (lambda: shipped_workload("java-thread"), "java-threads"),
    (lambda: find_control("placment"), "placement"),
    (lambda: parse(f'question = "clif"\n{VALID}'), "cliff"),
    (lambda: parse(VALID.replace('[factors.lock]', '[factors.lock]\ncontrol = "polcy"')), "policy"),
    (lambda: parse(VALID + '\n[conditions]\ngoverno = "performance"\n'), "governor"),
], ids=["study", "its folder", "workload", "control", "question", "control in a study", "condition"])  # fmt: skip
def test_a_name_that_does_not_exist_is_asked_back_as_the_nearest_one(look_up: Callable[[], object], near: str) -> None:
    with pytest.raises(StudyError) as refused:
        look_up()
    (problem,) = refused.value.problems
    assert problem.fix == f'did you mean "{near}"?' and f"{near}" in problem.expected


@pytest.mark.parametrize(("name", "level", "near"), [("placement", "sibling", "siblings"), ("policy", "bach", "batch")])
def test_so_is_a_level_of_a_control(name: str, level: str, near: str) -> None:
    facts: HostFacts = assumed_host(parse(VALID), 4)
    with pytest.raises(LevelError) as refused:
        find_control(name).resolve([level], facts)
    assert refused.value.fix == f'did you mean "{near}"?'


@pytest.mark.parametrize(("words", "near"), [
    (["find", "clif", "--", "true"], "cliff"),
    (["run", "study.toml", "--when-busy", "cpu-tim"], "cpu-time"),
    (["plan", "study.toml", "--host", "gest"], "guest"),
    (["import", "hyperfin", "study.toml"], "hyperfine"),
    (["fit", "study.toml", "--law", "ulsl"], "usl"),
])  # fmt: skip
def test_so_is_the_value_of_an_option(
    words: list[str], near: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(VALID.replace('"{threads}"', '"{threads}", "{lock}"'))
    assert _code(words) == 2
    assert f"did you mean {near}?" in capsys.readouterr().err.casefold().replace('"', "").replace("'", "")


def test_a_name_that_is_like_none_of_them_has_what_else_can_be_done() -> None:
    assert str(unknown_name_error("--law", '"x"', "x", ["amdahl", "usl"], "see --help")).endswith(
        "one of amdahl, usl; see --help"
    )
    assert (
        str(unknown_name_error("--figure", '"x"', "x", [], empty="no figures"))
        == '--figure: "x", expected one of no figures'
    )
