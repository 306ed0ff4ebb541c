"""A study that asks for precision: which rule, which score, and what the answer says of it."""

from pathlib import Path

import pytest

from scalograph.analysis.stopping import SEQUENTIAL, Stopping
from scalograph.cli.analyze_steps import exit_code
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import run_plan
from scalograph.design.resolve import design
from scalograph.design.sequential import SequentialPlanner
from scalograph.design.stopping_rule import score, stopping
from scalograph.errors import StudyError
from scalograph.study.load import parse
from tests.kit.findings import ONE_FACTOR, findings_of, point_at
from tests.kit.records import record, recorded
from tests.kit.studies import VALID, facts_of

ASKED = VALID.replace("runs = 3", 'runs = 16\nprecision = "1%"\niterations = 3\nwarmup = 1')
HOST = facts_of()


def test_rule_planner_and_score_are_the_studys() -> None:
    assert stopping(parse(ASKED)) == Stopping(0.01, 16, 0.95) and stopping(parse(VALID)) is None
    assert isinstance(run_plan(design(parse(ASKED), HOST)).planner(), SequentialPlanner)
    assert isinstance(run_plan(design(parse(VALID), HOST)).planner(), GridPlanner)
    found = record(iterations=[(5.0, 1.0, 7), (1.0, 1.0, 7), (3.0, 1.0, 7)])
    assert score(parse(ASKED), found) == 2.0
    assert score(parse(ASKED.replace("iterations = 3", "iterations = 4")), record(iterations=[])) == 1.0


@pytest.mark.parametrize("runs", ["", "runs = 8"])
def test_a_precision_that_could_never_end_a_study_is_refused(runs: str) -> None:
    with pytest.raises(StudyError, match=r"protocol.runs: [58] beside precision, expected at least 9, .*give 100, say"):
        parse(VALID.replace("runs = 3", f'{runs}\nprecision = "1%"'))
    parse(VALID.replace("runs = 3", 'runs = 9\nprecision = "1%"\n') + "[quick]\nprotocol = { runs = 2 }\n")


def made(n_blocks: int) -> list[tuple[dict[str, object], dict[str, object]]]:
    return [
        ({"threads": n}, recorded((1 + 0.001 * (i % 3)) / n, cpus=(0, 1, 2, 3)))
        for i in range(n_blocks)
        for n in (1, 2)
    ]


def test_a_configuration_that_is_precise_is_not_short_of_runs_and_one_that_is_not_is(tmp_path: Path) -> None:
    text = ONE_FACTOR.replace("runs = 3", 'runs = 40\nprecision = "1%"')
    found = findings_of(tmp_path, made(25), text)
    assert SEQUENTIAL in point_at(found, 2).responses["wall"].estimate.warnings
    assert SEQUENTIAL not in point_at(found, 2).responses["cpu"].estimate.warnings
    assert found.runs.n_short == 0 and found.trust.level == "believe"
    text = ONE_FACTOR.replace("runs = 3", 'runs = 40\nprecision = "0.001%"')
    noisy = findings_of(tmp_path, [*made(25), ({"threads": 4}, recorded(0.2, status="failed", reason="x"))], text)
    assert noisy.runs.n_short == 1  # made() asks for what it has: of the failed one there is none
    text = ONE_FACTOR.replace("runs = 3", 'runs = 25\nprecision = "0.001%"')
    found = findings_of(tmp_path, made(25), text)
    assert found.trust.level == "doubt"
    assert found.trust.sentence == "2 of 2 configurations are less precise than asked."
    assert exit_code(found) == 0
