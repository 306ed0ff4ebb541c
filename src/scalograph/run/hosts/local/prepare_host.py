"""A program made ready to start here: fetched, prepared, compiled, and with the launcher that no factor names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scalograph.control.jvm import default_values
from scalograph.design.resolve import without
from scalograph.errors import MissingError
from scalograph.protocol.facts import HostFacts
from scalograph.run.build import build
from scalograph.run.fetch import fetch
from scalograph.run.plan import Plan
from scalograph.run.prepare import prepare, wanted
from scalograph.study.build_plan import ClassPath, fetched_names, needed
from scalograph.study.program import Program, Used


def build_planned(planned: Plan, tell: Callable[[str], None]) -> Plan:
    """Return a plan with its program ready to start, without the treatments for which something is not installed here.

    Args:
        planned: what will be run.
        tell: where a download, or a preparation that takes its time, is announced.

    Raises:
        MissingError: nothing is left, or nothing to compare the baseline with.
        HostError: as `build_program`.
    """
    earlier: list[str] = []
    while True:
        treatments = planned.design.treatments
        try:
            return replace(planned, program=build_program(planned.program, planned.facts, treatments, tell))
        except MissingError as error:
            left = without(planned.design, partial(_lacks, planned.program, error), error.said)
            if left is None:
                raise _with(error, earlier) from error
            earlier.append(error.said)
            planned = replace(planned, design=left)
            planned.runs.asked_for()  # refuses what cannot be searched


def _with(error: MissingError, earlier: Sequence[str]) -> MissingError:
    """The message on what is missing at last, with what was missing before."""
    (problem,) = error.problems
    found = "\n".join([problem.found, *(f"also missing: {said}" for said in earlier)])
    return MissingError(sorted(error.what), error.said, replace(problem, found=found) if earlier else problem)


def build_program(
    program: Program,
    facts: HostFacts,
    treatments: Sequence[Mapping[str, Any]] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> Program:
    """Return the program with `{build}`, `{classpath}`, `{prepared}` and the like known, and for Java its launcher.

    Args:
        program: what is to be started.
        facts: of the host, with its JVMs.
        treatments: that will be run; their levels may say what is fetched, built and prepared.
        tell: where a download, or a preparation that takes its time, is announced.

    Raises:
        MissingError: something that can be installed or fetched is not here.
        HostError: no compiler, no JVM, sources that do not compile, or a preparation that failed.
    """
    if any("{java}" in item for item in program.argv):
        program = replace(program, values={**program.values, **default_values(facts)})
    made = {}
    for used in program.used:
        if started := program.treatments_of(used, treatments or [{}]):
            made[used.process] = _made(used, program.values_of(used), facts, started, tell)
    processes = tuple(
        replace(process, values={**process.values, **made.get(process.name, {})}) if process.name else process
        for process in program.processes
    )
    return replace(program, processes=processes, values={**program.values, **made.get("", {})})


def _made(
    used: Used,
    values: Mapping[str, Any],
    facts: HostFacts,
    treatments: Sequence[Mapping[str, Any]],
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Fetch, prepare and build for one workload what its treatments need; return the folders and files."""
    plans = needed(used.workload.build, values, treatments)
    artifacts = [one for plan in plans for one in plan.fetch]
    files = dict(zip((one.artifact for one in artifacts), fetch(used.workload.name, artifacts, tell), strict=True))
    found = dict.fromkeys(fetched_names(used.workload.build), "")
    found |= {f"fetched.{one.name}": str(files[one.artifact]) for one in artifacts}
    prepared = prepare(used.home, used.workload, {**values, **found}, treatments, tell)
    built = build(used.home, used.workload.model_copy(update={"build": plans}), facts.jvms, None, files, tell)
    folders = {name: str(folder) for name, folder in (("prepared", prepared), ("build", built)) if folder is not None}
    jars = [(plan.when, str(files[one.artifact])) for plan in plans for one in plan.jars]
    return {**found, **folders, "classpath": ClassPath((*([({}, str(built))] if built else []), *jars))}


def _lacks(program: Program, error: MissingError, treatment: Mapping[str, Any]) -> bool:
    """Whether a treatment needs what is not here."""
    names: set[str] = set()
    for used in program.used:
        if program.starts(used, treatment):
            values, workload = program.values_of(used), used.workload
            names |= {one.artifact for plan in needed(workload.build, values, [treatment]) for one in plan.fetch}
            folders = wanted(workload.prepare, values, [treatment]) if workload.prepare else ()
            names |= {f"{workload.name}/{name}" for name in folders}
    return not error.what.isdisjoint(names)
