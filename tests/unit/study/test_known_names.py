"""Names: those of the schema of study.toml, and the nearest one where a name is none of those that there are."""

import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.main import _code
from scalograph.control.control import LevelError, find_control
from scalograph.design.resolve import assumed_host
from scalograph.errors import StudyError
from scalograph.protocol.facts import HostFacts
from scalograph.study import model
from scalograph.study.declare import declare_shipped
from scalograph.study.load import parse
from scalograph.study.model import study_schema
from scalograph.study.scalars import unknown_name_error
from scalograph.study.shipped import shipped_studies, shipped_study, shipped_workload
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


# Tables whose keys are names that a study chooses, or that the page tells of in one row.
WHOLE = ("parameters", "env", "tables", "published", "quick", "exclude", "baseline", "reference", "process", "reset")


@cache
def schema() -> dict[str, Any]:
    return study_schema()


def keys(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        here = (*path, "NAME" if path in (("factors",), ("responses",)) else name)
        if isinstance(value, dict) and name not in (*WHOLE, "conditions"):
            yield from keys(value, here)
        else:
            yield here


def test_every_key_of_a_shipped_study_is_known_and_explained() -> None:
    used = {
        key
        for name in shipped_studies()
        for key in keys(tomllib.loads((shipped_study(name) / "study.toml").read_text(encoding="utf-8")))
    }
    parts = {key: model._find_part(schema(), schema(), list(key)) for key in used}
    assert {key for key, part in parts.items() if part is None} == set()
    named = {("name",), ("title",)}
    unsaid = {key for key, part in parts.items() if part is not None and "description" not in part} - named
    # These the page tells below its table.
    assert unsaid <= {key for key in unsaid if key[0] == "responses" and key[-1] in ("unit", "better", "title", "from")}


def test_it_is_a_schema_that_editors_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert schema()["$schema"].endswith("2020-12/schema") and schema()["title"] == "study.toml"
    assert "runs per configuration" in schema()["$defs"]["Protocol"]["properties"]["runs"]["description"]
    both = [schema()["$defs"]["WorkloadUse"]["properties"][name]["description"] for name in ("prepare", "cleanup")]
    assert both[0] == both[1]
    monkeypatch.setattr(model, "_PAGES", ())
    assert "description" not in study_schema()["$defs"]["Protocol"]["properties"]["runs"]
