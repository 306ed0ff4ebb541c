"""Check a study against its workload or processes: unfilled names, factors without effect, refused values."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path as Folder
from typing import Any, TypeGuard

from scalograph.errors import StudyError
from scalograph.study.check_processes import (
    COUNTS,
    LIMITS,
    check_placeholders,
    check_process_placeholders,
    count_factor,
    filled_at_start,
    processes_of,
    words_of,
)
from scalograph.study.control_names import control_row, environment_variable
from scalograph.study.cross_checks import Mistake, check_selection, declared_levels, levels_of, table, unknown_name
from scalograph.study.processes import SERVICE, placeholders
from scalograph.study.program import STEPS, find_command, find_workload
from scalograph.study.scalars import MOST_NAMES, closest_name, refuse_text, suggest
from scalograph.study.toml_text import KeyPath
from scalograph.study.workload import BY_HOST, BY_PROTOCOL, Parameter, Workload, load_workload

# What the host gives to a command.
BY_HOST_TO_COMMANDS = ("here", "python")
# The key of `protocol` that fills each name.
_KEYS = {"iterations": "iterations", "warmup": "warmup", "think_ns": "think"}


@dataclass(frozen=True)
class TakenNames:
    """Names that a workload takes: those in its templates, and its parameters."""

    names: frozenset[str]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    called: str = "the command"
    place: str = "workload.command"

    def uses(self, name: str) -> bool:
        return name in self.names or name in self.parameters


def check_workload_use(raw: dict[str, Any], folder: Folder) -> Iterator[Mistake]:
    """Check a study with a command or one workload; `folder` is that of the study."""
    workload, factors = table(raw, "workload"), table(raw, "factors")
    yield from _check_reserved_names(factors, table(raw, "protocol"))
    yield from _check_variables(factors, table(workload, "env"))
    taken: TakenNames | None = None
    command, use = workload.get("command"), workload.get("use")
    if processes_of(workload):
        return  # told by check_services
    if is_command(command) and use is None:
        yield from _check_command(command, workload, factors, folder)
        names = {name for name, _ in placeholders(command) if name} | prepared_names(workload)
        # A factor whose name is only misspelled there is reported as misspelled.
        strange = islice(sorted(names - factors.keys() - {*BY_HOST, *BY_PROTOCOL}), MOST_NAMES)
        taken = TakenNames(frozenset(names | {closest_name(name, factors) or "" for name in strange}))
    elif isinstance(use, str) and command is None and not refuse_text(use):
        try:
            used = load_workload(find_workload(use, folder))
        except StudyError as error:
            yield from workload_mistakes(error, ("workload", "use"))
            return
        yield from check_parameters(table(workload, "parameters"), used, factors, ("workload", "parameters"))
        yield from check_parameter_levels(raw, used)
        chosen = {name for process in used.process for name in process.when}
        names = {name for name, _ in placeholders(used.words) if name} | prepared_names(workload) | chosen
        taken = TakenNames(frozenset(names), used.parameters, used.name)
    if taken:
        filled = {*factors, *taken.parameters, *BY_HOST_TO_COMMANDS, *BY_PROTOCOL}
        yield from check_steps(workload, filled, folder)
        yield from check_idle_factors(factors, taken, {count_factor(workload)})


def is_command(command: Any) -> TypeGuard[list[str]]:
    return isinstance(command, list) and bool(command) and all(isinstance(word, str) for word in command)


def _check_reserved_names(factors: Mapping[str, Any], protocol: Mapping[str, Any]) -> Iterator[Mistake]:
    for name in factors:
        if name in BY_HOST:
            yield ("factors", name), f"{{{name}}} is filled by the host", "another name", ""
        if _KEYS.get(name) in protocol:
            key = f"protocol.{_KEYS[name]}"
            yield ("factors", name), f"{{{name}}} is filled by {key} already", "one of the two", f"remove {key}"


def _check_variables(factors: Mapping[str, Any], fixed: Mapping[str, Any]) -> Iterator[Mistake]:
    setters: dict[str, str] = {}
    for name, factor in factors.items():
        set_variable = environment_variable(factor.get("control")) if isinstance(factor, dict) else None
        if set_variable is None:
            continue
        where, other = ("factors", name, "control"), setters.setdefault(set_variable, name)
        if "=" in set_variable or refuse_text(set_variable):
            yield where, f"found {set_variable!r}", "the name of a variable, without =", "correct it"
        elif set_variable == "PATH" or set_variable.startswith("SCALOGRAPH_"):
            yield where, f"{set_variable} is set by the host", "another variable", ""
        elif set_variable in fixed:
            yield where, f"{set_variable} is set by workload.env already", "one of the two", "remove it there"
        elif other != name:
            yield where, f"{set_variable} is set by the factor {other} already", "one factor for each variable", ""


def _check_command(
    command: Sequence[str], workload: Mapping[str, Any], factors: Mapping[str, Any], folder: Folder
) -> Iterator[Mistake]:
    where = ("workload", "command")
    yield from check_program(command, where, workload, folder)
    if table(dict(workload), "parameters"):
        yield ("workload", "parameters"), "parameters of a command", "none", "write them into the command"
    yield from check_placeholders(
        command, where, {*factors, *BY_HOST_TO_COMMANDS, *BY_PROTOCOL, *java_names(command, factors)}
    )


def check_program(
    command: Sequence[str], where: KeyPath, workload: Mapping[str, Any], folder: Folder
) -> Iterator[Mistake]:
    if not command[0]:
        yield where, "no program", "a program inside the study's folder, an absolute path, or a name on PATH", ""
    try:
        name = "" if refuse_text(command[0]) else command[0]
        find_command(name, folder, workload.get("cwd", "scratch") != "scratch", str(where[1]))
    except StudyError as error:
        yield from ((where, problem.found, problem.expected, problem.fix) for problem in error.problems)


def prepared_names(workload: Mapping[str, Any]) -> set[str]:
    """Return names filled in before and after each run: a factor may reach the program by a file."""
    argvs = (argv for step in ("prepare", "cleanup") if is_command(argv := workload.get(step)))
    return {name for argv in argvs for name, _ in placeholders(argv) if name}


def check_steps(workload: Mapping[str, Any], filled: set[str], folder: Folder) -> Iterator[Mistake]:
    """Check the steps around the runs; no level is known during `setup`."""
    for step in STEPS:
        if is_command(argv := workload.get(step)):
            yield from check_program(argv, ("workload", step), workload, folder)
            yield from check_placeholders(
                argv, ("workload", step), set(BY_HOST_TO_COMMANDS) if step == "setup" else filled
            )


def java_names(command: Sequence[str], factors: Mapping[str, Any]) -> set[str]:
    controls = [factor.get("control") for factor in factors.values() if isinstance(factor, dict)]
    starts_java = any("{java}" in word for word in command)
    return {"java", *filter(None, map(_fills, controls)), *(["jvm_options"] if starts_java else [])}


def _fills(control: Any) -> str | None:
    row = control_row(control) if isinstance(control, str) else None
    return row.fills if row else None


def workload_mistakes(error: StudyError, path: KeyPath) -> Iterator[Mistake]:
    for problem in error.problems:
        where = "" if problem.where == "workload.use" else f"{problem.where}: "
        yield path, where + problem.found, problem.expected, problem.fix


def check_parameters(
    given: Mapping[str, Any], workload: Workload, factors: Mapping[str, Any], at: KeyPath
) -> Iterator[Mistake]:
    for name, value in given.items():
        path, parameter = (*at, name), workload.parameters.get(name)
        if parameter is None:
            names = sorted(workload.parameters)
            expected = "one of " + (", ".join(names) or "none")
            yield path, f'{workload.name} has no parameter "{name}"', expected, suggest(name, names)
        elif wrong := parameter.refuse(value):
            near = suggest(value, map(str, parameter.choices or ()))
            yield path, f"found {value!r}", wrong, near or f"see the parameters of {workload.name}"
        if name in factors:
            yield path, "fixed here and varied by a factor", "one of the two", "remove it here or there"


def check_parameter_levels(
    raw: dict[str, Any], workload: Workload, when: Mapping[str, Any] | None = None
) -> Iterator[Mistake]:
    """Check for levels that a workload refuses, among those `when` it is started."""
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
                    near = suggest(level, map(str, parameter.choices or ()))
                    yield path, f"found level {level!r}", wrong, near or f"see the parameters of {workload.name}"


def check_idle_factors(
    factors: Mapping[str, Any], taken: TakenNames, counting: Collection[str | None]
) -> Iterator[Mistake]:
    """Check for factors without effect: their levels would pass for different configurations."""
    for name, factor in factors.items():
        control = factor.get("control") if isinstance(factor, dict) else ""
        fills = _fills(control)
        if fills and fills not in taken.names:
            text = f"nothing uses this factor: {taken.called} starts no JVM by {{{fills}}}"
            yield ("factors", name), text, "", f"write {{{fills}}} into its command"
        if control is not None or name in BY_HOST or taken.uses(name) or name in counting:
            continue
        listed = ", ".join(sorted(taken.parameters)) or "no parameters"
        fix = f"use one of {listed}" if taken.parameters else f"write {{{name}}} into {taken.place}"
        yield (
            ("factors", name),
            f"nothing uses this factor: {taken.called} does not take it",
            "",
            suggest(name, taken.parameters) or fix,
        )


def check_run_responses(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check `from` and `unit` of responses that read a window, a run or a process."""
    workload = table(raw, "workload")
    processes = {str(process.get("name")) for process in processes_of(workload)}
    is_known = "use" not in workload  # a used one may start several
    for name, response in table(raw, "responses").items():
        source = response.get("from") if isinstance(response, dict) else None
        room, _, value = source.partition(".") if isinstance(source, str) else ("", "", "")
        if source is None or room not in ("window", "run", "process", "kernel"):
            continue
        of_process, path = room == "process", ("responses", name)
        value = value.rpartition(".")[2] if of_process else value
        units = {value: "s"} if room == "window" else _units(room)
        if value not in units:
            expected = f"{'process.NAME' if of_process else room}. and one of {', '.join(sorted(units))}"
            yield (*path, "from"), f'found "{source}"', expected, suggest(value, units)
        elif is_known and of_process and (process := source.split(".")[1]) not in processes:
            yield unknown_name((*path, "from"), "process", process, processes)
        elif isinstance(unit := response.get("unit"), str) and unit not in (units[value], ""):
            yield (*path, "unit"), f'found "{unit}"', f'"{units[value]}", which {source} is told in', ""


def _units(room: str) -> dict[str, str]:
    # A slow import of the whole protocol, needed only for such figures.
    from scalograph.study.responses import COUNTERS, process_units, run_units

    if room == "kernel":
        return dict.fromkeys(COUNTERS, "")
    return process_units() if room == "process" else run_units()


AT = ("workload", "process")
# What they limit or reserve holds for everything that a run starts: the driver too.
WHOLE_RUN_CONTROLS = ("quota", "memory", "tasks", "isolation", "online")


def check_process_use(raw: dict[str, Any], folder: Folder) -> Iterator[Mistake]:
    """Check `[[workload.process]]` together with factors, files and workloads; `folder` is that of the study."""
    workload, factors = table(raw, "workload"), table(raw, "factors")
    processes = processes_of(workload)
    if not processes or workload.get("command") is not None or workload.get("use") is not None:
        return
    at_start = set().union(*(filled_at_start(processes, process) for process in processes))
    for name in (name for name in factors if name in at_start):
        yield ("factors", name), f"{{{name}}} is filled for each process when it starts", "another name", ""
    yield from _check_shared_controls(factors)
    yield from _check_cpus_control(processes, factors)
    if workload.get("keep") == "block":
        yield from _check_kept_services(processes, factors)
    for i, process in enumerate(processes):
        yield from check_selection(process.get("when"), (*AT, i, "when"), declared_levels(raw))
    used: dict[int, Workload] = {}
    is_whole = True
    for i, process in enumerate(processes):
        if isinstance(use := process.get("use"), str) and not refuse_text(use):
            try:
                used[i] = load_workload(find_workload(use, folder))
            except StudyError as error:
                yield from workload_mistakes(error, (*AT, i, "use"))
                is_whole = False
                continue
            yield from check_parameters(table(process, "parameters"), used[i], factors, (*AT, i, "parameters"))
    for i, workload_used in used.items():
        yield from check_parameter_levels(raw, workload_used, table(processes[i], "when"))
    filled = {*factors, *BY_HOST_TO_COMMANDS, *BY_PROTOCOL}
    words = [word for process in processes for listed in words_of(process).values() for word in listed]
    for i, process in enumerate(processes):
        if is_command(argv := process.get("argv")):
            yield from check_program(argv, (*AT, i, "argv"), workload, folder)
        own = used[i].parameters if i in used else ()
        yield from check_process_placeholders(processes, i, AT, {*filled, *own} | java_names(words, factors))
    parameters = {name: parameter for each in used.values() for name, parameter in each.parameters.items()}
    yield from check_steps(workload, {*filled, *parameters}, folder)
    if is_whole:
        words += [word for each in used.values() for word in each.words]
        yield from _check_idle(raw, processes, words, parameters)


def _check_idle(
    raw: dict[str, Any], processes: Sequence[dict[str, Any]], words: Sequence[str], parameters: Mapping[str, Parameter]
) -> Iterator[Mistake]:
    workload = table(raw, "workload")
    if table(workload, "parameters"):
        yield ("workload", "parameters"), "parameters beside processes", "none", "write them into the process that uses"
    chosen = {name for process in processes for name in table(process, "when")}
    names = {name for name, _ in placeholders(words) if name} | prepared_names(workload) | chosen
    taken = TakenNames(frozenset(names), parameters, "what is started", "the argv of a process")
    yield from check_idle_factors(
        table(raw, "factors"),
        taken,
        {count_factor(process, key) for process in processes for key in (*COUNTS, *LIMITS)},
    )


def _check_shared_controls(factors: Mapping[str, Any]) -> Iterator[Mistake]:
    expected, fix = "a control of single processes", "it would hold for the driver too"
    for name, factor in factors.items():
        if isinstance(factor, dict) and (control := factor.get("control")) in WHOLE_RUN_CONTROLS:
            yield ("factors", name, "control"), f"{control} beside services", expected, fix


def _check_kept_services(processes: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> Iterator[Mistake]:
    expected = "none: services that stay up have it of the run that started them"
    for i, process in enumerate(processes):
        for key in (key for key in LIMITS if key in process):
            yield (*AT, i, key), f'a {key} beside keep = "block"', expected, ""
    for name, factor in factors.items():
        row = control_row(str(factor.get("control"))) if isinstance(factor, dict) else None
        if row and row.machine_wide:
            path: KeyPath = ("factors", name, "control")
            yield path, 'a setting of the machine beside keep = "block"', expected, ""


def _check_cpus_control(processes: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> Iterator[Mistake]:
    """Check for a control of CPUs without effect: all services have CPUs of their own."""
    services = [process for process in processes if process.get("role") == SERVICE]
    if services and all("cpus" in process for process in services):
        for name, factor in factors.items():
            if isinstance(factor, dict) and factor.get("control") == "cpus":
                path: KeyPath = ("factors", name, "control")
                yield path, "nothing uses this factor: each service has `cpus` of its own", "", "leave it out"
