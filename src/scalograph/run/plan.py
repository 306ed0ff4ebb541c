"""Plan a declared study on a host: which runs are made, and with which program."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from scalograph import __version__
from scalograph.control.ext_scheduler import SHIPS
from scalograph.control.host_facts import add_jvms
from scalograph.control.machine_control import NO_CONSENT, Consent, machine_controls, refuse_unnamed
from scalograph.control.process_cpus import cpu_refusals, limit_refusals
from scalograph.design.planner import Design, RunPlan, expected_seconds, seconds_per_configuration
from scalograph.design.replay import timed_runs
from scalograph.design.resolve import design
from scalograph.design.search import run_plan
from scalograph.errors import HostError, Problem
from scalograph.protocol import journal, results
from scalograph.protocol.facts import HostFacts
from scalograph.questions.registry import is_search
from scalograph.run.build import build
from scalograph.run.provenance import sources_digest, uses
from scalograph.study import identity
from scalograph.study.control_names import NO_RESET
from scalograph.study.declare import Declared
from scalograph.study.identity import parse_journaled_study
from scalograph.study.levels import needs_host, parse_levels
from scalograph.study.model import Study
from scalograph.study.processes import spell
from scalograph.study.program import STEPS, Program, program
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import ValuesRefusal, load_workload, refusals

# Controls that a job step obeys: others set what belongs to the nodes' owners, or to the process that starts the tasks.
_IN_JOBS = ("cluster", "env", "jvm", "jvm-options", "arguments")


def _unsupported_parts(study: Study, program: Program, facts: HostFacts) -> Iterator[str]:
    parts = {
        "conditions": bool(study.conditions), "reset": study.reset != NO_RESET,
        "workload.process.pid": bool(program.running), 'workload.keep = "block"': study.workload.keep == "block",
    }  # fmt: skip
    if facts.cluster is None:
        parts["workload.env_all"] = study.workload.env_all
    else:
        parts["workload.process"] = any(process.name for process in program.processes)
        parts |= {
            f"factors.{name}": factor.control is not None and factor.control.partition(":")[0] not in _IN_JOBS
            for name, factor in study.factors.items()
        }
    parts['protocol.vary = ["layout"]'] = "layout" in study.protocol.vary
    yield from (name for name, is_there in parts.items() if is_there)
    for name, response in study.responses.items():
        if response.source.startswith("kernel."):  # its counters are read on the machine that we stand on
            yield f'responses.{name}: from = "{response.source}"'


# What separates paths in a word, of a shell too.
_BETWEEN_PATHS = re.compile(r"[\s;|&<>()'\"=,:]+")


def text_levels(study: Study) -> dict[str, list[str]]:
    """Return the levels that are texts, by factor: a word may lead to a file by them."""
    given = {name: factor.levels for name, factor in study.factors.items()}
    given = {name: x for name, x in given.items() if not (isinstance(x, str) and needs_host(x))}
    parsed = {name: parse_levels(x) if isinstance(x, str) else x for name, x in given.items()}
    return {name: texts for name, levels in parsed.items() if (texts := [x for x in levels if isinstance(x, str)])}


def _problems_elsewhere(study: Study, program: Program, facts: HostFacts) -> list[Problem]:
    """Return what of a study cannot be done on another machine, and which files of the caller it would lack there."""
    fix = "leave it out, or start scalograph on that machine"
    problem = f"not done over {facts.reached or 'ssh'}"
    problems = [Problem(part, problem, "", fix) for part in _unsupported_parts(study, program, facts)]
    use = study.workload
    if use.cwd == "scratch" or facts.cluster is not None or facts.elsewhere:
        return problems
    argvs = {"command": use.command, **{step: getattr(use, step) for step in STEPS}}
    argvs |= {f"process[{i}].argv": process.argv for i, process in enumerate(use.process)}
    for step, argv in argvs.items():
        names = _files_here(argv or (), program.here, text_levels(study)) if use.given_folder is None else []
        if names:
            inside = next((os.path.normpath(name) for name in names if _is_inside(program.here, name)), "")
            copied = f"write {{here}}/{inside} to copy it" if inside else "start in a folder that holds it"
            fix = f"{copied}, or run in a folder there: workload.cwd"
            text = f"files of this folder are not on that machine: {', '.join(names[:5])}"
            problems.append(Problem(f"workload.{step}", text, "", fix))
    if use.input is not None and not _is_inside(program.here, use.input):
        fix = "start in a folder that holds it"
        problems.append(Problem("workload.input", f"{use.input} lies outside this folder", "", fix))
    return problems


def _files_here(argv: Sequence[str], here: Path, levels: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the relative paths of words that lead to a file here, beside the program itself if it lies inside."""
    words = [text for word in argv[1:] for text in spell(word, levels)]
    names = [name for word in words for name in _BETWEEN_PATHS.split(word)]
    is_file = [name for name in names if name and not name.isdecimal() and os.path.lexists(here / name)]
    outside = [name for name in spell(argv[0], levels) if "/" in name and not _is_inside(here, name)] if argv else []
    return [name for name in dict.fromkeys([*outside, *is_file]) if not name.startswith("/")]


def _is_inside(here: Path, path: str) -> bool:
    return Path(os.path.normpath(here / path)).is_relative_to(here)


def _find_versions_here(study: Study, program: Program) -> Program:
    """Return the program with its name behind {here} if that is a level: paths in the caller's folder."""
    name, *words = study.workload.command or [""]
    texts = spell(name, text_levels(study)) if name.startswith("{") and study.workload.cwd == "caller" else []
    if not texts or not all("/" in text and not text.startswith(("/", "{")) for text in texts):
        return program
    processes = tuple(replace(each, argv=(f"{{here}}/{name}", *words)) for each in program.processes)
    return replace(program, processes=processes)


@dataclass(frozen=True)
class Plan:
    """A study on a host: its runs and its program.

    `source` is the program as it lies here, if `program` is a copy of it on another machine.
    """

    declared: Declared
    facts: HostFacts
    design: Design
    program: Program
    source: Program | None = None

    @property
    def origin(self) -> Program:
        """Return the program as it lies here: its content is read from this."""
        return self.source or self.program

    @cached_property
    def runs(self) -> RunPlan:
        """Return which runs answer the question of the design."""
        return run_plan(self.design)

    def hash_of(self, study: Study) -> str:
        """Return the hash of a study with the program as it lies here."""
        return identity.study_hash(study, sources_digest(self.origin))

    def differs_in_runs(self, before: Mapping[str, Any]) -> identity.Difference | None:
        """Return the difference in runs from the first event of a journal, if study and program are otherwise equal.

        Raises ProtocolError: that event does not follow protocol/journal.md.
        """
        runs = identity.runs_difference(identity.differences(before, self.first_event("")))
        if runs is None:
            return None
        with journal.wrap_event_errors(before, 1):
            return runs if self.hash_of(parse_journaled_study(before["study"])) == before["study_hash"] else None

    def first_event(self, probe: str) -> dict[str, Any]:
        """Return the `study` event of the journal."""
        study, design = self.design.study, self.design
        planned = {
            "configurations": [dict(t) for t in design.configurations],
            "runs": self.runs.runs_per_configuration(),
        }
        return {
            "protocol": journal.LATEST, "scalograph": __version__, "study": identity.dump_study(study),
            "study_hash": self.hash_of(study), "seed": study.seed, "machine": {**self.facts.machine(), "probe": probe},
            "uses": uses(self.design, self.origin, self.facts), "design": {**planned, "dropped": list(design.dropped)},
        }  # fmt: skip


def plan(declared: Declared, facts: HostFacts, starts: bool = True, consent: Consent = NO_CONSENT) -> Plan:
    """Plan a study. Touches no machine, except that it asks launchers which levels name.

    Those are asked only if it `starts`; else they count as the latest release.

    Raises StudyError: levels or a workload that this host cannot carry out, or settings of the machine without consent;
    HostError: parts of the study that cannot be done on another machine, all of them.
    """
    if facts.reached is None:  # a launcher of another machine is known, or it is not there
        facts = add_jvms(facts, _launcher_paths(declared.study), starts)
    started = program(declared.study.workload, declared.folder)
    if facts.reached or facts.elsewhere:
        if problems := _problems_elsewhere(declared.study, started, facts):
            raise HostError.join_problems(problems)
        started = _find_versions_here(declared.study, started) if facts.cluster is None else started
    resolved = design(declared.study, facts, _make_refusal(declared.study, started, facts))
    if starts and facts.accelerator is None:  # a guest is nobody else's
        refuse_unnamed(resolved.study, facts, consent)
    if resolved.study.workload.keep == "block":  # runs for which services start the same are made together
        read, factors = started.read_by_services(), resolved.study.factors.items()
        restart = [name for name, factor in factors if factor.control or name in read]
        resolved = replace(resolved, together=(*resolved.together, *restart))
    planned = Plan(declared, facts, resolved, started)
    planned.runs.runs_per_configuration()  # refuses what cannot be searched before there is a folder of results
    return planned


def _make_refusal(study: Study, started: Program, facts: HostFacts) -> ValuesRefusal:
    """Return a check why the host cannot run a configuration: by workloads, CPUs and quotas of its processes."""
    refusing = [(used, refusals(used.workload, started.values_of(used), facts)) for used in started.used]
    limits = [cpu_refusals(study, started, facts), limit_refusals(started, facts)]

    def refusal(configuration: Mapping[str, Any]) -> str | None:
        reasons = (refuse(configuration) for used, refuse in refusing if started.starts(used, configuration))
        return next(filter(None, chain(reasons, (refuse(configuration) for refuse in limits))), None)

    return refusal


def _launcher_paths(study: Study) -> list[str]:
    """Return levels of JVMs that are paths: only these are asked what they are."""
    levels = (levels for name, levels in text_levels(study).items() if study.factors[name].control == "jvm")
    return [level for each in levels for level in each if level.startswith("/")]


def write_design(planned: Plan, file: Path) -> None:
    """Write design.jsonl: the plan, then every run in order; of a search, those that are made in any case."""
    study = planned.design.study
    head = {"protocol": 1, "study": study.name, "seed": study.seed, "dropped": list(planned.design.dropped)}
    if is_search(study.question):
        head |= {"question": study.question, "most_runs": planned.runs.most_runs, "budget_s": study.protocol.budget_s}
    encoded = {
        id(configuration): msgspec.Raw(msgspec.json.encode(configuration))
        for configuration in planned.design.configurations
    }
    runs = (
        {"run": run.run, "block": run.block, "configuration": encoded[id(run.configuration)],
         "replicate": run.replicate}
        for run in planned.runs.planned_runs()
    )  # fmt: skip
    results.write_bytes(file, b"".join(msgspec.json.encode(line) + b"\n" for line in chain([head], runs)))


def expected_time(planned: Plan, earlier: Path | None) -> float | None:
    """Return the seconds that the design will take, estimated from an earlier journal; None without one."""
    if earlier is None or not earlier.exists():
        return None
    timed = ((run.configuration, seconds) for run, seconds in timed_runs(journal.read(earlier)))
    return expected_seconds(planned.design, seconds_per_configuration(timed))


def locate_schedulers(planned: Plan) -> Plan:
    """Return a plan whose facts hold the path of each sched_ext program that a level names.

    Raises HostError: no compiler, sources that do not compile, or the cache cannot be written.
    """
    study, locations = planned.design.study, planned.facts.schedulers or {}
    controls = machine_controls(study).items()
    levels = ((control, level) for name, control in controls for level in study.factors[name].levels)
    named = {str(level) for control, level in levels if control.program(level, planned.facts)}
    built = {name: _build_scheduler(name) for name in locations if name in named and locations[name] == SHIPS}
    if not built:
        return planned
    return replace(planned, facts=planned.facts.model_copy(update={"schedulers": {**locations, **built}}))


def _build_scheduler(name: str) -> str:
    home = shipped_workload(name.replace("_", "-"))
    folder = build(home, load_workload(home))
    assert folder is not None
    return str(folder / "main")
