"""A program made ready to start here: compiled, and with the launcher that no factor names."""

from dataclasses import replace

from scalograph.build import build
from scalograph.control.jvm import default_values
from scalograph.facts import HostFacts
from scalograph.program import Program


def build_program(program: Program, facts: HostFacts) -> Program:
    """The program with `{build}`, and for Java `{java}` and `{jvm_options}`, known.

    Raises:
        HostError: no compiler, no JVM, or sources that do not compile.
    """
    values = dict(program.values)
    if any("{java}" in item for item in program.argv):
        values |= default_values(facts)
    if program.workload is not None:
        made = build(program.here, program.workload, facts.jvms)
        if made is not None:
            values["build"] = str(made)
    return replace(program, values=values)
