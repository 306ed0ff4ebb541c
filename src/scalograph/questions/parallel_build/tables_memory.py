"""How much memory each number of jobs needs, and which of them this machine has none for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from scalograph.findings.answer import Taken
from scalograph.findings.names import title, varied
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.model_groups import (
    Group,
    fixed_cells,
    groups,
)
from scalograph.text.quantities import gibibytes

LARGEST, PEAK = "run.max_rss", "value.tree_peak_bytes"
_NOTE = (
    "largest process: most resident memory of a single process (getrusage); the whole tree: most that the run's "
    "control group held at once, page cache included{granted}; at most: as many processes as {factor} says, each as "
    "large as the largest"
)


@dataclass(frozen=True)
class Memory:
    """What a group of treatments was seen to need, in bytes.

    Attributes:
        largest: single process, of any run.
        per_level: the same for each level, median of its runs.
        peaks: of the whole tree, for each level, median of its runs; empty where the kernel granted no such figure.
    """

    largest: float
    per_level: Mapping[Level, float]
    peaks: Mapping[Level, float]

    def bound(self, jobs: float) -> float:
        """What so many jobs take at most, if no process is larger than those that were seen."""
        return jobs * self.largest

    def need(self, jobs: float) -> float:
        """From the nearest measured peak of a tree on, one largest process for each further job; else the bound."""
        known = [(float(level), peak) for level, peak in self.peaks.items() if float(level) <= jobs]
        if not known:
            return self.bound(jobs)
        level, peak = max(known)
        return peak + (jobs - level) * self.largest


def memory(table: Table, group: Group) -> Memory | None:
    """None where the study does not ask for the largest process, or no run tells it."""
    largest = _scores(table, group, LARGEST)
    if not (most := max((x for scores in largest.values() for x in scores), default=0.0)):
        return None
    per_level, peaks = ({k: median(x) for k, x in found.items()} for found in (largest, _scores(table, group, PEAK)))
    return Memory(most, per_level, peaks)


def memory_table(table: Table, taken: Taken, factor: str) -> TableDoc | None:
    """A row for each treatment whose memory is known."""
    known = [(group, found) for group in groups(table, taken, factor) if (found := memory(table, group))]
    rows = [_row(table, group, factor, found, level) for group, found in known for level in found.per_level]
    if not rows:
        return None
    names = [title(table, name) for name in varied(table) if name != factor]
    columns = [Column(name=name, kind="label") for name in [*names, title(table, factor)]]
    columns += [Column(name=name, unit="bytes") for name in ("largest process", "the whole tree", "at most")]
    columns.append(Column(name=f"{title(table, factor)} that may fit"))
    granted = "" if any(found.peaks for _, found in known) else " (here no run has a group that counts its memory)"
    note = _NOTE.format(granted=granted, factor=title(table, factor))
    return TableDoc(id="memory", title="Memory that builds need", note=note, columns=columns, rows=rows)


def memory_warnings(table: Table, taken: Taken, factor: str) -> Iterator[str]:
    """Levels of which runs failed and which, by what the others needed, this machine has too little memory for."""
    size = table.machine.get("memory_bytes")
    for group in groups(table, taken, factor):
        found = memory(table, group)
        if found is None or not size:
            continue
        for jobs in _failed(taken, group, factor):
            if (need := found.need(jobs)) > size:
                where = "".join(f", {title(table, n)} {group.fixed[n]}" for n in varied(table) if n != factor)
                yield (
                    f"{title(table, factor)} {jobs:g}{where}: would need about {gibibytes(need)}, by the largest "
                    f"process of the other builds ({gibibytes(found.largest)}); this machine has {gibibytes(size)}, "
                    f"which may do for {title(table, factor)} {_fits(found, size)}"
                )


def _failed(taken: Taken, group: Group, factor: str) -> list[float]:
    """Levels of a group that have failed runs, also those without any other."""
    treatments = (s.treatment for s in taken.values() if s.n_failed)
    return [float(t[factor]) for t in treatments if all(t[name] == level for name, level in group.fixed.items())]


def _row(table: Table, group: Group, factor: str, found: Memory, level: Level) -> list[Cell]:
    size, jobs = table.machine.get("memory_bytes"), float(level)
    fits = _fits(found, size) if size else None
    figures = [found.per_level[level], found.peaks.get(level), found.bound(jobs), fits]
    return [*fixed_cells(table, group, factor), level, *figures]


def _fits(found: Memory, size: float) -> int:
    return int(size // found.largest)


def _scores(table: Table, group: Group, source: str) -> dict[Level, list[float]]:
    """By level, empty ones left out; disturbed runs need the same memory."""
    name = next((name for name, response in table.study.responses.items() if response.source == source), "")
    scores = {level: [row.scores[name] for row in s.every if name in row.scores] for level, s in group.samples.items()}
    return {level: found for level, found in scores.items() if found}
