"""How long the parts of a run took: services come up, the driver warms them up and loads them, and all are ended."""

from collections.abc import Iterator
from typing import NamedTuple

from scalograph.protocol.ended_services import ServicesEnded
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ProcessEvent

START, WARM_UP, END, STOP, WHOLE = "start until ready", "start, warm-up", "end", "stop", "whole run"
# Phases of a driver, in their order.
PHASES = ("ramp", "steady", "down")


class RunPart(NamedTuple):
    """One part of a run; `process` is empty of what is no single one's."""

    process: str
    what: str
    seconds: float


def run_parts(record: Record) -> list[RunPart]:
    """Return the parts of a run of services and a driver, in order of time; none of a run without services.

    Copies of a service come up one after the other, and are ended so: their seconds add up.
    """
    services = [one for one in record.processes if one.role == "service"]
    if not services or record.run.wall_ns is None:
        return []
    found = dict[tuple[str, str], float]()
    for process, what, seconds in _timed(record):
        found[process, what] = found.get((process, what), 0.0) + seconds
    begin_s = min((one.start_ns or 0 for one in record.processes), default=0) / 1e9
    stop_s = sum(one.stop_ns or 0 for one in services) / 1e9
    found["", WHOLE] = record.run.wall_ns / 1e9 - begin_s + stop_s
    return [RunPart(process, what, seconds) for (process, what), seconds in found.items()]


def _timed(record: Record) -> Iterator[RunPart]:
    by_role = {role: [one for one in record.processes if one.role == role] for role in ("service", "driver")}
    for one in by_role["service"]:
        if one.ready_ns is not None:
            yield RunPart(one.name, START, one.ready_ns / 1e9)
    for one in by_role["driver"]:
        yield from _of_driver(record, one.name, max(_ready_at(service) for service in by_role["service"]))
    for one in reversed(by_role["service"]):
        if one.stop_ns is not None:
            yield RunPart(one.name, STOP, one.stop_ns / 1e9)


def _ready_at(service: ProcessEvent) -> int:
    return (service.start_ns or 0) + (service.ready_ns or 0)


def _of_driver(record: Record, driver: str, from_ns: int) -> Iterator[RunPart]:
    """The phases of the first copy that tells, for copies have the same, and what is before and after them."""
    said = {phase.name: phase for copy in reversed(record.phases) for phase in copy.phases}
    phases = [said[name] for name in PHASES if name in said]
    if not phases:
        return
    yield RunPart(driver, WARM_UP, (phases[0].start_ns - from_ns) / 1e9)
    for phase in phases:
        yield RunPart(driver, phase.name, (phase.end_ns - phase.start_ns) / 1e9)
    yield RunPart(driver, END, ((record.run.wall_ns or 0) - phases[-1].end_ns) / 1e9)


def stop_parts(ended: ServicesEnded) -> list[RunPart]:
    """Return how long services that stayed up over runs took to end, copies of one together."""
    found = dict[str, float]()
    for one in reversed(ended.services):
        if one.stop_ns is not None:
            found[one.name] = found.get(one.name, 0.0) + one.stop_ns / 1e9
    return [RunPart(name, STOP, seconds) for name, seconds in found.items()]
