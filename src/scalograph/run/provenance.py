"""What the runs of a study start that the study itself does not hold: JVMs by build, a program by its content."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scalograph.control.jvm import by_name, named
from scalograph.design.planner import Design
from scalograph.protocol.facts import HostFacts
from scalograph.run.prepare import about
from scalograph.study.build_plan import needed
from scalograph.study.control_names import variable
from scalograph.study.program import Program


def uses(design: Design, program: Program, facts: HostFacts) -> dict[str, Any]:
    """The `uses` field of the journal: `{"jvms": {name: build}, "program": null or {path, bytes, sha256}}`.

    With `fetched` (artifact -> checksum) and `prepared` (name -> version and checksum) where the workload had something
    fetched or prepared, `files` (path -> bytes and digest) where variables of the environment name some, and `kernels`
    (level -> package, version and checksum) where one is booted for each run.
    """
    found = {"jvms": jvms(design, program, facts), "program": _program(design, program, facts)}
    more: dict[str, dict[str, Any]] = {"fetched": fetched(design, program), "prepared": prepared(design, program)}
    more["files"] = files(design, program, facts)
    more["kernels"] = {one.level: f"{one.package} {one.version}, sha256 {one.sha256}" for one in facts.kernels}
    return {**found, **{name: made for name, made in more.items() if made}}


def _program(design: Design, program: Program, facts: HostFacts) -> dict[str, Any] | None:
    if facts.reached:  # what lies here is not what runs there
        return facts.program.model_dump() if facts.program else None
    return outside(program, _path(design))


def files(design: Design, program: Program, facts: HostFacts) -> dict[str, dict[str, Any]]:
    """Files that a run reads, by path: its input, and those that levels of environment variables name.

    These are absolute, or several in a list as the loader takes them; those of another machine are not read.
    """
    factors = [name for name, factor in design.study.factors.items() if variable(factor.control)]
    texts = [str(treatment[name]) for treatment in design.treatments for name in factors]
    read = design.study.workload.input
    words = [] if facts.reached else [word for text in texts for word in re.split("[: ]", text)]
    named = {Path(word) for word in words if word.startswith("/")}
    named |= {program.here / read} if read else set()
    return {
        _shown(file): {"bytes": file.stat().st_size, "sha256": _digest(file).hex()}
        for file in sorted(named)
        if os.path.isfile(file)  # noqa: PTH113  no error for an over-long name
    }


def fetched(design: Design, program: Program) -> dict[str, str]:
    """What Maven fetched for the treatments: artifact -> SHA-256."""
    plans = [
        plan
        for used in program.used
        if (treatments := program.treatments_of(used, design.treatments))
        for plan in needed(used.workload.build, program.values_of(used), treatments)
    ]
    return {one.artifact: one.sha256 for plan in plans for one in plan.fetch}


def prepared(design: Design, program: Program) -> dict[str, str]:
    """What was prepared for the treatments, once `program` is ready: name -> what the preparing program said of it."""
    said = [about(used.workload, program.values_of(used), design.treatments) for used in program.used]
    return {name: line for lines in said for name, line in lines.items()}


def jvms(design: Design, program: Program, facts: HostFacts) -> dict[str, str | None]:
    """Builds of the JVMs that treatments name, by level; of the default one where the program is Java and none does."""
    factors = [name for name, factor in design.study.factors.items() if factor.control == "jvm"]
    levels = {treatment[name] for treatment in design.treatments for name in factors}
    if not factors and facts.jvms and any("{java}" in word for word in program.argv):
        levels = {facts.jvms[0].name}
    known = by_name(facts)
    found = {str(level): named(level, known) for level in levels}
    return {name: jvm.build if jvm else None for name, jvm in sorted(found.items())}


def sources(program: Program) -> bytes:
    """Digest of what is run from the study's own folder: a workload's files, or those that a command names."""
    if not program.commands:
        return program.sources
    digest = hashlib.sha256(program.sources)
    for file in _own_files(program):
        digest.update(file.relative_to(program.here.resolve()).as_posix().encode() + b"\0" + _digest(file))
    return digest.digest()


def outside(program: Program, path: str) -> dict[str, Any] | None:
    """A command's program that lies outside the study's folder, found as a run finds it; None where there is none.

    Of several processes it is that of the first, which is a service.
    """
    if not program.commands:
        return None
    found = shutil.which(_filled(program.commands[0][0], program), path=path)
    file = Path(found).resolve() if found else None
    if file is None or file.is_relative_to(program.here.resolve()):
        return None
    return {"path": _shown(file), "bytes": file.stat().st_size, "sha256": _digest(file).hex()}


def _path(design: Design) -> str:
    return design.study.workload.env.get("PATH") or os.environ.get("PATH", os.defpath)


def _own_files(program: Program) -> Iterator[Path]:
    """Files inside the folder among the words of the command: the program, and what an interpreter is to read."""
    here = program.here.resolve()
    for word in dict.fromkeys(word for argv in program.commands for word in argv):
        text = _filled(word, program)
        if text.startswith("/") and "\0" not in text:
            file = Path(text).resolve()
            if file.is_relative_to(here) and os.path.isfile(file):  # noqa: PTH113  no error for an over-long name
                yield file


def _filled(word: str, program: Program) -> str:
    """A word of the template with what is known before a treatment is."""
    known: Mapping[str, Any] = {name: program.values[name] for name in ("here", "python") if name in program.values}
    for name, value in known.items():
        word = word.replace(f"{{{name}}}", str(value))
    return word


def _digest(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        return b""  # one may run a program that one may not read


def _shown(file: Path) -> str:
    """No name of a person: a path at home begins with ~."""
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home
        return str(file)
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
