"""Studies that a test makes up: their text, what they plan, the machine they plan for."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scalograph.cli.command_line_study.declaration import toml_value
from scalograph.design.planner import Design
from scalograph.design.resolve import design
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.run.plan import Plan, plan
from scalograph.study.declare import declare
from scalograph.study.load import parse

VALID = """\
version = 1
name = "hello"
title = "Does it scale?"
work = "total"
seed = 0

[workload]
command = ["./prog", "-t", "{threads}"]

[factors.threads]
levels = "1,2,4"

[factors.lock]
levels = ["none", "cas"]

[protocol]
runs = 3
timeout = "10s"

[baseline]
threads = 1
"""


def a_study(factors: Mapping[str, Any], *, command: str | None = None, **tables: Any) -> str:
    """Write a study as TOML.

    factors: levels by factor, or a table where it has more than levels. command: the program with its arguments; where
    None, `true` with the level of each factor that has no control. tables: all else, a mapping for a table (merged over
    what is usual), a list of mappings for an array of tables.
    """
    declared = {name: dict(it) if isinstance(it, Mapping) else {"levels": it} for name, it in factors.items()}
    words = command.split() if command else ["true", *(f"{{{f}}}" for f, it in declared.items() if "control" not in it)]
    study = {"version": 1, "name": "made", "title": "t", "work": "total", "seed": 0, **tables, "factors": declared}
    own = tables.get("workload", {})
    study["workload"] = own if {"process", "use"} & own.keys() else {"command": words, **own}
    return "\n".join(_toml(study, "")) + "\n"


def _toml(table: Mapping[str, Any], name: str) -> Iterator[str]:
    inner = {key: it for key, it in table.items() if isinstance(it, Mapping)}
    arrays = {key: it for key, it in table.items() if isinstance(it, list) and it and isinstance(it[0], Mapping)}
    yield from (f"{key} = {toml_value(it)}" for key, it in table.items() if key not in inner and key not in arrays)
    for key, it in inner.items():
        if not all(isinstance(value, Mapping) for value in it.values()) or not it:
            yield f"[{name}{key}]"
        yield from _toml(it, f"{name}{key}.")
    for key, rows in arrays.items():
        for row in rows:
            yield f"[[{name}{key}]]"
            yield from _toml(row, f"{name}{key}.")


def facts_of(n_cpus: int = 1, **more: Any) -> HostFacts:
    """Make the facts of a host with so many cores of one CPU each."""
    return HostFacts(cpus=tuple(CpuFact(cpu=n, core=n) for n in range(n_cpus)), **more)


def design_of(text: str, n_cpus: int = 1) -> Design:
    """Lay out a study for a host with so many CPUs."""
    return design(parse(text), facts_of(n_cpus))


def write_study(folder: Path, text: str) -> Path:
    """Write study.toml into a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "study.toml"
    file.write_text(text)
    return file


def plan_of(folder: Path, text: str, facts: HostFacts | int = 1, **more: Any) -> Plan:
    """Plan a study that is written into a folder; `more` are arguments of `plan`."""
    return plan(declare(write_study(folder, text)), facts_of(facts) if isinstance(facts, int) else facts, **more)
