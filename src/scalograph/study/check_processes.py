"""Check processes on the raw document: roles, names, order, ports, and counts of copies."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from scalograph.study.cross_checks import Mistake, table, unknown_name
from scalograph.study.processes import (
    DRIVER,
    FORMS,
    MAX_COMMANDS,
    SERVICE,
    own_names,
    placeholders,
    predecessors,
    service_names,
    sort_services,
    split_address,
)
from scalograph.study.scalars import suggest
from scalograph.study.toml_text import KeyPath

# What only services have: a driver begins at the gate and ends by itself.
SERVICE_KEYS = ("ready", "ready_timeout", "ports", "stop", "after", "when")
# What one that runs already has none of: it is neither started nor stopped.
STARTED_KEYS = (*SERVICE_KEYS, "copies", "cpus", "quota", "memory", "parameters")
# What a name may stand for in a process.
COUNTS = ("copies", "cpus")
# Limits of a process, and what a level of each is.
LIMITS = {"quota": 'CPUs such as 0.5, or "none"', "memory": 'MiB such as 256, or "none"'}


def processes_of(raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the process tables of a document; what is no table is empty."""
    listed = raw.get("process")
    return [item if isinstance(item, dict) else {} for item in listed] if isinstance(listed, list) else []


def check_process_order(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Mistake]:
    """Check roles, names, order and ports of processes, valid or not; `at` is the path of the list."""
    if not processes:
        return
    yield from _roles(processes, at)
    yield from _names(processes, at)
    yield from _order(processes, at)
    yield from _ports(processes, at)


def words_of(process: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the template texts of a process by key; what is no text is skipped."""
    argv, ready = process.get("argv"), table(dict(process), "ready")
    parameters = table(dict(process), "parameters").values() if "use" in process else ()
    texts = {"argv": argv if isinstance(argv, list) else (), "ready": map(ready.get, FORMS), "parameters": parameters}
    return {key: [text for text in listed if isinstance(text, str)] for key, listed in texts.items()}


def filled_at_start(processes: Sequence[Mapping[str, Any]], process: Mapping[str, Any]) -> set[str]:
    """Return the names filled for one of the processes just before a run."""
    own = {*own_names(process.get("role") == SERVICE, _has_ports(process))}
    after = _dependencies(processes)
    earlier = set(after) if process.get("role") == DRIVER else predecessors(str(process.get("name")), after)
    return own | {*service_names(sorted(earlier & {*_port_services(processes)}))}


def _roles(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Mistake]:
    drivers = [i for i, process in enumerate(processes) if process.get("role") == DRIVER]
    if not drivers:
        expected = 'one process with role = "driver"'
        yield (*at, len(processes) - 1), "no driver", expected, "the run lasts as long as that one"
    for i in drivers[1:]:
        yield (*at, i, "role"), "a second driver", "one of them", "let one start what the other does"
    for i in drivers:
        keys = [key for key in SERVICE_KEYS if key in processes[i]]
        yield from (((*at, i, key), f"`{key}` of a driver", "none: only services have it", "") for key in keys)
    for i, process in enumerate(processes):
        if "pid" in process:
            keys = [key for key in STARTED_KEYS if key in process]
            what = "none: it is neither started nor stopped"
            yield from (((*at, i, key), f"`{key}` of a process that runs already", what, "") for key in keys)
            if process.get("role") == DRIVER:
                yield (*at, i, "pid"), "a driver that runs already", "one that is started", ""


def _names(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Mistake]:
    names = set[str]()
    for i, process in enumerate(processes):
        name = process.get("name")
        if isinstance(name, str) and name in names:
            yield (*at, i, "name"), f'a second process "{name}"', "another name", ""
        names.add(str(name))


def _order(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Mistake]:
    after = _dependencies(processes)
    for i, process in enumerate(processes):
        others = process.get("after")
        for other in others if isinstance(others, list) and process.get("role") == SERVICE else ():
            if isinstance(other, str) and other not in after:
                yield unknown_name((*at, i, "after"), "service", other, after)
    among = {name: [other for other in others if other in after] for name, others in after.items()}
    round_about = sorted(name for name in among if name in predecessors(name, among))
    if sort_services(among) is None:
        first = next(i for i, process in enumerate(processes) if process.get("name") in round_about)
        cycle = f"{', '.join(round_about)} wait for each other"
        yield (*at, first, "after"), cycle, "an order in which they can start", "remove one of them"


def _ports(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Mistake]:
    taken: dict[int, str] = {}
    for i, process in enumerate(processes):
        name, ports = str(process.get("name")), process.get("ports")
        listed = ports if isinstance(ports, list) else []
        # A port in `ready` belongs to the service whether `ports` says so or not.
        fixed = list(dict.fromkeys(port for port in (*listed, *_written_ports(process)) if isinstance(port, int)))
        if fixed and process.get("copies", 1) != 1:
            yield (*at, i, "ports"), "the same ports for every copy", "a count of ports", "write ports = 1 and {port}"
        for port in fixed:
            if port in taken:
                yield (*at, i, "ports"), f"port {port} of {taken[port]} again", "another port", ""
            taken[port] = name
        if not _has_ports(process) and process.get("role") == SERVICE:
            words = [word for listed in words_of(process).values() for word in listed]
            names = {filled for filled, _ in placeholders(words)} & {"port", "ports"}
            yield from (
                ((*at, i), f"{{{name}}} without ports", "ports = 1", "say how many") for name in sorted(map(str, names))
            )


def _written_ports(process: Mapping[str, Any]) -> Iterator[int]:
    ready = table(dict(process), "ready")
    if type(port := ready.get("port")) is int:
        yield port
    for form in ("port", "http"):
        port = split_address(form, ready[form])[1] if isinstance(ready.get(form), str) else ""
        if re.fullmatch("[0-9]{1,5}", port):
            yield int(port)


def count_factor(process: Mapping[str, Any], key: str = "copies") -> str | None:
    """Return the factor that counts copies, CPUs or the quota of a process; None for a number."""
    count = process.get(key)
    match = re.fullmatch(r"\{([^{}]+)\}", count) if isinstance(count, str) else None
    return match[1] if match else None


def too_many_copies(processes: Sequence[Mapping[str, Any]], most: Mapping[str, int], at: KeyPath) -> Iterator[Mistake]:
    """Check that copies of services are no more than a run can start; `most` is the largest count of each factor."""
    counts = []
    for process in processes:
        copies = most.get(count_factor(process) or "", process.get("copies", 1))
        counts.append(copies if type(copies) is int and process.get("role") == SERVICE else 1)
    if sum(counts) > MAX_COMMANDS:
        total = f"{sum(counts)} processes in all, copies of services counted"
        yield (*at, counts.index(max(counts)), "copies"), total, f"at most {MAX_COMMANDS}", "start fewer copies"


def _dependencies(processes: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    services = (process for process in processes if process.get("role") == SERVICE)
    after = ((str(process.get("name")), process.get("after")) for process in services)
    return {
        name: [t for t in listed if isinstance(t, str)] if isinstance(listed, list) else [] for name, listed in after
    }


def _port_services(processes: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(process.get("name")) for process in processes if _has_ports(process)]


def _has_ports(process: Mapping[str, Any]) -> bool:
    return bool(process.get("ports"))


def check_workload_processes(
    raw: Mapping[str, Any], at: KeyPath, filled: set[str], most: Mapping[str, int]
) -> Iterator[Mistake]:
    """Check the processes of a workload.toml.

    `filled` are the names that parameters, host and protocol fill, `most` the largest number of each parameter.
    """
    processes = processes_of(raw)[:MAX_COMMANDS]
    yield from check_process_order(processes, at)
    for i, process in enumerate(processes):
        if "use" in process:
            yield (*at, i, "use"), "a workload in a workload", "its argv", ""
        if "pid" in process:
            yield (*at, i, "pid"), "a process of one machine", "its argv", ""
        for key in (*COUNTS, *LIMITS):
            if (name := count_factor(process, key)) and name not in (filled if key in LIMITS else most):
                yield unknown_name((*at, i, key), "parameter", name, most)
        yield from (
            unknown_name((*at, i, "when"), "parameter", name, most)
            for name in table(process, "when")
            if name not in most
        )
        yield from check_process_placeholders(processes, i, at, filled)
    yield from too_many_copies(processes, most, at)


def check_process_placeholders(
    processes: Sequence[Mapping[str, Any]], i: int, at: KeyPath, filled: Collection[str]
) -> Iterator[Mistake]:
    """Check that the run fills every name in one process's texts."""
    own = filled_at_start(processes, processes[i])
    # Missing ports are told where they are to be declared.
    silent = {"port", "ports"} if processes[i].get("role") == SERVICE else set[str]()
    for key, words in words_of(processes[i]).items():
        for path, what, expected, fix in check_placeholders(words, (*at, i, key), {*filled, *own}, silent):
            later = any(f"{{{name}}}" in what for name in service_names(_port_services(processes)))
            yield path, what, expected, "name its service in `after`" if later else fix


def check_placeholders(
    words: Sequence[str], where: KeyPath, filled: set[str], silent: Collection[str] = ()
) -> Iterator[Mistake]:
    """Check a template for lone braces and names that nothing fills."""
    for name, item in dict.fromkeys(placeholders(words)):
        if name is None:
            yield where, f'a lone brace in "{item}"', "{name}", "write {{ or }} for a brace"
        elif name not in filled and name not in silent:
            expected = "one of " + ", ".join(sorted(filled))
            yield where, f'unknown name {{{name}}} in "{item}"', expected, suggest(name, filled) or "or {{ for a brace"
