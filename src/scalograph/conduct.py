"""Stops 2 and 3 as the commands call them: a declared study to a design on this host, and its runs to a journal."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from scalograph import __version__, identity, journal, results
from scalograph.declare import Declared
from scalograph.design import Design, GridPlanner, Treatment, design
from scalograph.design.estimate import expected_seconds, seconds_per_treatment
from scalograph.errors import HostError
from scalograph.facts import HostFacts
from scalograph.program import Program, program
from scalograph.results import Results
from scalograph.runner import Budget, Host, replay, run_study
from scalograph.workload import refusals


@dataclass(frozen=True)
class Plan:
    """A study on a host: what will be run, and with which program."""

    declared: Declared
    facts: HostFacts
    design: Design
    program: Program

    def first_event(self, probe: str) -> dict[str, Any]:
        """The `study` event of the journal."""
        study, treatments = self.design.study, self.design.treatments
        runs = [self.design.runs_per_block(i) * study.protocol.runs for i in range(len(treatments))]
        return {
            "protocol": 1,
            "scalograph": __version__,
            "study": identity.as_journaled(study),
            "study_hash": identity.study_hash(study, self.program.sources),
            "seed": study.seed,
            "machine": {**self.facts.machine(), "probe": probe},
            "design": {"treatments": [dict(t) for t in treatments], "runs": runs, "dropped": list(self.design.dropped)},
        }


def plan(declared: Declared, facts: HostFacts) -> Plan:
    """Stop 2. Touches no machine: the host is the value that it is given.

    Raises:
        StudyError: levels or a workload that this host cannot carry out.
    """
    started = program(declared.study.workload, declared.folder)
    refusal = refusals(started.workload, started.values, facts) if started.workload else lambda treatment: None
    return Plan(declared, facts, design(declared.study, facts, refusal), started)


def write_design(planned: Plan, file: Path) -> None:
    """design.jsonl: what is planned, then every run in order."""
    study = planned.design.study
    head = {"protocol": 1, "study": study.name, "seed": study.seed, "dropped": list(planned.design.dropped)}
    planner = GridPlanner(planned.design)
    lines = [json.dumps(head)]
    while run := planner.ask():
        lines.append(
            json.dumps(
                {"run": run.run, "block": run.block, "treatment": dict(run.treatment), "replicate": run.replicate}
            )
        )
        planner.tell(run, {}, "")
    results.write_text(file, "\n".join(lines) + "\n")


def begin(planned: Plan, folder: Path | None) -> Results:
    """A new results folder with the study and its design in it."""
    made = results.create(planned.design.study.name, folder)
    _copy(planned.declared.file, made.study)
    if planned.declared.study.published:
        file = planned.declared.study.published.file
        _copy(planned.declared.folder / file, made.folder / Path(file).name)
    write_design(planned, made.design)
    return made


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise HostError(
            str(target), f"cannot be written: {error.strerror}", "a readable study and a writable folder"
        ) from error


@dataclass(frozen=True)
class Conducted:
    """What a run of a study came to; `signal` ended it, if one did."""

    results: Results
    reason: str
    n_before: int
    signal: int | None = None


def conduct(
    planned: Plan,
    made: Results,
    host: Host,
    probe: str,
    progress: Any,
    accepted: Sequence[str] | None,
) -> Conducted:
    """Stop 3: run, or go on.

    Args:
        planned: what to run.
        made: where.
        host: what measures.
        probe: name and release of the probe, for the journal.
        progress: makes a context manager and `Progress` from the count of finished runs.
        accepted: None starts anew; a list resumes, and names the differences that are accepted.

    Raises:
        StudyError: the study or the machine differs from the journal's.
        HostError: the host refuses.
    """
    planner = GridPlanner(planned.design)
    event = planned.first_event(probe)
    n_before, spent = 0, 0.0
    if accepted is not None:
        # Read twice rather than held: a journal may be larger than the memory.
        identity.refuse(identity.differences(journal.first_event(made.journal), event), list(accepted))
        n_before, spent = replay(planner, journal.read(made.journal)), seconds_spent(journal.read(made.journal))
    book = journal.Journal(made.journal)
    try:
        if accepted is None:
            book.append("study", **event)
        else:
            book.append("resume", machine=event["machine"], accepted=list(accepted))
        budget = Budget(planned.design.study.protocol.budget_s, spent)
        with progress(n_before) as shown:
            reason = run_study(planner, host, book, budget, shown)
    finally:
        book.close()
    return Conducted(made, reason, n_before)


def seconds_spent(events: Iterable[Mapping[str, Any]]) -> float:
    """Time that finished runs took, from the hours at which they were asked for and done."""
    return sum(duration for _, duration in timed_runs(events))


def timed_runs(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Treatment, float]]:
    """Treatment and seconds of each finished run, start-up and think time included."""
    asked: dict[str, str] = {}
    for event in events:
        if event["event"] == "ask":
            asked[event["run"]] = event["at"]
        elif event["event"] == "run" and event["run"] in asked:
            between = datetime.fromisoformat(event["at"]) - datetime.fromisoformat(asked.pop(event["run"]))
            yield event["treatment"], between.total_seconds()


def estimate(planned: Plan, earlier: Path | None) -> float | None:
    """Seconds that the design will take, from an earlier journal; None where there is none."""
    if earlier is None or not earlier.exists():
        return None
    return expected_seconds(planned.design, seconds_per_treatment(timed_runs(journal.read(earlier))))
