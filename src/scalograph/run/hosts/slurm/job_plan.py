"""Decide which runs of a block share a job, so that few nodes stand idle, and count the node-hours."""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import NamedTuple

from scalograph.control.control import Level
from scalograph.design.ladder import MAX_IDLE, anchor_runs, cluster_factors, max_idle, reference_s, split_sizes
from scalograph.errors import StudyError
from scalograph.study.levels import Run
from scalograph.study.model import Study
from scalograph.text.quantities import count_noun, percent_at_most

Request = Mapping[str, Level]
Seconds = Callable[[Run], float]


class JobKind(NamedTuple):
    """What all runs of a job have in common."""

    partition: str
    constraint: str


@dataclass(frozen=True)
class PlannedJob:
    """Runs that are made one after the other in one allocation of `n_nodes` nodes, in this order."""

    kind: JobKind
    n_nodes: int
    runs: tuple[Run, ...]


@dataclass
class NodeHours:
    """Node-hours of jobs, and how much of them nodes are idle, in node-seconds or in any unit of `Seconds`."""

    n_jobs: int = 0
    total: float = 0.0
    idle: float = 0.0
    sizes: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def idle_share(self) -> float:
        """Return the idle share, 0 without jobs."""
        return self.idle / self.total if self.total else 0.0

    def add(self, job: PlannedJob, request: Callable[[Run], Request], seconds: Seconds, each_s: float = 0.0) -> None:
        """Add a job, which takes `each_s` beside its runs on all of its nodes."""
        self.n_jobs += 1
        self.sizes[job.n_nodes] += 1
        self.total += job.n_nodes * (each_s + sum(map(seconds, job.runs)))
        self.idle += sum((job.n_nodes - nodes_of(request(run))) * seconds(run) for run in job.runs)


def nodes_of(request: Request) -> int:
    """Return the nodes that a run asks for, one if it names none."""
    return int(request.get("nodes", 1))


def split_block(
    runs: Sequence[Run], request: Callable[[Run], Request], most_idle: float = MAX_IDLE,
    seconds: Seconds = lambda run: 1.0, anchored: Container[str] = (),
) -> list[PlannedJob]:  # fmt: skip
    """Return the jobs of one block: a single one where the idle share allows it, else one for each range of sizes.

    Runs keep their order within a job; `anchored` are those that belong to the next larger one, if there is one.
    `seconds` is what a run takes, as far as known; by default all take the same.
    """
    jobs = list[PlannedJob]()
    for kind, own in _group_by_kind(runs, request):
        sized = [run for run in own if run.run not in anchored] or own
        totals = {n: sum(map(seconds, group)) for n, group in _group_by_size(sized, request)}
        ranges = split_sizes(totals, most_idle)

        def job_of(run: Run, ranges: Sequence[set[int]] = ranges) -> int:
            size, is_anchor = nodes_of(request(run)), run.run in anchored
            fitting = (i for i, each in enumerate(ranges) if max(each) >= size and (not is_anchor or min(each) > size))
            return next(fitting, len(ranges) - 1)

        for i, sizes in enumerate(ranges):
            members = tuple(run for run in own if job_of(run) == i)
            jobs.append(PlannedJob(kind, max({*sizes, *(nodes_of(request(run)) for run in members)}), members))
    return jobs


def _group_by_kind(runs: Sequence[Run], request: Callable[[Run], Request]) -> Iterator[tuple[JobKind, list[Run]]]:
    def kind(run: Run) -> JobKind:
        asked = request(run)
        return JobKind(str(asked.get("partition", "")), str(asked.get("constraint", "")))

    for key in dict.fromkeys(map(kind, runs)):
        yield key, [run for run in runs if kind(run) == key]


def _group_by_size(runs: Sequence[Run], request: Callable[[Run], Request]) -> Iterator[tuple[int, Iterable[Run]]]:
    def size(run: Run) -> int:
        return nodes_of(request(run))

    yield from groupby(sorted(runs, key=size), size)


def describe(hours: NodeHours, is_timed: bool) -> str:
    """Return jobs, sizes and node-hours as a text; without times only the idle share, if all runs take the same.

    >>> describe(NodeHours(2, 7200.0, 720.0, {4: 2}), True)
    '2 jobs (2 of 4 nodes), 2 node-hours, 10% of them idle'
    """
    sizes = ", ".join(f"{n} of {count_noun(size, 'node')}" for size, n in sorted(hours.sizes.items()))
    idle = percent_at_most(hours.idle_share)
    jobs = f"{count_noun(hours.n_jobs, 'job')} ({sizes})"
    if is_timed:
        return f"{jobs}, {hours.total / 3600:.3g} node-hours, {idle} of them idle"
    return f"{jobs}, {idle} of the node-hours idle if all runs take the same time"


def blocks_of(runs: Iterable[Run]) -> dict[int, list[Run]]:
    """Return runs by their block, in order."""
    blocks = dict[int, list[Run]]()
    for run in runs:
        blocks.setdefault(run.block, []).append(run)
    return blocks


def count_hours(
    runs: Iterable[Run], request: Callable[[Run], Request], most_idle: float = MAX_IDLE, each_s: float = 0.0,
    seconds: Seconds = lambda run: 1.0, anchored: Callable[[Sequence[Run]], Container[str]] = lambda block: (),
) -> NodeHours:  # fmt: skip
    """Return the node-hours of all blocks; `each_s` is what a job takes beside its runs."""
    hours = NodeHours()
    for block in blocks_of(runs).values():
        for job in split_block(block, request, most_idle, seconds, anchored(block)):
            hours.add(job, request, seconds, each_s)
    return hours


def request_reader(study: Study) -> Callable[[Run], Request]:
    """Return what reads from a run what it asks of the cluster, by the names of `cluster:NAME`."""
    names = cluster_factors(study)
    return lambda run: {name: run.configuration[factor] for name, factor in names.items()}


def describe_study(study: Study, runs: Iterable[Run], seconds: Seconds | None = None) -> str:
    """Return the jobs and node-hours that the runs of a study take; `seconds` is what each takes, if that is known.

    Raises StudyError: they are more than the study allows.
    """
    request, is_timed, alone_s = request_reader(study), seconds is not None, reference_s(study)
    each = seconds or (lambda run: 1.0)
    hours = count_hours(runs, request, max_idle(study), alone_s * is_timed, each, partial(anchor_runs, study))
    # Without times it is known what the reference runs alone take.
    needed = hours.total if is_timed else alone_s * sum(size * n for size, n in hours.sizes.items())
    limit = study.protocol.max_node_hours
    if limit is not None and needed > 3600 * limit:
        least = "" if is_timed else " for their reference runs alone"
        problem = f"{limit:g}, but {count_noun(hours.n_jobs, 'job')} need {needed / 3600:.3g} node-hours{least}"
        fix = f"--max-node-hours {math.ceil(needed / 36) / 100:g}, fewer runs, or fewer nodes"
        raise StudyError.one("protocol.max_node_hours", problem, "a plan within the limit", fix)
    return describe(hours, is_timed)
