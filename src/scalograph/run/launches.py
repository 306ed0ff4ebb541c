"""A treatment of a plan to the processes that it starts, with arguments, environment and CPUs. Starts nothing."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scalograph.control.apply import apply
from scalograph.control.control import Launch
from scalograph.errors import HostError, StudyError
from scalograph.run.plan import Plan
from scalograph.study.build_plan import ClassPath
from scalograph.study.processes import MAX_COMMANDS, names_of
from scalograph.study.program import Process, Program
from scalograph.study.treatment import Treatment
from scalograph.study.workload import fill
from scalograph.text.escape import is_text

# Nothing else of the caller's environment reaches a run: MAKEFLAGS or JAVA_TOOL_OPTIONS would change it unseen.
PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")


def launches(planned: Plan, treatment: Treatment) -> tuple[Launch, ...]:
    """Return how each process of the program will be started, services first, each copy of one by itself.

    Services obey the levels, and so does a process that is alone. A driver beside services has what they leave: their
    templates' names, the CPUs that are not theirs, and the defaults of all else.

    Raises:
        HostError: a variable of the environment that is passed on holds bytes that are no UTF-8.
        LevelError: the levels do not go together on this host.
        StudyError: a template has a name that nothing fills.
    """
    processes = planned.program.started(treatment)
    if not processes[0].name:
        launch = _obeying(planned, treatment, processes[0])
        return (replace(launch, argv=tuple(fill(processes[0].argv, launch.values))),)
    made = [launch for process in processes for launch in _copied(planned, treatment, process, len(processes) > 1)]
    if len(made) > MAX_COMMANDS:
        found = f"{len(made)} processes in a run"
        raise StudyError.one("copies", found, f"at most {MAX_COMMANDS}", "start fewer copies")
    return tuple(made)


def _copied(planned: Plan, treatment: Treatment, process: Process, has_services: bool) -> list[Launch]:
    launch = replace(_obeying(planned, treatment, process), name=process.name, role=process.role, argv=process.argv)
    if process.service is None:
        return [_undisturbed(launch, planned) if has_services else launch]
    return [
        replace(launch, service=process.service, copies=1, copy=copy, values={**launch.values, "copy": copy})
        for copy in range(launch.copies)
    ]


def _undisturbed(launch: Launch, planned: Plan) -> Launch:
    """A driver beside services: it has the CPUs that are not theirs; all of them where none is left."""
    taken = set(launch.cpus or ())
    left = tuple(cpu.cpu for cpu in planned.facts.cpus if cpu.cpu not in taken) if taken else ()
    return Launch(
        name=launch.name, role=launch.role, argv=launch.argv, values=launch.values, copies=launch.copies,
        env=_environment(planned.design.study.workload.env), cpus=left or None,
    )  # fmt: skip


def _obeying(planned: Plan, treatment: Treatment, process: Process) -> Launch:
    study, program = planned.design.study, planned.program
    own = {
        "iterations": study.protocol.iterations,
        "warmup": study.protocol.warmup,
        "think_ns": round(study.protocol.think_s * 1e9),
    }
    # A level goes before a parameter of the same name, that before the study's own numbers.
    values = {**own, **_without(program, treatment), **program.values, **process.values, **treatment}
    if isinstance(path := values.get("classpath"), ClassPath):
        values["classpath"] = path.under(values)
    base = Launch(env=_environment(study.workload.env), values=values, copies=_copies(process.copies, values))
    return apply(study, treatment, base, planned.facts)


def _without(program: Program, treatment: Treatment) -> dict[str, str]:
    """What others know of services that a treatment does not start: nothing, as an empty text."""
    there = {process.name for process in program.started(treatment)}
    return dict.fromkeys(names_of([one.name for one in program.processes if one.name not in there]), "")


def _copies(copies: int | str, values: Mapping[str, Any]) -> int:
    return int(values[copies.strip("{}")]) if isinstance(copies, str) else copies


def _environment(declared: Mapping[str, str]) -> dict[str, str]:
    passed = {name: _text(name, os.environ[name]) for name in PASSED_ON if name in os.environ and name not in declared}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **passed, **declared}


def _text(name: str, value: str) -> str:
    """A value that a specification can hold. Raises HostError: left out, it would change what is run unseen."""
    if not is_text(value):
        found = f"{value[:80]!a}, bytes that are no UTF-8"
        raise HostError(f"environment: {name}", found, "text", f"set {name} for this command")
    return value
