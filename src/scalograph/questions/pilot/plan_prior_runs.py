"""What an earlier journal of a study says of its runs: their iterations, and what they cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from scalograph.design.duration import key
from scalograph.design.replay import timed_runs
from scalograph.findings import table
from scalograph.protocol import journal
from scalograph.study.model import Study
from scalograph.study.responses import primary, windows
from scalograph.study.treatment import Treatment
from scalograph.verdict.cause import COUNTED


@dataclass(frozen=True, slots=True)
class PriorRun:
    """One run that an estimate may rest on.

    Attributes:
        treatment: its levels.
        observations: of the primary response, one for each counted iteration, or one for the run.
        seconds: what the run took, start and end included.
        iteration_s: a counted iteration on average, with its think time; 0 where the workload told of none.
    """

    treatment: Treatment
    observations: tuple[float, ...]
    seconds: float
    iteration_s: float = 0.0

    @property
    def start_s(self) -> float:
        """What the run took besides its counted iterations."""
        return max(0.0, self.seconds - len(self.observations) * self.iteration_s)


@dataclass(frozen=True)
class Earlier:
    """The journaled study, its runs that were not disturbed, and how many others there were."""

    study: Study
    runs: list[PriorRun]
    n_left_out: int = 0

    @cached_property
    def by_treatment(self) -> list[list[PriorRun]]:
        """The runs of each treatment."""
        groups: dict[object, list[PriorRun]] = {}
        for run in self.runs:
            groups.setdefault(key(run.treatment), []).append(run)
        return [*groups.values()]


def earlier(file: Path) -> Earlier:
    """Read a journal.

    Raises:
        ProtocolError: it does not follow protocol/journal.md.
    """
    read = table.load(file)
    response = primary(read.study)
    seconds = {run.run: taken for run, taken in timed_runs(journal.read(file))}
    lengths = dict(_lengths(journal.read(file), read.study))
    counted = (row for row in read.counted() if row.verdict in COUNTED and response in row.observations)
    runs = [PriorRun(row.treatment, row.observations[response], seconds[row.run], lengths[row.run]) for row in counted]
    return Earlier(read.study, runs, sum(not row.warmup for row in read.rows) - len(runs))


def _lengths(events: Iterator[dict[str, Any]], study: Study) -> Iterator[tuple[str, float]]:
    """The mean time of the counted iterations of each run, with the think time that each costs, in seconds."""
    protocol = study.protocol
    for event in events:
        if event["event"] == "run":
            walls = windows(event["record"]).wall_s[protocol.warmup :]
            yield event["run"], fmean(walls) + protocol.think_s if walls else 0.0
