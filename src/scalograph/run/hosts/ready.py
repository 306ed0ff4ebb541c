"""A program made ready to start here: fetched, prepared, compiled, and with the launcher that no factor names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scalograph.control.jvm import default_values
from scalograph.protocol.facts import HostFacts
from scalograph.run.build import build
from scalograph.run.fetch import fetch
from scalograph.run.prepare import prepare
from scalograph.study.build_plan import ClassPath, fetched_names, needed
from scalograph.study.program import Program, Used


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
        HostError: no Maven, no compiler, no JVM, sources that do not compile, or a preparation that failed.
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
    wanted = [one for plan in plans for one in plan.fetch]
    files = dict(zip((one.artifact for one in wanted), fetch(used.workload.name, wanted, tell), strict=True))
    found = dict.fromkeys(fetched_names(used.workload.build), "")
    found |= {f"fetched.{one.name}": str(files[one.artifact]) for one in wanted}
    prepared = prepare(used.home, used.workload, {**values, **found}, treatments, tell)
    built = build(used.home, used.workload.model_copy(update={"build": plans}), facts.jvms, None, files)
    folders = {name: str(folder) for name, folder in (("prepared", prepared), ("build", built)) if folder is not None}
    jars = [(plan.when, str(files[one.artifact])) for plan in plans for one in plan.jars]
    return {**found, **folders, "classpath": ClassPath((*([({}, str(built))] if built else []), *jars))}
