"""A program made ready to start here: prepared, compiled, and with the launcher that no factor names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scalograph.control.jvm import default_values
from scalograph.protocol.facts import HostFacts
from scalograph.run.build import build
from scalograph.run.prepare import prepare
from scalograph.study.program import Program, Used


def build_program(
    program: Program,
    facts: HostFacts,
    treatments: Sequence[Mapping[str, Any]] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> Program:
    """The program with `{build}` and `{prepared}`, and for Java `{java}` and `{jvm_options}`, known.

    Args:
        program: what is to be started.
        facts: of the host, with its JVMs.
        treatments: that will be run; their levels may say what is prepared.
        tell: where a preparation that takes its time is announced.

    Raises:
        HostError: no compiler, no JVM, sources that do not compile, or a preparation that failed.
    """
    if any("{java}" in item for item in program.argv):
        program = replace(program, values={**program.values, **default_values(facts)})
    made = {used.process: _made(used, program.values_of(used), facts, treatments, tell) for used in program.used}
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
) -> dict[str, str]:
    """Prepare and build one workload; return the folders."""
    prepared = prepare(used.home, used.workload, values, treatments, tell)
    built = build(used.home, used.workload, facts.jvms)
    return {name: str(folder) for name, folder in (("prepared", prepared), ("build", built)) if folder is not None}
