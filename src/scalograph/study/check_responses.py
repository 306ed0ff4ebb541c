"""Responses that read what no run reports, or read it in a wrong unit."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.check_processes import processes_of
from scalograph.study.cross_checks import Found, table, unknown
from scalograph.study.known_names import meant


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
