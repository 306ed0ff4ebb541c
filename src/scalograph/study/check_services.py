"""Mismatches of a study that starts several processes: names that nothing fills, factors without effect."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as Folder
from typing import Any

from scalograph.errors import StudyError
from scalograph.study.check_processes import (
    COUNTS,
    QUOTA,
    counted,
    filled_at_start,
    processes_of,
    unfilled_words,
    words_of,
)
from scalograph.study.check_workload import (
    BY_HOST_TO_COMMANDS,
    TakenNames,
    idle,
    is_command,
    java_names,
    misnamed_steps,
    no_program,
    prepared_names,
    refused_levels,
    unusable,
    wrong_parameters,
)
from scalograph.study.control_names import row_of
from scalograph.study.cross_checks import Found, declared_levels, selection, table
from scalograph.study.processes import SERVICE
from scalograph.study.program import find_workload
from scalograph.study.scalars import refuse_text
from scalograph.study.template import places
from scalograph.study.toml_lines import Path
from scalograph.study.workload import BY_PROTOCOL, Parameter, Workload, load

AT = ("workload", "process")
# What they limit or reserve holds for everything that a run starts: the driver too.
OF_WHOLE_RUNS = ("quota", "tasks", "isolation", "online")


def misstarted(raw: dict[str, Any], folder: Folder) -> Iterator[Found]:
    """Find every mistake in `[[workload.process]]` that shows only together with factors, files and workloads.

    Args:
        raw: the document of study.toml, valid or not.
        folder: of the study.
    """
    workload, factors = table(raw, "workload"), table(raw, "factors")
    processes = processes_of(workload)
    if not processes or workload.get("command") is not None or workload.get("use") is not None:
        return
    yield from _reserved(processes, factors)
    yield from _limited(factors)
    yield from _left_over(processes, factors)
    if workload.get("keep") == "block":
        yield from _not_kept(processes, factors)
    for i, process in enumerate(processes):
        yield from selection(process.get("when"), (*AT, i, "when"), declared_levels(raw))
    used: dict[int, Workload] = {}
    is_whole = True
    for i, process in enumerate(processes):
        if isinstance(use := process.get("use"), str) and not refuse_text(use):
            try:
                used[i] = load(find_workload(use, folder))
            except StudyError as error:
                yield from unusable(error, (*AT, i, "use"))
                is_whole = False
                continue
            yield from wrong_parameters(table(process, "parameters"), used[i], factors, (*AT, i, "parameters"))
    for i, workload_used in used.items():
        yield from refused_levels(raw, workload_used, table(processes[i], "when"))
    known = {*factors, *BY_HOST_TO_COMMANDS, *BY_PROTOCOL}
    words = [word for process in processes for listed in words_of(process).values() for word in listed]
    for i, process in enumerate(processes):
        if is_command(argv := process.get("argv")):
            yield from no_program(argv, (*AT, i, "argv"), workload, folder)
        own = used[i].parameters if i in used else ()
        yield from unfilled_words(processes, i, AT, {*known, *own} | java_names(words, factors))
    parameters = {name: parameter for one in used.values() for name, parameter in one.parameters.items()}
    yield from misnamed_steps(workload, {*known, *parameters}, folder)
    if is_whole:
        words += [word for one in used.values() for word in one.words]
        yield from _idle_factors(raw, processes, words, parameters)


def _idle_factors(
    raw: dict[str, Any],
    processes: Sequence[dict[str, Any]],
    words: Sequence[str],
    parameters: Mapping[str, Parameter],
) -> Iterator[Found]:
    workload = table(raw, "workload")
    if table(workload, "parameters"):
        yield ("workload", "parameters"), "parameters beside processes", "none", "write them into the process that uses"
    chosen = {name for process in processes for name in table(process, "when")}
    names = {name for name, _ in places(words) if name} | prepared_names(workload) | chosen
    taken = TakenNames(frozenset(names), parameters, "what is started", "the argv of a process")
    yield from idle(
        table(raw, "factors"), taken, {counted(process, key) for process in processes for key in (*COUNTS, QUOTA)}
    )


def _reserved(processes: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> Iterator[Found]:
    filled = set().union(*(filled_at_start(processes, process) for process in processes))
    for name in factors:
        if name in filled:
            path: Path = ("factors", name)
            yield path, f"{{{name}}} is filled for each process when it starts", "another name", ""


def _limited(factors: Mapping[str, Any]) -> Iterator[Found]:
    for name, factor in factors.items():
        control = factor.get("control") if isinstance(factor, dict) else None
        if control in OF_WHOLE_RUNS:
            path: Path = ("factors", name, "control")
            yield (
                path,
                f"{control} beside services",
                "a control of single processes",
                "it would hold for the driver too",
            )


def _not_kept(processes: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> Iterator[Found]:
    """Find what is set anew for each run, and so not for services that stay up."""
    expected = "none: services that stay up have it of the run that started them"
    for i, process in enumerate(processes):
        if "quota" in process:
            yield (*AT, i, "quota"), 'a quota beside keep = "block"', expected, ""
    for name, factor in factors.items():
        row = row_of(str(factor.get("control"))) if isinstance(factor, dict) else None
        if row and row.machine_wide:
            path: Path = ("factors", name, "control")
            yield path, 'a setting of the machine beside keep = "block"', expected, ""


def _left_over(processes: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> Iterator[Found]:
    """Find a control of CPUs that holds for no process: all services have CPUs of their own."""
    services = [process for process in processes if process.get("role") == SERVICE]
    if services and all("cpus" in process for process in services):
        for name, factor in factors.items():
            if isinstance(factor, dict) and factor.get("control") == "cpus":
                path: Path = ("factors", name, "control")
                yield path, "a factor that nothing uses: each service has `cpus` of its own", "one without", ""
