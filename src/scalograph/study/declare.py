"""Stop 1 for a command: a study by its file or by the name of a shipped one, quick or in full length."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
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
from scalograph.study.check_published import unreadable
from scalograph.study.check_workload import (
    BY_HOST_TO_COMMANDS,
    TakenNames,
    idle,
    is_command,
    java_names,
    misfits,
    misnamed_steps,
    no_program,
    prepared_names,
    refused_levels,
    unusable,
    wrong_parameters,
)
from scalograph.study.control_names import row_of
from scalograph.study.cross_checks import Found, declared_levels, selection, table, unknown
from scalograph.study.load import load
from scalograph.study.model import Study
from scalograph.study.processes import SERVICE, places
from scalograph.study.program import find_workload
from scalograph.study.quick import quickened
from scalograph.study.scalars import meant, no_such, refuse_text
from scalograph.study.shipped import shipped_studies, shipped_study
from scalograph.study.toml_lines import KeyPath
from scalograph.study.workload import BY_PROTOCOL, Parameter, Workload, load_workload


def misread(raw: dict[str, Any]) -> Iterator[Found]:
    """Find every mistake in `from` and `unit` of the responses that read a window or a figure of the run.

    Args:
        raw: the document of study.toml, valid or not.
    """
    workload = table(raw, "workload")
    processes = {str(process.get("name")) for process in processes_of(workload)}
    is_known = "use" not in workload  # a used one may start several
    for name, response in table(raw, "responses").items():
        source = response.get("from") if isinstance(response, dict) else None
        if not isinstance(source, str) or source.partition(".")[0] not in ("window", "run", "process", "kernel"):
            continue
        known = _unit(source)
        if known is None:
            yield _unknown(("responses", name, "from"), source)
        elif is_known and source.startswith("process.") and (process := source.split(".")[1]) not in processes:
            yield unknown(("responses", name, "from"), "process", process, processes)
        elif isinstance(unit := response.get("unit"), str) and unit not in (known, ""):
            yield ("responses", name, "unit"), f'found "{unit}"', f'"{known}", which {source} is told in', ""


def _unit(source: str) -> str | None:
    """Return `s`, `bytes`, `%` or none; None for a figure that no run has."""
    room, _, name = source.partition(".")
    if room == "window":
        return "s"
    return _units(room).get(_figure(room, name))


def _figure(room: str, name: str) -> str:
    return name.rpartition(".")[2] if room == "process" else name


def _units(room: str) -> dict[str, str]:
    # A slow import of the whole protocol, needed only for such figures.
    from scalograph.study.responses import COUNTERS, figure_units, process_units

    if room == "kernel":
        return dict.fromkeys(COUNTERS, "")
    return process_units() if room == "process" else figure_units()


def _unknown(place: tuple[str, ...], source: str) -> Found:
    room, _, name = source.partition(".")
    known, name = sorted(_units(room)), _figure(room, name)
    begin = "process.NAME." if room == "process" else f"{room}."
    return place, f'found "{source}"', f"{begin} and one of {', '.join(known)}", meant(name, known)


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
                used[i] = load_workload(find_workload(use, folder))
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
            path: KeyPath = ("factors", name)
            yield path, f"{{{name}}} is filled for each process when it starts", "another name", ""


def _limited(factors: Mapping[str, Any]) -> Iterator[Found]:
    for name, factor in factors.items():
        control = factor.get("control") if isinstance(factor, dict) else None
        if control in OF_WHOLE_RUNS:
            path: KeyPath = ("factors", name, "control")
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
            path: KeyPath = ("factors", name, "control")
            yield path, 'a setting of the machine beside keep = "block"', expected, ""


def _left_over(processes: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> Iterator[Found]:
    """Find a control of CPUs that holds for no process: all services have CPUs of their own."""
    services = [process for process in processes if process.get("role") == SERVICE]
    if services and all("cpus" in process for process in services):
        for name, factor in factors.items():
            if isinstance(factor, dict) and factor.get("control") == "cpus":
                path: KeyPath = ("factors", name, "control")
                yield path, "a factor that nothing uses: each service has `cpus` of its own", "one without", ""


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
    """Load the study in a file or folder.

    Raises:
        StudyError: with every mistake, including those that show only together with its workload.
    """
    file = _file(path)
    study = load(file, lambda raw: _beside(raw, file.parent))
    return Declared(quickened(study) if quick else study, file.resolve())


def check(path: Path) -> Study:
    """Load the study in a file or folder and check the files that it brings along.

    Raises:
        StudyError: with every mistake.
    """
    file = _file(path)
    return load(file, lambda raw: [*_beside(raw, file.parent), *unreadable(raw, file.parent)])


def _beside(raw: dict[str, Any], folder: Path) -> list[Found]:
    """Find the mistakes that show only together with a workload, or with what a run reports."""
    return [*misfits(raw, folder), *misstarted(raw, folder), *misread(raw)]


def _file(path: Path) -> Path:
    return path / "study.toml" if path.is_dir() else path


def declare_shipped(name: str, quick: bool = False) -> Declared:
    """Load a study that ships.

    Raises:
        StudyError: the name is unknown; lists the known ones.
    """
    if name not in shipped_studies():
        fix = "list them with: scalograph study --list"
        raise no_such("study", f'no study "{name}" ships', name, shipped_studies(), fix)
    return declare(shipped_study(name), quick)
