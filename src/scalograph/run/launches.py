"""A treatment of a plan to the processes that it starts, with arguments, environment and CPUs. Starts nothing."""

import os
from collections.abc import Mapping
from dataclasses import replace

from scalograph.control.apply import apply
from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.run.plan import Plan
from scalograph.study.treatment import Treatment
from scalograph.study.workload import fill
from scalograph.text.escape import is_text

# Nothing else of the caller's environment reaches a run: MAKEFLAGS or JAVA_TOOL_OPTIONS would change it unseen.
PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")


def launches(planned: Plan, treatment: Treatment) -> tuple[Launch, ...]:
    """Return how each process of the program will be started, templates filled in; all obey the same levels.

    Raises:
        HostError: a variable of the environment that is passed on holds bytes that are no UTF-8.
        LevelError: the levels do not go together on this host.
        StudyError: a template has a name that nothing fills.
    """
    study, program = planned.design.study, planned.program
    own = {
        "iterations": study.protocol.iterations,
        "warmup": study.protocol.warmup,
        "think_ns": round(study.protocol.think_s * 1e9),
    }
    # A level goes before a parameter of the same name, that before the study's own numbers.
    base = Launch(env=_environment(study.workload.env), values={**own, **program.values, **treatment})
    launch = apply(study, treatment, base, planned.facts)
    return tuple(
        replace(
            launch,
            role=process.role,
            argv=tuple(fill(process.argv, launch.values)),
            copies=_copies(process.copies, treatment),
        )
        for process in program.processes
    )


def _copies(copies: int | str, treatment: Treatment) -> int:
    return int(treatment[copies.strip("{}")]) if isinstance(copies, str) else copies


def _environment(declared: Mapping[str, str]) -> dict[str, str]:
    passed = {name: _text(name, os.environ[name]) for name in PASSED_ON if name in os.environ and name not in declared}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **passed, **declared}


def _text(name: str, value: str) -> str:
    """A value that a specification can hold. Raises HostError: left out, it would change what is run unseen."""
    if not is_text(value):
        found = f"{value[:80]!a}, bytes that are no UTF-8"
        raise HostError(f"environment: {name}", found, "text", f"set {name} for this command")
    return value
