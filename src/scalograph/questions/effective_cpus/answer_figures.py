"""What the runs at one level say beside their times: CPUs used, tasks at once, what the program believes it has."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from scalograph.analysis.estimate import Estimate
from scalograph.findings.run_records import records_of
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.record import Record
from scalograph.questions.effective_cpus.model_concurrency import Concurrency, concurrency
from scalograph.questions.effective_cpus.model_levels import cpus_used

# As `value`, and as a response of that name that is read from the output.
_BELIEVED = ("believed_cpus", "output_believed_cpus")


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured at one level; None, or no shares, where it was not.

    Attributes:
        used: CPU seconds over wall seconds, of the window where the study reads that.
        at_once: tasks on a CPU over the whole run.
        mask: CPUs that it may run on.
        believed: CPUs that the program says it has.
        n_tasks: tasks that were seen in the tree.
        waited: time that tasks were ready without a CPU over that and the CPU time.
    """

    used: Estimate | None
    at_once: Concurrency
    mask: int | None = None
    believed: int | None = None
    n_tasks: int | None = None
    waited: float | None = None


def figures(table: Table, sample: Sample) -> Figures:
    """The figures of the runs of a treatment that count."""
    records = [*records_of(table, sample.counted)]
    believed = [value for record in records for value in _believed(record)]
    tasks = [record.run.n_tasks for record in records if record.run.n_tasks]
    waited = [share for record in records if (share := _waited(record)) is not None]
    return Figures(
        used=cpus_used(table.study, sample),
        at_once=_mean([_at_once(record) for record in records]),
        mask=max((row.n_cpus for row in sample.counted), default=None),
        believed=round(median(believed)) if believed else None,
        n_tasks=round(median(tasks)) if tasks else None,
        waited=median(waited) if waited else None,
    )


def _at_once(record: Record) -> Concurrency:
    run, timeline = record.run, record.timeline
    if timeline is None:
        return concurrency(run.wall_ns, run.cpu_ns)
    return concurrency(run.wall_ns, run.cpu_ns, timeline.bin_ns, timeline.busy_ns)


def _mean(runs: Sequence[Concurrency]) -> Concurrency:
    """Over the runs that have shares."""
    told = [run for run in runs if run.shares]
    if not told:
        return Concurrency(None)
    width = max(len(run.shares) for run in told)
    shares = [fmean(run.shares[n] if n < len(run.shares) else 0.0 for run in told) for n in range(width)]
    return Concurrency(None, tuple(shares), fmean(run.exact for run in told))


def _believed(record: Record) -> Iterator[float]:
    for part in record.values:
        for name in _BELIEVED:
            yield from part.values.get(name, ())


def _waited(record: Record) -> float | None:
    run = record.run
    if run.wait_ns is None or not run.cpu_ns:
        return None
    return run.wait_ns / (run.wait_ns + run.cpu_ns)
