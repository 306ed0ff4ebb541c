"""Load a study with its workload, by file or by built-in name, quick or in full."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pathlib import Path as Folder
from typing import Any

from scalograph.errors import StudyError
from scalograph.study.check_processes import (
    COUNTS,
    QUOTA,
    check_process_placeholders,
    count_factor,
    filled_at_start,
    processes_of,
    words_of,
)
from scalograph.study.check_published import check_published_file
from scalograph.study.check_workload import (
    BY_HOST_TO_COMMANDS,
    TakenNames,
    check_idle_factors,
    check_parameter_levels,
    check_parameters,
    check_program,
    check_steps,
    check_workload_use,
    is_command,
    java_names,
    prepared_names,
    workload_mistakes,
)
from scalograph.study.control_names import control_row
from scalograph.study.cross_checks import Mistake, check_selection, declared_levels, table, unknown_name
from scalograph.study.load import load, quick_form
from scalograph.study.model import Study
from scalograph.study.processes import SERVICE, placeholders
from scalograph.study.program import find_workload
from scalograph.study.scalars import refuse_text, suggest, unknown_name_error
from scalograph.study.shipped import shipped_studies, shipped_study
from scalograph.study.toml_text import KeyPath
from scalograph.study.workload import BY_PROTOCOL, Parameter, Workload, load_workload


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
WHOLE_RUN_CONTROLS = ("quota", "tasks", "isolation", "online")


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
        table(raw, "factors"), taken, {count_factor(process, key) for process in processes for key in (*COUNTS, QUOTA)}
    )


def _check_shared_controls(factors: Mapping[str, Any]) -> Iterator[Mistake]:
    expected, fix = "a control of single processes", "it would hold for the driver too"
    for name, factor in factors.items():
        if isinstance(factor, dict) and (control := factor.get("control")) in WHOLE_RUN_CONTROLS:
            yield ("factors", name, "control"), f"{control} beside services", expected, fix


def _check_kept_services(processes: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> Iterator[Mistake]:
    expected = "none: services that stay up have it of the run that started them"
    for i, process in enumerate(processes):
        if "quota" in process:
            yield (*AT, i, "quota"), 'a quota beside keep = "block"', expected, ""
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


@dataclass(frozen=True)
class Declared:
    """A study, its file, and the folder that its own files are relative to."""

    study: Study
    file: Path

    @property
    def folder(self) -> Path:
        """The folder that relative paths of the study start from."""
        return self.file.parent


def declare(path: Path, quick: bool = False) -> Declared:
    """Load the study in a file or folder."""
    file = _file(path)
    study = load(file, lambda raw: _check_surroundings(raw, file.parent))
    return Declared(quick_form(study) if quick else study, file.resolve())


def check(path: Path) -> Study:
    """Load a study and check the files beside it."""
    file = _file(path)
    return load(file, lambda raw: [*_check_surroundings(raw, file.parent), *check_published_file(raw, file.parent)])


def _check_surroundings(raw: dict[str, Any], folder: Path) -> list[Mistake]:
    return [*check_workload_use(raw, folder), *check_process_use(raw, folder), *check_run_responses(raw)]


def _file(path: Path) -> Path:
    return path / "study.toml" if path.is_dir() else path


def declare_shipped(name: str, quick: bool = False) -> Declared:
    """Load a built-in study."""
    if name not in shipped_studies():
        fix = "list them with: scalograph study --list"
        raise unknown_name_error("study", f'no study "{name}" ships', name, shipped_studies(), fix)
    return declare(shipped_study(name), quick)
