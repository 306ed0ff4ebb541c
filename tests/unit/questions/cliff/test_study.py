"""A study that asks for a cliff, from its file to its findings and back, on a simulated machine."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from scalograph.cli import analyze_steps
from scalograph.errors import Exit, StudyError
from scalograph.protocol import journal
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.run.plan import Plan, write_design
from scalograph.run.session import Session, run_session
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit import simulated as searched
from tests.kit.records import record
from tests.kit.simulated import Simulated, cliffs_of
from tests.kit.studies import facts_of, plan_of

HOST = facts_of(2)
STUDY = """\
version = 1
name = "edge"
title = "Where?"
question = "cliff"
work = "total"
seed = 3
[workload]
command = ["true", "{threads}"]
[factors.threads]
levels = "1:512"
[responses.wall]
from = "window.wall"
unit = "s"
"""


@dataclass
class Machine(Simulated):
    """A host on which time jumps at some levels, with other figures that move there too."""

    jumps: Mapping[int, float]
    failing_from: int = 10_000
    busy: tuple[int, ...] = ()

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        n = int(run.configuration["threads"])
        wall = math.prod(factor for place, factor in self.jumps.items() if n >= place)
        wall *= math.exp(0.02 * math.sin(12.9898 * len(self.made)))
        status, disturbed = "failed" if n >= self.failing_from else "ok", 0.3 if len(self.made) in self.busy else 0.0
        faults = 100 if n < min(self.jumps, default=0) else 1000
        found = record(wall, wall, cpus=(0, 1), status=status, neighbor_s=disturbed)
        return found.replace_values(n_minor_faults=faults)


def planned(folder: Path, text: str = STUDY, facts: HostFacts = HOST) -> Plan:
    return plan_of(folder, text, facts)


def run(folder: Path, machine: Machine, text: str = STUDY, facts: HostFacts = HOST) -> tuple[Session, Findings]:
    return searched.run(folder, machine, text, facts)


def said(found: Findings) -> list[str]:
    assert found.claim is not None
    return found.claim.sentences


def test_a_cliff_is_found_with_what_moved_beside_the_time(tmp_path: Path) -> None:
    machine = Machine({220: 2.0})
    done, found = run(tmp_path, machine)
    assert done.reason == "complete" and len(machine.made) <= 26
    assert cliffs_of(found).decided and cliffs_of(found).n == len(machine.made)
    (one,) = cliffs_of(found).cliffs
    assert one.location == pytest.approx(220, rel=0.05) and one.low < 220 <= one.high
    assert one.factor[0] < 2 < one.factor[2] and one.gradual < 0.5
    assert said(found)[0].split(" threads the time ")[0].endswith(f" {one.low:.0f} and {one.high:.0f}")
    assert " jumps 2.0" in said(found)[0]
    assert found.claim and found.claim.matrix and len(found.claim.matrix.rows) == 1
    assert any("page faults 10.0 times" in text for text in found.answer)
    ids = [table.id for table in found.tables]
    assert ids[:3] == ["cliffs", "cliff-sides-0", "cliff-levels"]
    assert analyze_steps.exit_code(found) == Exit.DONE


@dataclass
class Moving(Machine):
    """The place is 150 in about half of the runs, else 260."""

    def measure(self, run: Run) -> Record:
        self.jumps = {150 if math.sin(78.233 * len(self.made)) > 0 else 260: 2.0}
        return super().measure(run)


def test_a_place_that_moves_is_an_answer(tmp_path: Path) -> None:
    machine = Moving({})
    done, found = run(tmp_path, machine)
    assert done.reason == "complete" and cliffs_of(found).decided
    low, high = cliffs_of(found).wanders or (0, 0)
    assert 150 <= low <= high < 260
    assert "not always at one place" in said(found)[0]
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_a_place_that_was_not_looked_at_again_says_so(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", Machine({220: 2.0}))[0].results
    n = sum(event["event"] == "run" for event in journal.read(whole.journal))
    _, found = run(tmp_path / "cut", Machine({220: 2.0}), STUDY + f"[protocol]\nbudget_runs = {n - 1}\n")
    assert cliffs_of(found).cliffs and not cliffs_of(found).decided
    assert any("ended before it could check" in text for text in said(found))
    assert "the search ended after" in " ".join([*found.trust.causes, found.trust.sentence])


def test_a_search_never_goes_by_cpu_time(tmp_path: Path) -> None:
    text = STUDY + '[responses.cpu]\nfrom = "run.cpu"\nunit = "s"\n[protocol]\nwhen_busy = "cpu-time"\n'
    _, found = run(tmp_path, Machine({220: 2.0}, busy=tuple(range(100))), text)
    assert found.trust.level == "reject"


def test_no_cliff_is_an_answer(tmp_path: Path) -> None:
    _, found = run(tmp_path, Machine({}))
    assert cliffs_of(found).decided and not cliffs_of(found).cliffs
    assert said(found)[0].startswith("No jump of time by 20 % or more was found from 1 to 512 threads")
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_what_comes_and_goes_is_told(tmp_path: Path) -> None:
    _, found = run(tmp_path, Machine({60: 2.0, 200: 0.5}))
    assert len(cliffs_of(found).cliffs) == 2
    assert any(text.startswith("The time is higher only between ") for text in said(found))


def test_an_end_without_an_answer_is_a_doubt_and_a_resume_goes_on(tmp_path: Path) -> None:
    machine = Machine({220: 2.0})
    done, found = run(tmp_path, machine, STUDY + "[protocol]\nbudget_runs = 13\n")
    assert (done.reason, len(machine.made)) == ("budget", 13)
    assert not cliffs_of(found).decided
    assert found.claim and not found.claim.answered
    assert "the search ended after 13 runs" in said(found)[0]
    assert found.trust.causes[0] in found.trust.sentence.casefold()
    assert analyze_steps.exit_code(found) == Exit.SHORT_OF_RUNS
    plan = planned(tmp_path / "study", STUDY + "[protocol]\nbudget_runs = 60\n")
    more = run_session(plan, done.results, machine, "probe", lambda *_: nullcontext(machine), ["study_hash"])
    whole = Machine({220: 2.0})
    run(tmp_path / "whole", whole)
    assert more.reason == "complete" and more.n_before == 13
    assert [r.configuration for r in machine.made] == [r.configuration for r in whole.made]
    assert [r.run for r in machine.made] == [r.run for r in whole.made]


def test_a_disturbed_run_does_not_count_and_is_made_again(tmp_path: Path) -> None:
    machine = Machine({220: 2.0}, busy=(5,))
    _, found = run(tmp_path, machine)
    assert machine.made[5].run == f"{machine.made[4].run}r1"
    assert cliffs_of(found).n == len(machine.made) - 1
    assert cliffs_of(found).cliffs[0].location == pytest.approx(220, rel=0.05)


def test_levels_that_fail_end_the_range(tmp_path: Path) -> None:
    done, found = run(tmp_path, Machine({50: 2.0}, failing_from=300))
    notes = [event["text"] for event in journal.read(done.results.journal) if event["event"] == "note"]
    assert any("failed 2 times: left out" in text for text in notes)
    assert cliffs_of(found).cliffs[0].low < 50 <= cliffs_of(found).cliffs[0].high


def test_the_design_says_what_is_known_in_advance(tmp_path: Path) -> None:
    plan = planned(tmp_path / "study")
    write_design(plan, tmp_path / "design.jsonl")
    head, *runs = map(json.loads, (tmp_path / "design.jsonl").read_text().splitlines())
    assert (head["question"], head["most_runs"], len(runs)) == ("cliff", 60, 12)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"1:512"', "[4]", "factors: 0 factors of several levels, expected one: one program is searched"),
        ('"1:512"', '"0:9"', "factors.threads.levels: level 0, expected counts from 1 on"),
        ("[responses.wall]", "[protocol]\nruns = 3\n[responses.wall]", "protocol.runs: in a search"),
    ],
)
def test_what_cannot_be_searched_is_refused_when_it_is_declared(old: str, new: str, told: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse(STUDY.replace(old, new))
    assert told in str(caught.value)


def test_few_levels_are_no_range(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="4 levels, expected at least 5: fewer are compared by a sweep"):
        planned(tmp_path / "study", STUDY.replace('"1:512"', '"1:4"'))


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
    told = set()
    for core in ("Haswell", "Nehalem", "Sandybridge"):
        env = {**os.environ, "OPENBLAS_CORETYPE": core}
        done = subprocess.run([sys.executable, "-c", SEQUENCE], env=env, capture_output=True, text=True, check=True)
        told.add(done.stdout)
    assert len(told) == 1 and len(json.loads(told.pop())) >= 14
