"""Which worker did which subtask when, as a workload tells it in three lists (protocol/workload.md)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scalograph.protocol.record import Record

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
