"""A study that asks for precision, and the smallest effect that the runs of a table can show."""

import re
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
from scalograph.protocol.findings import Findings
from scalograph.study.load import parse
from tests.kit.findings import CONFIGURATIONS, ONE_FACTOR, findings_of, point_at
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


RESPONSES = (
    '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n\n[responses.nice]\nfrom = "value.nice"\nbetter = "none"\n'
)


def notes(found: Findings) -> dict[str, str]:
    return {table.id: table.note for table in found.tables}


def study(tmp_path: Path, wishes: str = "") -> Findings:
    """Ten blocks; with `cas` runs differ ten times as much as without a lock."""
    made = []
    for block in range(10):
        for t in CONFIGURATIONS:
            spread = 0.10 if t["lock"] == "cas" else 0.01
            wall = 1 + spread * (block - 4.5) / 4.5
            made.append((t, recorded(wall, cpus=(0, 1), values={"nice": [5.0]})))
    return findings_of(tmp_path, made, VALID + RESPONSES + wishes)


def wish(response: str, where: str = "") -> str:
    return f'\n[[tables]]\ntitle = "T"\nrows = "threads"\nresponse = "{response}"\nwhere = {{ lock = "{where}" }}\n'


def effect(note: str) -> float:
    (found,) = re.findall(r"n = 10 runs: effects on wall between two configurations from ([\d.]+) % are visible", note)
    return float(found)


def test_the_note_says_what_the_study_says(tmp_path: Path) -> None:
    made = [({"threads": n}, recorded((1 + 0.01 * (i % 3)) / n, cpus=(0, 1))) for i in range(10) for n in (1, 2, 4)]
    found = findings_of(tmp_path, made, ONE_FACTOR)
    assert found.noise
    least = f"{found.noise.minimum_detectable_percent:.2g} %"
    told = f"n = 10 runs: effects on wall time between two configurations from {least} are visible"
    assert notes(found)["configurations"].endswith(f"the other factors equal; {told}")


def test_each_table_has_the_effect_of_its_own_runs_once(tmp_path: Path) -> None:
    found = notes(study(tmp_path, wish("wall", "none") + wish("wall", "cas")))
    assert effect(found["declared-1"]) == pytest.approx(10 * effect(found["declared-0"]), rel=0.2)
    found = notes(study(tmp_path, 3 * wish("wall", "none")))
    assert [note.count("are visible") for name, note in found.items() if name.startswith("declared")] == [1, 0, 0]
    assert notes(study(tmp_path, wish("nice", "none")))["declared-0"] == ""


def test_one_configuration_alone_is_not_too_noisy_to_compare(tmp_path: Path) -> None:
    made = [({"threads": 1}, recorded(1 + 0.9 * (i % 3), cpus=(0, 1))) for i in range(6)]
    alone = findings_of(tmp_path, made, ONE_FACTOR)
    assert alone.trust.sentence.startswith("Runs differ by ")
    two = findings_of(tmp_path, [*made, *(({"threads": 2}, one) for _, one in made)], ONE_FACTOR)
    assert two.trust.sentence == "Too noisy to compare." and "too noisy to compare" in " ".join(notes(two).values())
    told = [alone.trust.sentence, *alone.trust.points, *alone.trust.causes, *notes(alone).values()]
    assert "compare" not in " ".join(told)
