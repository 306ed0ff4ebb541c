"""A study that asks for effective CPUs, from its file to its findings, on a simulated machine of twelve."""

import json
import math
import re
from contextlib import nullcontext
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
from scalograph.run.plan import Plan
from scalograph.run.session import Session, run_session
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit import simulated as searched
from tests.kit.findings import claim_of
from tests.kit.records import read, recorded
from tests.kit.simulated import Simulated, effective_cpus_of
from tests.kit.studies import facts_of, plan_of

HOST = facts_of(12)
NUMBER = re.compile(r"[0-9]+")
BIN_NS = 20_000_000
STUDY = """\
version = 1
name = "cores"
title = "How many?"
question = "effective-cpus"
work = "total"
seed = 3
[workload]
command = ["true"]
[factors.cpus]
control = "cpus"
levels = "1:all"
[responses.wall]
from = "window.wall"
unit = "s"
"""
THREADS = STUDY.replace('work = "total"', 'work = "per-worker"').replace('"true"', '"true", "{threads}"')
THREADS = THREADS.replace('[factors.cpus]\ncontrol = "cpus"\nlevels = "1:all"', '[factors.threads]\nlevels = "1:12"')


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


def planned(folder: Path, text: str = STUDY, facts: HostFacts = HOST) -> Plan:
    return plan_of(folder, text, facts)


def run(folder: Path, machine: Machine, text: str = STUDY, facts: HostFacts = HOST) -> tuple[Session, Findings]:
    return searched.run(folder, machine, text, facts)


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
    assert claim_of(found).matrix and "; it believes in 24 CPUs" in claim_of(found).matrix.note
    assert found.claim is not None and found.claim.matrix is not None and found.claim.answered
    use, limit = found.claim.cases
    assert (use.case, use.values["k"], use.values["all"], limit.case) == ("some", 2, 12, "pool of fixed size")
    numbers = {x for text in found.claim.sentences for x in NUMBER.findall(text)}
    shown = [*found.claim.matrix.columns, *(c.text for row in found.claim.matrix.rows for c in row.cells)]
    assert numbers and numbers <= {x for text in shown for x in NUMBER.findall(text)}
    assert "2" in found.claim.matrix.columns and len(found.claim.matrix.columns) <= 6
    times, used, _ = found.claim.matrix.rows
    assert all(cell.estimate for cell in times.cells) and used.cells[-1].text
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_cpus_that_only_seem_to_help_because_the_first_is_busy(tmp_path: Path) -> None:
    machine = Machine(cap=1, busy_first=True)
    _, found = run(tmp_path, machine)
    (one,) = effective_cpus_of(found)
    assert (one.decided, one.limit) == (False, "not sure")
    assert [case.case for case in claim_of(found).cases] == ["implausible"]
    assert claim_of(found).cases[0].values == {"low": 1, "k": 2}
    assert found.trust.codes[0] == "undecided"
    assert found.claim is not None and not found.claim.answered


def test_one_that_uses_as_many_as_it_believes_in(tmp_path: Path) -> None:
    (one,) = effective_cpus_of(run(tmp_path, Machine(cap=4, believed=4))[1])
    assert (one.k_eff, one.limit) == (4, "believes in another number")
    assert one.sentence == "The number of CPUs that it believes in (4)"


def test_a_quota_of_the_machine_is_named(tmp_path: Path) -> None:
    (one,) = effective_cpus_of(run(tmp_path, Machine(cap=3), facts=HOST.model_copy(update={"cpu_quota": 3.0}))[1])
    assert (one.k_eff, one.quota, one.limit) == (3, 3.0, "quota")


def test_a_quota_that_the_study_sets_is_named(tmp_path: Path) -> None:
    text = STUDY + '[factors.share]\ncontrol = "quota"\nlevels = [3]\n'
    (one,) = effective_cpus_of(run(tmp_path, Machine(cap=3), text)[1])
    assert (one.k_eff, one.quota, one.limit) == (3, 3.0, "quota")


def test_what_it_was_told_to_use_is_named(tmp_path: Path) -> None:
    text = STUDY.replace('"true"', '"true", "{threads}"') + "[factors.threads]\nlevels = [5]\n"
    (one,) = effective_cpus_of(run(tmp_path, Machine(cap=5), text)[1])
    assert (one.k_eff, one.workers, one.limit, one.group) == (5, 5, "more CPUs than work", {"threads": 5})


def test_the_design_holds_the_start_and_the_budget_and_the_findings_count_every_run(tmp_path: Path) -> None:
    machine = Machine(cap=5)
    done, found = run(tmp_path, machine, STUDY + '[protocol]\nbudget = "2min"\nbudget_runs = 30\n')
    head, *runs = map(json.loads, done.results.design.read_text().splitlines())
    assert (head["question"], head["most_runs"], head["budget_s"]) == ("effective-cpus", 30, 120)
    assert [line["run"] for line in runs] == [f"e{n:04d}" for n in range(5)]
    assert [line["configuration"] for line in runs] == [dict(run.configuration) for run in machine.made[:5]]
    assert sum(journal.first_event(done.results.journal)["design"]["runs"]) == 5
    assert found.runs.n_asked == found.runs.n_done == len(machine.made)
    assert (found.runs.n_repeated, found.runs.n_short, found.runs.configurations) == (0, 0, 12)
    figures, levels = (table for table in found.tables if table.id.startswith("effective-"))
    assert dict(figures.rows)["help"].startswith("5 (probability ")
    assert {row[0] for row in levels.rows} == {run.configuration["cpus"] for run in machine.made}
    assert sum(row[4] for row in levels.rows) == len(machine.made)


def test_levels_that_fail_are_counted_and_the_others_answer(tmp_path: Path) -> None:
    done, found = run(tmp_path, Machine(cap=2, failing=(12,)))
    (one,) = effective_cpus_of(found)
    assert (one.k_eff, one.decided, one.mask) == (2, True, 9)
    assert "level 12 failed 2 times: excluded" in found.warnings
    assert (found.runs.n_failed, found.runs.n_empty) == (2, 1)
    assert analyze_steps.exit_code(found) == Exit.CONFIGURATION_FAILED and done.reason == "complete"


def test_a_program_that_always_fails_has_no_answer(tmp_path: Path) -> None:
    done, found = run(tmp_path, Machine(cap=2, failing=tuple(range(13))))
    (one,) = effective_cpus_of(found)
    assert (one.k_eff, one.decided, one.limit) == (None, False, "not sure")
    assert found.trust.level == "unusable" and done.reason == "complete"


def test_a_budget_ends_it_without_an_answer_and_a_resume_goes_on(tmp_path: Path) -> None:
    short = STUDY + "[protocol]\nbudget_runs = 6\n"
    machine = Machine(cap=7)
    done, found = run(tmp_path, machine, short)
    assert (done.reason, len(machine.made)) == ("budget", 6)
    assert not effective_cpus_of(found)[0].decided and "undecided" in found.trust.codes
    assert analyze_steps.exit_code(found) == Exit.NO_ANSWER
    plan = planned(tmp_path / "study", STUDY)
    again = run_session(plan, done.results, machine, "probe", lambda *_: nullcontext(machine), [])
    assert (again.reason, again.n_before) == ("complete", 6)
    assert effective_cpus_of(analyze_steps.analyze(done.results.folder)[0])[0].k_eff == 7
    assert len({run.run for run in machine.made}) == len(machine.made)


def test_threads_on_two_kernel_threads_as_published_on_twelve_cpus(tmp_path: Path) -> None:
    (one,) = effective_cpus_of(run(tmp_path, Machine(cap=2, workers=True), THREADS)[1])
    assert (one.factor, one.k_eff, one.decided, one.mask, one.limit) == ("threads", 2, True, 12, "pool of fixed size")


SWEEP = THREADS.replace('question = "effective-cpus"\n', "").replace('"1:12"', '"1:8"')
SWEEP += "[baseline]\nthreads = 1\n[protocol]\nruns = 3\n"


def test_a_sweep_of_workers_tells_how_many_work_at_once(tmp_path: Path) -> None:
    found = run(tmp_path, Machine(cap=2, workers=True), SWEEP)[1]
    (one,) = effective_cpus_of(found)
    assert (one.k_eff, one.decided, one.workers) == (2, True, 8)
    assert any(text.startswith("2 of 8 threads run at once (") for text in found.answer)


def test_a_sweep_of_one_total_has_no_such_part(tmp_path: Path) -> None:
    found = run(tmp_path, Machine(cap=2), SWEEP.replace("per-worker", "total"))[1]
    assert effective_cpus_of(found) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[responses", "[factors.gc]\nlevels = [1, 2]\n[responses", "factors: 2 factors of several levels: cpus, gc"),
        ('"1:all"', "[4]", "factors: 0 factors of several levels, expected one: one program is searched"),
        ('control = "cpus"', 'control = "nice"', "factors.cpus.control: levels of nice, expected control ="),
        ('control = "cpus"\nlevels = "1:all"', 'levels = ["a", 2]', "factors.cpus.levels: level 'a', expected counts"),
        ("[responses", "[protocol]\nruns = 9\n[responses", "protocol.runs: in a search, expected none"),
        ("effective-cpus", "effective", "question: found 'effective', expected"),
    ],
)
def test_what_cannot_be_searched_is_refused_when_it_is_declared(old: str, new: str, told: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse(STUDY.replace(old, new))
    assert any(told in str(problem) for problem in refused.value.problems), refused.value


def test_a_host_of_one_cpu_is_refused_before_there_are_results(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"factors.cpus.levels: 1, expected at least two counts"):
        planned(tmp_path, facts=HOST.model_copy(update={"cpus": HOST.cpus[:1]}))
