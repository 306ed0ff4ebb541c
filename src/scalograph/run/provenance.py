"""Describe what runs start and the study does not hold: JVMs by build, a program by its content."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scalograph.control.jvm import find_jvm, index_jvms
from scalograph.design.planner import Design
from scalograph.protocol.bounded import open_file
from scalograph.protocol.facts import HostFacts
from scalograph.run.prepare import read_preparations
from scalograph.study.control_names import environment_variable
from scalograph.study.program import Program
from scalograph.study.workload import select_builds


def uses(design: Design, program: Program, facts: HostFacts) -> dict[str, Any]:
    """Return the `uses` field of the journal: `{"jvms": {name: build}, "program": null or {path, bytes, sha256}}`.

    Where they apply: `fetched` (artifact -> checksum), `prepared` (name -> version and checksum), `files` (path -> size
    and digest) that environment variables name, `kernels` (level -> package, version and checksum) booted for each run.
    """
    if facts.reached:  # what lies here is not what runs there
        outside = facts.program.model_dump() if facts.program else None
    else:
        outside = external_program(program, design.study.workload.env.get("PATH") or os.environ.get("PATH", os.defpath))
    always = {"jvms": jvm_builds(design, program, facts), "program": outside}
    more: dict[str, dict[str, Any]] = {
        "fetched": fetched_checksums(design, program),
        "prepared": preparation_lines(design, program),
    }
    more["files"] = input_files(design, program, facts)
    more["kernels"] = {
        kernel.level: f"{kernel.package} {kernel.version}, sha256 {kernel.sha256}" for kernel in facts.kernels
    }
    return {**always, **{name: entries for name, entries in more.items() if entries}}


def input_files(design: Design, program: Program, facts: HostFacts) -> dict[str, dict[str, Any]]:
    """Return the files that a run reads, by path: its input, and those that levels of environment variables name.

    These are absolute, or several in a list as the loader takes them; those of another machine are not read.
    """
    factors = [name for name, factor in design.study.factors.items() if environment_variable(factor.control)]
    texts = [str(configuration[name]) for configuration in design.configurations for name in factors]
    read = design.study.workload.input
    words = [] if facts.reached else [word for text in texts for word in re.split("[: ]", text)]
    named = {Path(word) for word in words if word.startswith("/")}
    named |= {program.here / read} if read else set()
    return {
        _shorten_home(file): {"bytes": file.stat().st_size, "sha256": _digest(file).hex()}
        for file in sorted(named)
        if os.path.isfile(file)  # noqa: PTH113  no error for an over-long name
    }


def fetched_checksums(design: Design, program: Program) -> dict[str, str]:
    """Return what Maven fetched: artifact -> SHA-256."""
    plans = [
        plan
        for used in program.used
        if (configurations := program.configurations_of(used, design.configurations))
        for plan in select_builds(used.workload.build, program.values_of(used), configurations)
    ]
    return {artifact.artifact: artifact.sha256 for plan in plans for artifact in plan.fetch}


def preparation_lines(design: Design, program: Program) -> dict[str, str]:
    """Return what the preparing programs said, once `program` is ready: folder -> line."""
    by_workload = [
        read_preparations(used.workload, program.values_of(used), design.configurations) for used in program.used
    ]
    return {name: line for lines in by_workload for name, line in lines.items()}


def jvm_builds(design: Design, program: Program, facts: HostFacts) -> dict[str, str | None]:
    """Return the builds of the JVMs that levels name; of the default one if the program is Java and none does."""
    factors = [name for name, factor in design.study.factors.items() if factor.control == "jvm"]
    levels = {configuration[name] for configuration in design.configurations for name in factors}
    if not factors and facts.jvms and any("{java}" in word for word in program.argv):
        levels = {facts.jvms[0].name}
    by_level = index_jvms(facts)
    jvms = {str(level): find_jvm(level, by_level) for level in levels}
    return {name: jvm.build if jvm else None for name, jvm in sorted(jvms.items())}


def sources_digest(program: Program) -> bytes:
    """Return the digest of what runs from the study's own folder: a workload's files, or those a command names."""
    if not program.commands:
        return program.sources
    digest = hashlib.sha256(program.sources)
    for file in _own_files(program):
        digest.update(file.relative_to(program.here.resolve()).as_posix().encode() + b"\0" + _digest(file))
    return digest.digest()


def external_program(program: Program, path: str) -> dict[str, Any] | None:
    """Return path, size and checksum of a command's program outside the study's folder; None if there is none.

    Of several processes it is that of the first, which is a service.
    """
    if not program.commands:
        return None
    executable = shutil.which(_fill_word(program.commands[0][0], program), path=path)
    file = Path(executable).resolve() if executable else None
    if file is None or file.is_relative_to(program.here.resolve()):
        return None
    return {"path": _shorten_home(file), "bytes": file.stat().st_size, "sha256": _digest(file).hex()}


def _own_files(program: Program) -> Iterator[Path]:
    """Yield files of the folder that the command names: the program, and what an interpreter reads."""
    here = program.here.resolve()
    for word in dict.fromkeys(word for argv in program.commands for word in argv):
        text = _fill_word(word, program)
        if text.startswith("/") and "\0" not in text:
            file = Path(text).resolve()
            if file.is_relative_to(here) and os.path.isfile(file):  # noqa: PTH113  no error for an over-long name
                yield file


def _fill_word(word: str, program: Program) -> str:
    """Fill a word of the template with what is known before a configuration is."""
    values: Mapping[str, Any] = {name: program.values[name] for name in ("here", "python") if name in program.values}
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", str(value))
    return word


def _digest(file: Path) -> bytes:
    try:
        with open_file(file) as stream:
            return hashlib.file_digest(stream, "sha256").digest()  # type: ignore[arg-type]
    except OSError:
        return b""  # one may run a program that one may not read


def _shorten_home(file: Path) -> str:
    """Return a path without the name of a person: one at home begins with ~."""
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home
        return str(file)
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
