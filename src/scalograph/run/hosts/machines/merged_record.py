"""Join the records of one run on several machines: processes and copies in the order of the run's launches.

Times count from each machine's own gate; no clock of one is compared with another's.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from scalograph.protocol.record import MachinePart, Record, RunFigures
from scalograph.run.hosts.machines.shared_gate import MachineRun, record_of

# What the whole run used; other values of its `run` are those of the machine of its first driver.
_SUMS = (
    *("cpu_ns", "user_ns", "system_ns", "wait_ns", "neighbor_ns", "steal_ns", "machine_busy_ns", "observer_ns"),
    *("n_survivors", "n_lost_records", "n_tasks", "n_processes"),
)
# Lists by the CPUs of one machine, and what is read of the kernel of one: each part has its own.
_OF_ONE = ("per_cpu_ns", "neighbor_per_cpu_ns", "neighbors", "others", "replay", "outside_ns", "speed")
Part = TypeVar("Part", bound=Struct)


def merge(
    parts: Sequence[MachineRun], commands: Sequence[Sequence[int]], boots: Sequence[str | None],
    failed: MachineRun | None,
) -> Record:  # fmt: skip
    """Return the record of a run.

    Args:
        parts: of each machine; each has ended, or was never started.
        commands: for each part, the numbers of its commands among the launches of the run.
        boots: the boot of each machine, None where it is not known.
        failed: the part that ended the run early; None if none did.
    """
    records = [record_of(part) for part in parts]
    driving = next(i for i, part in enumerate(parts) if part.has_driver)
    numbers = _number_copies(records, commands)
    copies = [
        replace(copy, copy_index=number[copy.copy_index], command=own[copy.command])
        for record, own, number in zip(records, commands, numbers, strict=True)
        for copy in record.copies
    ]
    processes = [
        replace(process, command=own[process.command], busy_ns=_widen(process.busy_ns, record, records[driving]))
        for record, own in zip(records, commands, strict=True)
        for process in record.processes
    ]
    return replace(
        records[driving],
        copies=sorted(copies, key=attrgetter("copy_index")),
        processes=sorted(processes, key=attrgetter("command")),
        **{name: _renumber(records, numbers, name) for name in ("iterations", "values", "phases", "histograms")},
        machines=_list_machines(parts, commands, boots), boot_id=boots[driving],
        run=join_figures(records, driving, parts.index(failed) if failed else None),
    )  # fmt: skip


def _widen(busy_ns: list[int] | None, record: Record, driving: Record) -> list[int] | None:
    """Return the bins of a process in the width of the driver's timeline; None where they are wider, or unknown."""
    if busy_ns is None or record.timeline is None or driving.timeline is None:
        return None
    n, rest = divmod(driving.timeline.bin_ns, record.timeline.bin_ns)
    return [sum(busy_ns[i : i + n]) for i in range(0, len(busy_ns), n)] if n and not rest else None


def _list_machines(
    parts: Sequence[MachineRun], commands: Sequence[Sequence[int]], boots: Sequence[str | None]
) -> list[MachinePart]:
    return [
        MachinePart(
            commands=list(own), header=record.header, run=record.run, boot_id=boot,
            clock_offset_ns=part.clock_offset_ns, clock_error_ns=part.clock_error_ns, gate_lag_ns=part.gate_lag_ns,
        )
        for part, own, boot in zip(parts, commands, boots, strict=True)
        for record in (record_of(part),)
    ]  # fmt: skip


def _number_copies(records: Sequence[Record], commands: Sequence[Sequence[int]]) -> list[dict[int, int]]:
    """Return, for each machine, the numbers of its copies in the run: in order of their commands."""
    every = sorted(
        (own[copy.command], i, copy.copy_index)
        for i, (record, own) in enumerate(zip(records, commands, strict=True))
        for copy in record.copies
    )
    numbers: list[dict[int, int]] = [{} for _ in records]
    for number, (_, i, index) in enumerate(every):
        numbers[i][index] = number
    return numbers


def _renumber(records: Sequence[Record], numbers: Sequence[dict[int, int]], name: str) -> list[Any]:
    """Return the parts of that name of all records, by their copies' numbers in the run."""
    return [
        replace(part, copy_index=number[part.copy_index])
        for record, number in zip(records, numbers, strict=True)
        for part in getattr(record, name)
    ]


def join_figures(records: Sequence[Record], driving: int, failed: int | None = None) -> RunFigures:
    """Return the values of the whole run; one that is unknown of a machine is unknown."""
    runs = [record.run for record in records]
    wrong = [i for i in (driving, *range(len(runs))) if runs[i].status != "ok"]
    bad = runs[failed if failed is not None else wrong[0] if wrong else driving]
    values = {name: [getattr(run, name) for run in runs] for name in _SUMS}
    sums = {name: None if None in each else sum(each) for name, each in values.items()}
    nothing = dict.fromkeys(_OF_ONE)
    degraded = [entry for run in runs for entry in run.degraded]
    skew = [run.gate_skew_ns for run in runs if run.gate_skew_ns is not None]
    return replace(
        runs[driving], **sums, **nothing, gate_skew_ns=max(skew, default=None), degraded=degraded[:256],
        status=bad.status, reason=bad.reason,
    )  # fmt: skip
