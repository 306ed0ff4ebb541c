"""Mismatches of a study and its workload: names that nothing fills, factors without effect, values it refuses."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path as Folder
from typing import Any, TypeGuard

from scalograph.errors import StudyError
from scalograph.study.check_processes import counted, processes_of, unfilled
from scalograph.study.control_names import row_of, variable
from scalograph.study.cross_checks import Found, levels_of, table
from scalograph.study.processes import places
from scalograph.study.program import STEPS, find_command, find_workload
from scalograph.study.scalars import MOST_NAMES, closest, meant, refuse_text
from scalograph.study.toml_lines import KeyPath
from scalograph.study.workload import BY_HOST, BY_PROTOCOL, Parameter, Workload, load_workload

# What the host gives to a command.
BY_HOST_TO_COMMANDS = ("here", "python")
# The key of `protocol` that fills each name.
_KEYS = {"iterations": "iterations", "warmup": "warmup", "think_ns": "think"}


@dataclass(frozen=True)
class TakenNames:
    """What a workload takes: names in its templates, and its parameters."""

    names: frozenset[str]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    called: str = "the command"
    place: str = "workload.command"

    def uses(self, name: str) -> bool:
        return name in self.names or name in self.parameters


def misfits(raw: dict[str, Any], folder: Folder) -> Iterator[Found]:
    """Find every mistake that shows only together with the workload.

    Args:
        raw: the document of study.toml, valid or not.
        folder: of the study.
    """
    workload, factors = table(raw, "workload"), table(raw, "factors")
    yield from _reserved(factors, table(raw, "protocol"))
    yield from _variables(factors, table(workload, "env"))
    taken: TakenNames | None = None
    command, use = workload.get("command"), workload.get("use")
    if processes_of(workload):
        return  # told by check_services
    if is_command(command) and use is None:
        yield from _command(command, workload, factors, folder)
        names = {name for name, _ in places(command) if name} | prepared_names(workload)
        # A factor whose name is only misspelled there is reported as misspelled.
        strange = islice(sorted(names - factors.keys() - {*BY_HOST, *BY_PROTOCOL}), MOST_NAMES)
        taken = TakenNames(frozenset(names | {closest(name, factors) or "" for name in strange}))
    elif isinstance(use, str) and command is None and not refuse_text(use):
        try:
            found = load_workload(find_workload(use, folder))
        except StudyError as error:
            yield from unusable(error, ("workload", "use"))
            return
        yield from wrong_parameters(table(workload, "parameters"), found, factors, ("workload", "parameters"))
        yield from refused_levels(raw, found)
        chosen = {name for process in found.process for name in process.when}
        names = {name for name, _ in places(found.words) if name} | prepared_names(workload) | chosen
        taken = TakenNames(frozenset(names), found.parameters, found.name)
    if taken:
        known = {*factors, *taken.parameters, *BY_HOST_TO_COMMANDS, *BY_PROTOCOL}
        yield from misnamed_steps(workload, known, folder)
        yield from idle(factors, taken, {counted(workload)})


def is_command(command: Any) -> TypeGuard[list[str]]:
    return isinstance(command, list) and bool(command) and all(isinstance(word, str) for word in command)


def _reserved(factors: Mapping[str, Any], protocol: Mapping[str, Any]) -> Iterator[Found]:
    for name in factors:
        if name in BY_HOST:
            yield ("factors", name), f"{{{name}}} is filled by the host", "another name", ""
        if _KEYS.get(name) in protocol:
            key = f"protocol.{_KEYS[name]}"
            yield ("factors", name), f"{{{name}}} is filled by {key} already", "one of the two", f"remove {key}"


def _variables(factors: Mapping[str, Any], fixed: Mapping[str, Any]) -> Iterator[Found]:
    """Check the environment variables that factors set: each by one of them, none that the host or the study sets."""
    setters: dict[str, str] = {}
    for name, factor in factors.items():
        found = variable(factor.get("control")) if isinstance(factor, dict) else None
        if found is None:
            continue
        where, other = ("factors", name, "control"), setters.setdefault(found, name)
        if "=" in found or refuse_text(found):
            yield where, f"found {found!r}", "the name of a variable, without =", "correct it"
        elif found == "PATH" or found.startswith("SCALOGRAPH_"):
            yield where, f"{found} is set by the host", "another variable", ""
        elif found in fixed:
            yield where, f"{found} is set by workload.env already", "one of the two", "remove it there"
        elif other != name:
            yield where, f"{found} is set by the factor {other} already", "one factor for each variable", ""


def _command(
    command: Sequence[str], workload: Mapping[str, Any], factors: Mapping[str, Any], folder: Folder
) -> Iterator[Found]:
    where = ("workload", "command")
    yield from no_program(command, where, workload, folder)
    if table(dict(workload), "parameters"):
        yield ("workload", "parameters"), "parameters of a command", "none", "write them into the command"
    yield from unfilled(command, where, {*factors, *BY_HOST_TO_COMMANDS, *BY_PROTOCOL, *java_names(command, factors)})


def no_program(command: Sequence[str], where: KeyPath, workload: Mapping[str, Any], folder: Folder) -> Iterator[Found]:
    if not command[0]:
        yield where, "no program", "a program inside the study's folder, an absolute path, or a name on PATH", ""
    try:
        name = "" if refuse_text(command[0]) else command[0]
        find_command(name, folder, workload.get("cwd") == "caller", str(where[1]))
    except StudyError as error:
        yield from ((where, problem.found, problem.expected, problem.fix) for problem in error.problems)


def prepared_names(workload: Mapping[str, Any]) -> set[str]:
    """Return the names that are filled in before and after each run: a factor may reach the program by a file."""
    argvs = (argv for step in ("prepare", "cleanup") if is_command(argv := workload.get(step)))
    return {name for argv in argvs for name, _ in places(argv) if name}


def misnamed_steps(workload: Mapping[str, Any], known: set[str], folder: Folder) -> Iterator[Found]:
    """Check the steps around the runs. No level is known when `setup` is carried out."""
    for step in STEPS:
        if is_command(argv := workload.get(step)):
            yield from no_program(argv, ("workload", step), workload, folder)
            yield from unfilled(argv, ("workload", step), set(BY_HOST_TO_COMMANDS) if step == "setup" else known)


def java_names(command: Sequence[str], factors: Mapping[str, Any]) -> set[str]:
    controls = [factor.get("control") for factor in factors.values() if isinstance(factor, dict)]
    starts_java = any("{java}" in word for word in command)
    return {"java", *filter(None, map(_fills, controls)), *(["jvm_options"] if starts_java else [])}


def _fills(control: Any) -> str | None:
    """Return the name by which a control hands its level over; None if it does so otherwise, or there is no control."""
    row = row_of(control) if isinstance(control, str) else None
    return row.fills if row else None


def unusable(error: StudyError, path: KeyPath) -> Iterator[Found]:
    for problem in error.problems:
        where = "" if problem.where == "workload.use" else f"{problem.where}: "
        yield path, where + problem.found, problem.expected, problem.fix


def wrong_parameters(
    given: Mapping[str, Any], workload: Workload, factors: Mapping[str, Any], at: KeyPath
) -> Iterator[Found]:
    for name, value in given.items():
        path, parameter = (*at, name), workload.parameters.get(name)
        if parameter is None:
            known = sorted(workload.parameters)
            expected = "one of " + (", ".join(known) or "none")
            yield path, f'{workload.name} has no parameter "{name}"', expected, meant(name, known)
        elif wrong := parameter.refuse(value):
            near = meant(value, map(str, parameter.choices or ()))
            yield path, f"found {value!r}", wrong, near or f"see the parameters of {workload.name}"
        if name in factors:
            yield path, "fixed here and varied by a factor", "one of the two", "remove it here or there"


def refused_levels(raw: dict[str, Any], workload: Workload, when: Mapping[str, Any] | None = None) -> Iterator[Found]:
    """Find the levels that a workload does not take, among those `when` it is started."""
    shorter, when = table(table(raw, "quick"), "factors"), when or {}
    for name, factor in table(raw, "factors").items():
        parameter = workload.parameters.get(name)
        if parameter is None:
            continue
        quick = ("quick", "factors", name), {"levels": shorter.get(name)}
        for path, declared in ((("factors", name, "levels"), factor), quick):
            for level in levels_of(declared) or ():
                is_taken = not isinstance(only := when.get(name), list) or level in only
                if is_taken and (wrong := parameter.refuse(level)):
                    near = meant(level, map(str, parameter.choices or ()))
                    yield path, f"found level {level!r}", wrong, near or f"see the parameters of {workload.name}"


def idle(factors: Mapping[str, Any], taken: TakenNames, counting: Collection[str | None]) -> Iterator[Found]:
    """Find factors that change nothing: their levels would be measured as if they were different treatments."""
    for name, factor in factors.items():
        control = factor.get("control") if isinstance(factor, dict) else ""
        fills = _fills(control)
        if fills and fills not in taken.names:
            found, expected = f"{taken.called} starts no JVM by {{{fills}}}", f"{{{fills}}} in its command"
            yield ("factors", name), f"a factor that nothing uses: {found}", expected, ""
        if control is not None or name in BY_HOST or taken.uses(name) or name in counting:
            continue
        known = ", ".join(sorted(taken.parameters)) or "no parameters"
        fix = f"it takes {known}" if taken.parameters else f"write {{{name}}} into {taken.place}"
        yield (
            ("factors", name),
            f"a factor that nothing uses: {taken.called} does not take it, and it has no control",
            "levels that reach the program or the machine",
            meant(name, taken.parameters) or fix,
        )
