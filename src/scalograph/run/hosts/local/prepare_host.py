"""Make a program ready to start here: fetched, prepared, compiled, with the launcher that no factor names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scalograph.control.jvm import default_values
from scalograph.design.resolve import exclude_missing
from scalograph.errors import MissingError
from scalograph.protocol.facts import HostFacts
from scalograph.run.build import build
from scalograph.run.fetch import fetch
from scalograph.run.plan import Plan
from scalograph.run.prepare import needed_folders, prepare
from scalograph.study.program import Program, Used
from scalograph.study.workload import ClassPath, fetched_names, select_builds


def build_planned(planned: Plan, tell: Callable[[str], None]) -> Plan:
    """Return a plan with its program ready to start, without configurations that need what is not installed here.

    `tell` receives announcements of downloads and slow preparations.

    Raises:
        MissingError: nothing is left, or nothing to compare the baseline with.
        HostError: as `build_program`.
    """
    earlier: list[str] = []
    while True:
        configurations = planned.design.configurations
        try:
            return replace(planned, program=build_program(planned.program, planned.facts, configurations, tell))
        except MissingError as error:
            left = exclude_missing(planned.design, partial(_lacks, planned.program, error), error.sentence)
            if left is None:
                raise _add_earlier(error, earlier) from error
            earlier.append(error.sentence)
            planned = replace(planned, design=left)
            planned.runs.runs_per_configuration()  # refuses what cannot be searched


def _add_earlier(error: MissingError, earlier: Sequence[str]) -> MissingError:
    """Return the error on what is missing at last, with what was missing before."""
    (problem,) = error.problems
    text = "\n".join([problem.found, *(f"also missing: {reason}" for reason in earlier)])
    return MissingError(sorted(error.what), error.sentence, replace(problem, found=text) if earlier else problem)


def build_program(
    program: Program,
    facts: HostFacts,
    configurations: Sequence[Mapping[str, Any]] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> Program:
    """Return the program with `{build}`, `{classpath}`, `{prepared}` and the like filled, and for Java its launcher.

    Levels of `configurations` may say what is fetched, built and prepared.

    Raises:
        MissingError: something that can be installed or fetched is not here.
        HostError: no compiler, no JVM, sources that do not compile, or a preparation that failed.
    """
    if any("{java}" in item for item in program.argv):
        program = replace(program, values={**program.values, **default_values(facts)})
    values = {}
    for used in program.used:
        if started := program.configurations_of(used, configurations or [{}]):
            values[used.process] = _make_ready(used, program.values_of(used), facts, started, tell)
    processes = tuple(
        replace(process, values={**process.values, **values.get(process.name, {})}) if process.name else process
        for process in program.processes
    )
    return replace(program, processes=processes, values={**program.values, **values.get("", {})})


def _make_ready(
    used: Used,
    values: Mapping[str, Any],
    facts: HostFacts,
    configurations: Sequence[Mapping[str, Any]],
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Fetch, prepare and build what configurations need of one workload; return the folders and files."""
    plans = select_builds(used.workload.build, values, configurations)
    artifacts = [artifact for plan in plans for artifact in plan.fetch]
    files = dict(
        zip((artifact.artifact for artifact in artifacts), fetch(used.workload.name, artifacts, tell), strict=True)
    )
    fetched = dict.fromkeys(fetched_names(used.workload.build), "")
    fetched |= {f"fetched.{artifact.name}": str(files[artifact.artifact]) for artifact in artifacts}
    prepared = prepare(used.home, used.workload, {**values, **fetched}, configurations, tell)
    built = build(used.home, used.workload.model_copy(update={"build": plans}), facts.jvms, None, files, tell)
    folders = {name: str(folder) for name, folder in (("prepared", prepared), ("build", built)) if folder is not None}
    jars = [(plan.when, str(files[artifact.artifact])) for plan in plans for artifact in plan.jars]
    return {**fetched, **folders, "classpath": ClassPath((*([({}, str(built))] if built else []), *jars))}


def _lacks(program: Program, error: MissingError, configuration: Mapping[str, Any]) -> bool:
    names: set[str] = set()
    for used in program.used:
        if program.starts(used, configuration):
            values, workload = program.values_of(used), used.workload
            names |= {
                artifact.artifact
                for plan in select_builds(workload.build, values, [configuration])
                for artifact in plan.fetch
            }
            folders = needed_folders(workload.prepare, values, [configuration]) if workload.prepare else ()
            names |= {f"{workload.name}/{name}" for name in folders}
    return not error.what.isdisjoint(names)
