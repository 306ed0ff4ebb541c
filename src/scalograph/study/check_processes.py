"""Processes that do not go together, found on the raw document: roles, order, ports and names of several of them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from scalograph.study.cross_checks import Found, table, unknown
from scalograph.study.processes import (
    DRIVER,
    FORMS,
    MAX_COMMANDS,
    SERVICE,
    before,
    in_order,
    names_of,
    own_names,
    places,
)
from scalograph.study.scalars import meant
from scalograph.study.toml_lines import KeyPath

# What only services have: a driver begins at the gate and ends by itself.
OF_SERVICES = ("ready", "ready_timeout", "ports", "stop", "after", "when")
# What one that runs already has none of: it is neither started nor stopped.
OF_STARTED = (*OF_SERVICES, "copies", "cpus", "quota", "parameters")
# What a name may stand for in a process.
COUNTS, QUOTA = ("copies", "cpus"), "quota"


def processes_of(raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the processes of a workload or of a study's `[workload]`; what is no table is empty."""
    listed = raw.get("process")
    return [one if isinstance(one, dict) else {} for one in listed] if isinstance(listed, list) else []


def disordered(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Found]:
    """Find what is wrong between processes, in any that are valid or not.

    Args:
        processes: as they are written.
        at: path of the list.
    """
    if not processes:
        return
    yield from _roles(processes, at)
    yield from _names(processes, at)
    yield from _order(processes, at)
    yield from _ports(processes, at)


def words_of(process: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the texts of a process that are templates, by the key that holds them; what is no text is left out."""
    argv, ready = process.get("argv"), table(dict(process), "ready")
    parameters = table(dict(process), "parameters").values() if "use" in process else ()
    texts = {"argv": argv if isinstance(argv, list) else (), "ready": map(ready.get, FORMS), "parameters": parameters}
    return {key: [text for text in listed if isinstance(text, str)] for key, listed in texts.items()}


def filled_at_start(processes: Sequence[Mapping[str, Any]], process: Mapping[str, Any]) -> set[str]:
    """Return the names that are filled just before a run starts, for one of its processes."""
    known = {*own_names(process.get("role") == SERVICE, _has_ports(process))}
    after = _after(processes)
    earlier = set(after) if process.get("role") == DRIVER else before(str(process.get("name")), after)
    return known | {*names_of(sorted(earlier & {*_with_ports(processes)}))}


def _roles(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Found]:
    drivers = [i for i, process in enumerate(processes) if process.get("role") == DRIVER]
    if not drivers:
        yield (
            (*at, len(processes) - 1),
            "no driver",
            'one process with role = "driver"',
            "the run lasts as long as that one",
        )
    for i in drivers[1:]:
        yield (*at, i, "role"), "a second driver", "one of them", "let one start what the other does"
    for i in drivers:
        found = [key for key in OF_SERVICES if key in processes[i]]
        yield from (((*at, i, key), f"`{key}` of a driver", "none: only services have it", "") for key in found)
    for i, process in enumerate(processes):
        if "pid" in process:
            found = [key for key in OF_STARTED if key in process]
            what = "none: it is neither started nor stopped"
            yield from (((*at, i, key), f"`{key}` of a process that runs already", what, "") for key in found)
            if process.get("role") == DRIVER:
                yield (*at, i, "pid"), "a driver that runs already", "one that is started", ""


def _names(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Found]:
    known = set[str]()
    for i, process in enumerate(processes):
        name = process.get("name")
        if isinstance(name, str) and name in known:
            yield (*at, i, "name"), f'a second process "{name}"', "another name", ""
        known.add(str(name))


def _order(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Found]:
    after = _after(processes)
    for i, process in enumerate(processes):
        others = process.get("after")
        for other in others if isinstance(others, list) and process.get("role") == SERVICE else ():
            if isinstance(other, str) and other not in after:
                yield unknown((*at, i, "after"), "service", other, after)
    known = {name: [other for other in others if other in after] for name, others in after.items()}
    round_about = sorted(name for name in known if name in before(name, known))
    if in_order(known) is None:
        first = next(i for i, process in enumerate(processes) if process.get("name") in round_about)
        found = f"{', '.join(round_about)} wait for each other"
        yield (*at, first, "after"), found, "an order in which they can start", "remove one of them"


def _ports(processes: Sequence[Mapping[str, Any]], at: KeyPath) -> Iterator[Found]:
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
            names = {place for place, _ in places(words)} & {"port", "ports"}
            yield from (
                ((*at, i), f"{{{name}}} without ports", "ports = 1", "say how many") for name in sorted(map(str, names))
            )


def _written_ports(process: Mapping[str, Any]) -> Iterator[int]:
    """Yield the numbers of ports that `ready` names."""
    ready = table(dict(process), "ready")
    if type(port := ready.get("port")) is int:
        yield port
    found = re.match(r"http://[^/]*:([0-9]{1,5})(?:/|$)", url) if isinstance(url := ready.get("http"), str) else None
    if found:
        yield int(found[1])


def counted(process: Mapping[str, Any], key: str = "copies") -> str | None:
    """Return the name that counts copies of a process, its CPUs or its quota; None if it is a number."""
    count = process.get(key)
    found = re.fullmatch(r"\{([^{}]+)\}", count) if isinstance(count, str) else None
    return found[1] if found else None


def too_many_copies(processes: Sequence[Mapping[str, Any]], most: Mapping[str, int], at: KeyPath) -> Iterator[Found]:
    """Find services that are more together than a run can start.

    Args:
        processes: as they are written.
        most: of each name that may count copies, the largest number.
        at: path of the list.
    """
    counts = []
    for process in processes:
        copies = most.get(counted(process) or "", process.get("copies", 1))
        counts.append(copies if type(copies) is int and process.get("role") == SERVICE else 1)
    if sum(counts) > MAX_COMMANDS:
        found = f"{sum(counts)} processes in all, copies of services counted"
        yield (*at, counts.index(max(counts)), "copies"), found, f"at most {MAX_COMMANDS}", "start fewer copies"


def _after(processes: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the services in order, each with those that it comes after."""
    services = (process for process in processes if process.get("role") == SERVICE)
    return {str(process.get("name")): _texts(process.get("after")) for process in services}


def _with_ports(processes: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(process.get("name")) for process in processes if _has_ports(process)]


def _texts(listed: Any) -> list[str]:
    return [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []


def _has_ports(process: Mapping[str, Any]) -> bool:
    return bool(process.get("ports"))


def misdeclared(raw: Mapping[str, Any], at: KeyPath, known: set[str], most: Mapping[str, int]) -> Iterator[Found]:
    """Find every mistake in the processes of a workload.toml.

    Args:
        raw: the document, valid or not.
        at: path of the list.
        known: names that parameters, the host and a study's protocol fill.
        most: of each parameter, the largest number that it may be.
    """
    processes = processes_of(raw)[:MAX_COMMANDS]
    yield from disordered(processes, at)
    for i, process in enumerate(processes):
        if "use" in process:
            yield (*at, i, "use"), "a workload in a workload", "its argv", ""
        if "pid" in process:
            yield (*at, i, "pid"), "a process of one machine", "its argv", ""
        for key in (*COUNTS, QUOTA):
            if (name := counted(process, key)) and name not in (known if key == QUOTA else most):
                yield unknown((*at, i, key), "parameter", name, most)
        yield from (
            unknown((*at, i, "when"), "parameter", name, most) for name in table(process, "when") if name not in most
        )
        yield from unfilled_words(processes, i, at, known)
    yield from too_many_copies(processes, most, at)


def unfilled_words(
    processes: Sequence[Mapping[str, Any]], i: int, at: KeyPath, known: Collection[str]
) -> Iterator[Found]:
    """Find the names in the texts of one process that nothing fills, beside those of the run."""
    own = filled_at_start(processes, processes[i])
    # Missing ports are told where they are to be declared.
    silent = {"port", "ports"} if processes[i].get("role") == SERVICE else set[str]()
    for key, words in words_of(processes[i]).items():
        for path, what, expected, fix in unfilled(words, (*at, i, key), {*known, *own}, silent):
            later = any(f"{{{name}}}" in what for name in names_of(_with_ports(processes)))
            yield path, what, expected, "name its service in `after`" if later else fix


def unfilled(words: Sequence[str], where: KeyPath, known: set[str], silent: Collection[str] = ()) -> Iterator[Found]:
    """Find lone braces and names that nothing fills in the words of a template."""
    for name, item in dict.fromkeys(places(words)):
        if name is None:
            yield where, f'a lone brace in "{item}"', "{name}", "write {{ or }} for a brace"
        elif name not in known and name not in silent:
            expected = "one of " + ", ".join(sorted(known))
            yield where, f'unknown name {{{name}}} in "{item}"', expected, meant(name, known) or "or {{ for a brace"
