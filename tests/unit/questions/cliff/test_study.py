"""A study that asks for a cliff, from its file to its findings, on a simulated machine."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import analyze_steps
from scalograph.errors import Exit
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.run.session import Session
from scalograph.study.levels import Configuration
from tests.kit import simulated
from tests.kit.findings import claim_of
from tests.kit.refusals import mistakes
from tests.kit.simulated import cliffs_of, notes_of
from tests.kit.studies import a_study, plan_of

WALL = {"wall": {"from": "window.wall", "unit": "s"}}
STUDY = a_study({"threads": "1:512"}, question="cliff", seed=3, responses=WALL)


class Machine(simulated.Machine):
    """A host on which time jumps at some levels, with page faults that move there too."""

    def __init__(self, jumps: Mapping[int, float], failing_from: int = 10_000, **more: Any) -> None:
        def seconds(levels: Configuration) -> float:
            return math.prod(factor for level, factor in jumps.items() if int(levels["threads"]) >= level)

        super().__init__(seconds, lambda levels: int(levels["threads"]) >= failing_from, **more)
        self.first = min(jumps, default=0)

    def record(self, levels: Configuration, wall: float, **figures: Any) -> Record:
        faults = 100 if int(levels["threads"]) < self.first else 1000
        return super().record(levels, wall, **figures).replace_values(n_minor_faults=faults)


def run(folder: Path, machine: simulated.Machine, text: str = STUDY) -> tuple[Session, Findings]:
    return simulated.run(folder, machine, text, 2)


def test_a_cliff_is_found_with_what_moved_beside_the_time(tmp_path: Path) -> None:
    machine = Machine({220: 2.0})
    done, found = run(tmp_path, machine)
    assert done.reason == "complete" and len(machine.made) <= 26
    assert cliffs_of(found).decided and cliffs_of(found).n == len(machine.made)
    (cliff,) = cliffs_of(found).cliffs
    assert cliff.location == pytest.approx(220, rel=0.05) and cliff.low < 220 <= cliff.high
    assert cliff.factor[0] < 2 < cliff.factor[2] and cliff.gradual < 0.5
    first, matrix = claim_of(found).cases[0], claim_of(found).matrix
    assert (first.case, first.values["place"]) == ("rise", f"{cliff.low:.0f} and {cliff.high:.0f} threads")
    assert matrix and [row.label for row in matrix.rows] == [f"{cliff.low:.0f} to {cliff.high:.0f}"]
    assert any("page faults 10.0\N{MULTIPLICATION SIGN}" in text for text in found.answer)
    assert [table.id for table in found.tables][:3] == ["cliffs", "cliff-sides-0", "cliff-levels"]
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_a_place_that_moves_is_an_answer(tmp_path: Path) -> None:
    """It is 150 in about half of the runs, else 260."""
    runs = count()

    def seconds(levels: Configuration) -> float:
        jump = 150 if math.sin(78.233 * next(runs)) > 0 else 260
        return 2.0 if int(levels["threads"]) >= jump else 1.0

    done, found = run(tmp_path, simulated.Machine(seconds))
    assert done.reason == "complete" and cliffs_of(found).decided
    low, high = cliffs_of(found).wanders or (0, 0)
    assert 150 <= low <= high < 260
    assert [case.case for case in claim_of(found).cases] == ["moves", "slowed"]
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_a_search_that_ended_early_says_what_it_did_not_check_and_after_how_many_runs(tmp_path: Path) -> None:
    whole = Machine({220: 2.0})
    run(tmp_path / "whole", whole)
    budget = f"[protocol]\nbudget_runs = {len(whole.made) - 1}\n"
    _, found = run(tmp_path / "cut", Machine({220: 2.0}), STUDY + budget)
    assert cliffs_of(found).cliffs and not cliffs_of(found).decided
    assert "unconfirmed" in [case.case for case in claim_of(found).cases]
    assert "search open" in found.trust.codes
    _, found = run(tmp_path, Machine({220: 2.0}), STUDY + "[protocol]\nbudget_runs = 13\n")
    first = claim_of(found).cases[0]
    assert (first.case, first.values["n"], claim_of(found).answered) == ("open", 13, False)
    assert found.trust.codes[0] == "search open"


def test_a_search_never_goes_by_cpu_time(tmp_path: Path) -> None:
    responses = {**WALL, "cpu": {"from": "run.cpu", "unit": "s"}}
    text = a_study({"threads": "1:512"}, question="cliff", responses=responses, protocol={"when_busy": "cpu-time"})
    _, found = run(tmp_path, Machine({220: 2.0}, disturbed=range(100)), text)
    assert found.trust.level == "unusable"


def test_no_cliff_is_an_answer_and_what_comes_and_goes_is_told(tmp_path: Path) -> None:
    _, found = run(tmp_path, Machine({}))
    assert cliffs_of(found).decided and not cliffs_of(found).cliffs
    first = claim_of(found).cases[0]
    assert (first.case, first.values["range"]) == ("none", "1 to 512 threads")
    assert analyze_steps.exit_code(found) == Exit.DONE
    _, found = run(tmp_path / "goes", Machine({60: 2.0, 200: 0.5}))
    assert len(cliffs_of(found).cliffs) == 2
    assert "higher between" in [case.case for case in claim_of(found).cases]


def test_a_disturbed_run_moves_no_cliff(tmp_path: Path) -> None:
    machine = Machine({220: 2.0}, disturbed=(5,))
    _, found = run(tmp_path, machine)
    assert cliffs_of(found).n == len(machine.made) - 1
    assert cliffs_of(found).cliffs[0].location == pytest.approx(220, rel=0.05)


def test_levels_that_fail_end_the_range_and_few_are_none(tmp_path: Path) -> None:
    done, found = run(tmp_path, Machine({50: 2.0}, failing_from=300))
    assert any("failed 2 times: excluded" in text for text in notes_of(done))
    assert cliffs_of(found).cliffs[0].low < 50 <= cliffs_of(found).cliffs[0].high
    (text,) = mistakes(plan_of, tmp_path, STUDY.replace("1:512", "1:4"))
    assert "4 levels are too few for a search, expected at least 5" in text


SEQUENCE = """\
import math
from scalograph.questions.cliff.search_state import CliffState

state = CliffState(range(1, 513), 5)
while (n := state.next_level) is not None and len(state.n) < 60:
    state.observe(n, (1.4 if n >= 173 else 1.0) * n**0.05 * math.exp(0.04 * math.sin(12.9898 * len(state.n))))
print(state.n)
"""


def test_other_linear_algebra_asks_the_same_questions() -> None:
    """OpenBLAS takes other kernels for other cores, whose last bits differ."""
    sequences = set()
    for core in ("Haswell", "Nehalem", "Sandybridge"):
        env = {**os.environ, "OPENBLAS_CORETYPE": core}
        done = subprocess.run([sys.executable, "-c", SEQUENCE], env=env, capture_output=True, text=True, check=True)
        sequences.add(done.stdout)
    assert len(sequences) == 1 and len(json.loads(sequences.pop())) >= 14
