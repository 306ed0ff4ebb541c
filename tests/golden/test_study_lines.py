"""The golden studies of protocol/examples, as `scalograph check` reads them."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.golden.command import scalograph
from tests.kit import EXAMPLES

ACCEPTED = sorted((EXAMPLES / "study_accepted").glob("*.toml"))
REJECTED = sorted((EXAMPLES / "study_rejected").glob("*.toml"))


@pytest.mark.parametrize("file", ACCEPTED, ids=lambda file: file.stem)
def test_a_golden_study_is_understood_as_written(file: Path) -> None:
    found = scalograph(["check", "--json", file.name], file.parent)
    assert found.code == 0, found.printed
    assert json.loads(found.printed) == json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", REJECTED, ids=lambda file: file.stem)
def test_every_mistake_of_a_golden_study_is_told_where_it_is(file: Path) -> None:
    found = scalograph(["check", file.name], file.parent)
    assert found.code == 2
    expected = file.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    said = found.printed.splitlines()
    assert [line[: len(start)] for line, start in zip(said, expected, strict=True)] == expected


def test_every_question_and_every_table_of_a_study_has_an_example() -> None:
    studies = [tomllib.loads(file.read_text(encoding="utf-8")) for file in ACCEPTED]
    questions = {"sweep", "effective-cpus", "cliff", "break-even", "throughput", "within-limit", "tunables"}
    assert {study.get("question", "sweep") for study in studies} == questions
    tables = {"workload", "factors", "exclude", "responses", "protocol", "baseline", "reference", "tables", "quick"}
    assert tables <= set(next(study for study in studies if study["name"] == "hello-threads"))
