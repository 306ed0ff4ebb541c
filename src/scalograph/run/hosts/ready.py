"""A program made ready to start here: prepared, compiled, and with the launcher that no factor names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scalograph.control.jvm import default_values
from scalograph.protocol.facts import HostFacts
from scalograph.run.build import build
from scalograph.run.prepare import prepare
from scalograph.study.program import Program


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
    values = dict(program.values)
    if any("{java}" in item for item in program.argv):
        values |= default_values(facts)
    if program.workload is not None:
        if program.workload.prepare is not None:
            values["prepared"] = str(prepare(program.home or program.here, program.workload, values, treatments, tell))
        made = build(program.home or program.here, program.workload, facts.jvms)
        if made is not None:
            values["build"] = str(made)
    return replace(program, values=values)
