"""Stops 2 and 3 as the commands call them: a declared study to a design on this host, and its runs to a journal."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scalograph import __version__
from scalograph.control.discover import with_launchers
from scalograph.design.duration import expected_seconds, seconds_per_treatment
from scalograph.design.planner import Design
from scalograph.design.replay import replay, seconds_per_block, timed_runs
from scalograph.design.resolve import design
from scalograph.errors import HostError, StudyError
from scalograph.findings.table import asked
from scalograph.protocol import journal, results
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.results import Results
from scalograph.questions.planners import (
    asked_for,
    block_size,
    most_runs,
    planned_runs,
    planner_of,
)
from scalograph.run.loop import (
    Budget,
    Gate,
    Host,
    Loop,
    run_study,
)
from scalograph.run.provenance import sources, uses
from scalograph.study import identity
from scalograph.study.declare import Declared
from scalograph.study.levels import parse_levels
from scalograph.study.model import Study
from scalograph.study.paths import inside
from scalograph.study.program import Program, program
from scalograph.study.question_names import is_search
from scalograph.study.shipped import shipped_studies, shipped_study
from scalograph.study.workload import refusals
from scalograph.verdict.judge import judge


@dataclass(frozen=True)
class Plan:
    """A study on a host: what will be run, and with which program."""

    declared: Declared
    facts: HostFacts
    design: Design
    program: Program

    def first_event(self, probe: str) -> dict[str, Any]:
        """The `study` event of the journal."""
        study, made = self.design.study, self.design
        planned = {"treatments": [dict(t) for t in made.treatments], "runs": asked_for(made)}
        return {
            "protocol": 1,
            "scalograph": __version__,
            "study": identity.as_journaled(study),
            "study_hash": identity.study_hash(study, sources(self.program)),
            "seed": study.seed,
            "machine": {**self.facts.machine(), "probe": probe},
            "uses": uses(self.design, self.program, self.facts),
            "design": {**planned, "dropped": list(made.dropped)},
        }


def plan(declared: Declared, facts: HostFacts, starts: bool = True) -> Plan:
    """Stop 2. Touches no machine: the host is the value that it is given, and a launcher that a level gives by path.

    Args:
        declared: what to plan.
        facts: of the host.
        starts: whether such launchers may be started, to ask what they are; else they are taken for the latest release.

    Raises:
        StudyError: levels or a workload that this host cannot carry out.
    """
    facts = with_launchers(facts, _launchers(declared.study, facts), starts)
    started = program(declared.study.workload, declared.folder)
    refusal = refusals(started.workload, started.values, facts) if started.workload else lambda treatment: None
    made = design(declared.study, facts, refusal)
    asked_for(made)  # refuses what cannot be searched before there is a folder of results
    return Plan(declared, facts, made, started)


def _launchers(study: Study, facts: HostFacts) -> list[str]:
    """Levels of JVMs that are paths: only these are asked what they are."""
    texts = (factor.levels for factor in study.factors.values() if factor.control == "jvm")
    levels = (
        level for text in texts for level in (parse_levels(text, facts.n_cpus) if isinstance(text, str) else text)
    )
    return [level for level in levels if isinstance(level, str) and level.startswith("/")]


def write_design(planned: Plan, file: Path) -> None:
    """design.jsonl: what is planned, then every run in order; of a search, those that are made whatever they say."""
    study = planned.design.study
    head = {"protocol": 1, "study": study.name, "seed": study.seed, "dropped": list(planned.design.dropped)}
    if is_search(study.question):
        most = most_runs(planned.design)
        head |= {"question": study.question, "most_runs": most, "budget_s": study.protocol.budget_s}
    runs = (
        {"run": run.run, "block": run.block, "treatment": dict(run.treatment), "replicate": run.replicate}
        for run in planned_runs(planned.design)
    )
    results.write_text(file, "".join(json.dumps(line) + "\n" for line in (head, *runs)))


def begin(planned: Plan, folder: Path | None) -> Results:
    """A new results folder with the study and its design in it.

    Raises:
        StudyError: the published file is missing, outside the study's folder, or named as one of ours; or the folder
            holds files that are not of this study.
        HostError: the folder cannot be written.
    """
    file, published = planned.declared.file, _published(planned.declared)
    made = results.create(planned.design.study.name, folder, _called(planned.declared))
    sources = {made.study: file, **({made.folder / published.name: published} if published else {})}
    copies = {target: _content(source, target, made.journal.exists()) for target, source in sources.items()}
    for target, content in copies.items():  # all of them may be written, or none is
        if content is not None:
            results.write_bytes(target, content)
    write_design(planned, made.design)
    return made


def _called(declared: Declared) -> tuple[str, str]:
    """The command that goes on with a study: its copy in the results lacks what lies beside it."""
    name = declared.study.name
    ships = name in shipped_studies() and declared.folder == shipped_study(name)
    return ("study", name) if ships else ("run", str(declared.file))


def _published(declared: Declared) -> Path | None:
    """The file of published figures, which goes with the results."""
    if declared.study.published is None:
        return None
    name, where, expected = declared.study.published.file, "published.file", "a file inside the study's folder"
    file = inside(declared.folder, name, where, expected)
    if Path(name).name in results.RESERVED:
        raise StudyError.one(where, f'"{name}"', "a name that no file of the results has", "rename it")
    if not file.is_file():
        raise StudyError.one(where, f'no file "{name}"', expected, "correct the name or add the file")
    return declared.folder / name


def _content(source: Path, target: Path, ours: bool) -> bytes | None:
    """What goes to the target; None where -o is the study's own folder. Raises StudyError where it would be lost.

    What lies beside an empty journal is `ours`: a start left it that failed at the first line.
    """
    try:
        if target.exists() and source.samefile(target):
            return None
        content = source.read_bytes()
        if not ours and results.is_owned(target) and target.read_bytes() != content:
            raise results.owned(target)
    except OSError as error:
        raise HostError(str(source), f"cannot be read: {error.strerror}", "a readable file") from error
    return content


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
    gate: Gate | None = None,
    machine: Mapping[str, Mapping[str, Any]] | None = None,
) -> Conducted:
    """Stop 3: run, or go on.

    Args:
        planned: what to run.
        made: where.
        host: what measures.
        probe: name and release of the probe, for the journal.
        progress: makes a context manager and `Progress` from the count of finished runs and the planner.
        accepted: None starts anew; a list resumes, and names the differences that are accepted.
        gate: what each block has to pass before it begins.
        machine: what was learned of the machine before the first run: events of the journal (`noise`, `ceiling`).

    Raises:
        StudyError: the study or the machine differs from the journal's.
        HostError: the host refuses.
    """
    planner, event = planner_of(planned.design), planned.first_event(probe)
    judging = partial(judge, asked=asked(planned.design.study))
    first, n_before, spent = ("study", event), 0, dict[int, float]()
    if accepted is not None:
        first = ("resume", _resumed(event, journal.first_event(made.journal), accepted))
        # Read twice rather than held: a journal may be larger than the memory.
        n_before = replay(planner, journal.read(made.journal), judging)
        spent = seconds_per_block(journal.read(made.journal))
    book = journal.Journal(made.journal)
    try:
        _write_first(book, *first)
        for name, fields in (machine or {}).items():
            book.append(name, **fields)
        protocol = planned.design.study.protocol
        budget = Budget(protocol.budget_s, spent, protocol.budget_runs, n_before, block_size(planned.design))
        with progress(n_before, planner) as shown:
            loop = Loop(host, book, shown, judging)
            ended = run_study(planner, loop, budget, gate, stop_if_busy=protocol.when_busy == "stop")
    finally:
        book.close()
    return Conducted(made, ended.reason, n_before, ended.signal)


def _write_first(book: journal.Journal, name: str, fields: Mapping[str, Any]) -> None:
    """The `study` or `resume` event. Raises StudyError where it holds more treatments than a line can."""
    try:
        book.append(name, **fields)
    except journal.EventTooLargeError as error:
        n = len(fields["design"]["treatments"])
        raise StudyError.one(
            "factors", f"{n} treatments, {error}", "a design that one line of the journal holds"
        ) from error


def _resumed(event: Mapping[str, Any], before: Mapping[str, Any], accepted: Sequence[str]) -> dict[str, Any]:
    """The `resume` event: the machine and the design as they are now, and what was accepted. Raises StudyError."""
    found = identity.differences(before, event)
    if any(d.name not in accepted for d in found) and (fix := identity.other_form(before, event)):
        raise StudyError.one("resume", "one is the study in full, the other its quick form", "the same form", fix)
    identity.refuse(found, list(accepted))
    return {
        "study": event["study"],
        "machine": event["machine"],
        "design": event["design"],
        "accepted": sorted({difference.name for difference in found}),
        "differences": [{"key": d.key, "before": d.before, "now": d.now} for d in found],
    }


def estimate(planned: Plan, earlier: Path | None) -> float | None:
    """Seconds that the design will take, from an earlier journal; None where there is none."""
    if earlier is None or not earlier.exists():
        return None
    timed = ((run.treatment, seconds) for run, seconds in timed_runs(journal.read(earlier)))
    return expected_seconds(planned.design, seconds_per_treatment(timed))
