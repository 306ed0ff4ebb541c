"""How a run was set up and measured: what must not vary between runs undeclared, and what was not granted."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from scalograph.protocol.record import Record

if TYPE_CHECKING:
    from scalograph.findings.row import Row


def degradations(record: Record) -> tuple[tuple[str, str, str], ...]:
    """Return what was not granted to the probe: what, why, and what would help; each once."""
    if not record.header.degraded and not record.run.degraded:
        return ()
    parts = {(d.what, d.why, d.fix) for d in (*record.header.degraded, *record.run.degraded)}
    return tuple(sorted(parts))


def set_up(record: Record) -> tuple[str, ...]:
    """Instrument, backend, containment, policies and nice values of a run: what must not vary undeclared."""
    forces = frozenset([(copy.in_force.policy, copy.in_force.nice) for copy in record.copies if copy.in_force])
    header = record.header
    return _set_up(header.kind, header.probe, header.backend, header.containment, forces)


@lru_cache
def _set_up(
    kind: str, probe: str, backend: str, containment: str, forces: Iterable[tuple[str, int]]
) -> tuple[str, ...]:
    policies = "+".join(sorted({policy for policy, _ in forces}))
    nices = "+".join(sorted({str(nice) for _, nice in forces}))
    return (f"{kind} {probe}", backend, containment, policies, nices)


def side_by_side(rows: "Sequence[Row]") -> "list[Row]":
    """Copy rows so that those of one treatment are next to each other; they are returned in the order of `rows`."""
    places = sorted(range(len(rows)), key=lambda place: id(rows[place].treatment))
    copies = [*rows]
    for place in places:
        copies[place] = _copied(rows[place])
    return copies


def _copied(row: "Row") -> "Row":
    """The row with numbers of its own: a product is another object."""
    return replace(row, scores={name: 1.0 * x if type(x) is float else x for name, x in row.scores.items()})


START, END, WORKER = "trace_start_ns", "trace_end_ns", "trace_worker"
MOST_SUBTASKS = 512


@dataclass(frozen=True, slots=True)
class Traced:
    """Subtasks of one shot, in the order in which they were told.

    Attributes:
        start_ns: when each began, ns since the shot did.
        end_ns: when it ended.
        worker: who did it, from 0.
    """

    start_ns: tuple[float, ...]
    end_ns: tuple[float, ...]
    worker: tuple[int, ...]

    @property
    def n_workers(self) -> int:
        return len(set(self.worker))


def traced(record: Record) -> Traced | None:
    """The trace of the first copy that tells a whole one; None where the lists disagree, or there is none."""
    telling = [part.values for part in record.values if START in part.values]
    if not telling:
        return None
    told = (tuple(values.get(name, []) for name in (START, END, WORKER)) for values in telling)
    found = next((lists for lists in told if _is_whole(*lists)), None)
    return Traced(tuple(found[0]), tuple(found[1]), tuple(int(n) for n in found[2])) if found else None


def _is_whole(start: Sequence[float], end: Sequence[float], worker: Sequence[float]) -> bool:
    if not 0 < len(start) == len(end) == len(worker) <= MOST_SUBTASKS:
        return False
    numbers = all(math.isfinite(n) for n in (*start, *end, *worker))
    return numbers and all(0 <= a <= b for a, b in zip(start, end, strict=True)) and all(map(_is_index, worker))


def _is_index(worker: float) -> bool:
    return worker >= 0 and worker == int(worker)
