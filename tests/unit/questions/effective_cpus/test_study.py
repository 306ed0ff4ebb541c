"""A study that asks for effective CPUs, from its file to its findings, on a simulated machine of twelve."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import analyze_steps
from scalograph.errors import Exit, StudyError
from scalograph.protocol import journal
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.run.session import Session
from scalograph.study.levels import Run
from tests.kit import simulated
from tests.kit.findings import cases_of, claim_of
from tests.kit.records import read, recorded
from tests.kit.refusals import refuses
from tests.kit.shown_numbers import check_numbers
from tests.kit.simulated import Simulated, effective_cpus_of
from tests.kit.studies import a_study, facts_of, plan_of

HOST = facts_of(12)
BIN_NS = 20_000_000
WALL = {"wall": {"from": "window.wall", "unit": "s"}}
SEARCH: dict[str, Any] = {"question": "effective-cpus", "seed": 3, "responses": WALL}
CPUS = {"cpus": {"control": "cpus", "levels": "1:all"}}
STUDY = a_study(CPUS, **SEARCH)


@dataclass
class Machine(Simulated):
    """A host on which a program keeps at most `cap` CPUs busy; where `workers`, each of them does the same."""

    cap: int
    believed: int | None = None
    workers: bool = False
    failing: tuple[int, ...] = ()
    busy_first: bool = False  # somebody else has half of the first CPU, and leaves the others alone

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        n = int(run.configuration.get("cpus", run.configuration.get("threads", 1)))
        busy = min(n, self.cap)
        wall = (math.ceil(n / self.cap) if self.workers else 1 / busy) * math.exp(0.01 * math.sin(9 * len(self.made)))
        wall *= 2 if self.busy_first and n == 1 else 1
        mask = tuple(range(12 if self.workers else n))
        values = {"believed_cpus": [float(self.believed)]} if self.believed else None
        found = recorded(wall, wall * busy, cpus=mask, values=values, status="failed" if n in self.failing else "ok")
        return read({**found, "timeline": timeline(wall, busy)})


def timeline(wall_s: float, busy: int) -> dict[str, Any]:
    n = math.ceil(wall_s * 1e9 / BIN_NS)
    return {"source": "records", "bin_ns": BIN_NS, "cpus": list(range(busy)), "busy_ns": [[BIN_NS] * n] * busy,
            "waiting_ns": [0] * n, "tasks": []}  # fmt: skip


def run(folder: Path, machine: Machine, text: str = STUDY, facts: HostFacts = HOST) -> tuple[Session, Findings]:
    return simulated.run(folder, machine, text, facts)


def test_a_program_that_merely_believes_in_another_number(tmp_path: Path) -> None:
    machine = Machine(cap=2, believed=24)
    done, found = run(tmp_path, machine)
    (one,) = effective_cpus_of(found)
    assert done.reason == "complete" and 8 <= len(machine.made) <= 14
    assert (one.k_eff, one.decided, one.with_model, one.mask, one.believed) == (2, True, True, 12, 24)
    assert one.posterior[2] >= 0.95 and one.n == len(machine.made)
    assert one.used is not None and one.used.value == pytest.approx(2)
    assert one.at_once == pytest.approx([0, 0, 1]) and one.exact == pytest.approx(1)
    assert one.limit == "pool of fixed size"
    claim, cases = claim_of(found), cases_of(found)
    assert claim.matrix is not None and claim.answered and "; it believes in 24 CPUs" in claim.matrix.note
    assert [*cases] == ["some", "pool of fixed size"] and (cases["some"]["k"], cases["some"]["all"]) == (2, 12)
    check_numbers(claim)
    assert "2" in claim.matrix.columns and len(claim.matrix.columns) <= 6
    times, used, _ = claim.matrix.rows
    assert all(cell.estimate for cell in times.cells) and used.cells[-1].text
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_cpus_that_only_seem_to_help_because_the_first_is_busy(tmp_path: Path) -> None:
    machine = Machine(cap=1, busy_first=True)
    _, found = run(tmp_path, machine)
    (one,) = effective_cpus_of(found)
    assert (one.decided, one.limit) == (False, "not sure")
    assert cases_of(found) == {"implausible": {"low": 1, "k": 2}} and found.trust.codes[0] == "undecided"
    assert not claim_of(found).answered


BELIEVES = "The number of CPUs that it believes in (4)"
FIVE = {"k_eff": 5, "workers": 5, "limit": "more CPUs than work", "group": {"threads": 5}}
TWO = {"factor": "threads", "k_eff": 2, "decided": True, "mask": 12, "limit": "pool of fixed size"}


@pytest.mark.parametrize(("machine", "text", "quota", "expected"), [
    (Machine(cap=4, believed=4), STUDY, None,
     {"k_eff": 4, "limit": "believes in another number", "sentence": BELIEVES}),
    (Machine(cap=3), STUDY, 3.0, {"k_eff": 3, "quota": 3.0, "limit": "quota"}),
    (Machine(cap=3), a_study({**CPUS, "share": {"control": "quota", "levels": [3]}}, **SEARCH), None,
     {"k_eff": 3, "quota": 3.0, "limit": "quota"}),
    (Machine(cap=5), a_study({**CPUS, "threads": [5]}, **SEARCH), None, FIVE),
    (Machine(cap=2, workers=True), a_study({"threads": "1:12"}, work="per-worker", **SEARCH), None, TWO),
], ids=["belief", "quota of the machine", "quota of the study", "workers", "as published on twelve CPUs"])  # fmt: skip
def test_limits_are_named(
    tmp_path: Path, machine: Machine, text: str, quota: float | None, expected: dict[str, Any]
) -> None:
    (one,) = effective_cpus_of(run(tmp_path, machine, text, HOST.model_copy(update={"cpu_quota": quota}))[1])
    assert {name: getattr(one, name) for name in expected} == expected


def test_the_design_holds_the_budget_and_the_findings_count_every_run(tmp_path: Path) -> None:
    machine = Machine(cap=5)
    done, found = run(tmp_path, machine, f'{STUDY}[protocol]\nbudget = "2min"\nbudget_runs = 30\n')
    head, *runs = map(json.loads, done.results.design.read_text().splitlines())
    assert (head["most_runs"], head["budget_s"]) == (30, 120)
    assert [line["run"] for line in runs] == [f"e{n:04d}" for n in range(5)]
    assert sum(journal.first_event(done.results.journal)["design"]["runs"]) == 5
    assert (found.runs.n_repeated, found.runs.n_short, found.runs.configurations) == (0, 0, 12)
    figures, levels = (table for table in found.tables if table.id.startswith("effective-"))
    assert dict(figures.rows)["help"].startswith("5 (probability ")
    assert {row[0] for row in levels.rows} == {run.configuration["cpus"] for run in machine.made}
    assert sum(row[4] for row in levels.rows) == len(machine.made)


def test_levels_that_fail_are_counted_and_the_others_answer(tmp_path: Path) -> None:
    done, found = run(tmp_path / "one", Machine(cap=2, failing=(12,)))
    (one,) = effective_cpus_of(found)
    assert (one.k_eff, one.decided, one.mask) == (2, True, 9)
    assert "level 12 failed 2 times: excluded" in found.warnings
    assert (found.runs.n_failed, found.runs.n_empty) == (2, 1)
    assert analyze_steps.exit_code(found) == Exit.CONFIGURATION_FAILED and done.reason == "complete"
    done, found = run(tmp_path / "all", Machine(cap=2, failing=tuple(range(13))))
    (one,) = effective_cpus_of(found)
    assert (one.k_eff, one.decided, one.limit) == (None, False, "not sure")
    assert found.trust.level == "unusable" and done.reason == "complete"


@pytest.mark.parametrize("work", ["per-worker", "total"])
def test_a_sweep_of_workers_tells_how_many_work_at_once(tmp_path: Path, work: str) -> None:
    """One of a total has no such part."""
    rest: dict[str, Any] = {"baseline": {"threads": 1}, "protocol": {"runs": 3}, "responses": WALL}
    machine = Machine(cap=2, workers=work == "per-worker")
    found = run(tmp_path, machine, a_study({"threads": "1:8"}, work=work, **rest))[1]
    groups = [(one.k_eff, one.decided, one.workers) for one in effective_cpus_of(found)]
    assert groups == ([(2, True, 8)] if work == "per-worker" else [])
    assert groups == [] or any(text.startswith("2 of 8 threads run at once (") for text in found.answer)


def test_a_host_of_one_cpu_is_refused_before_there_are_results(tmp_path: Path) -> None:
    one = HOST.model_copy(update={"cpus": HOST.cpus[:1]})
    refuses(StudyError, r"factors.cpus.levels: 1, expected at least two counts", plan_of, tmp_path, STUDY, one)
