"""Treatments of a build that differ in one factor only, and how they compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import geometric_mean

from scalograph.analysis.contenders import Contender, contenders
from scalograph.findings.answer import Taken
from scalograph.findings.names import varied
from scalograph.findings.sample import Sample, grouped
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.model_equivalence import Equivalence, equivalence

# Responses that are user time, or nearly: the first is the best.
USER = ("run.user", "window.cpu", "run.cpu")


@dataclass(frozen=True)
class Group:
    """Treatments that differ in one factor only: the other levels, and the samples by level in declared order."""

    fixed: Mapping[str, Level]
    samples: Mapping[Level, Sample]


def groups(table: Table, taken: Taken, factor: str) -> list[Group]:
    """Every group along a factor, of levels that have runs."""
    made = grouped((sample for sample in taken.values() if sample.every), factor)
    return [Group(dict(fixed), {s.treatment[factor]: s for s in members}) for fixed, members in made.items()]


def fixed_cells(table: Table, group: Group, factor: str) -> list[Cell]:
    """The other factors that vary, as the first cells of a row."""
    return [group.fixed[name] for name in varied(table) if name != factor]


def disturbed(group: Group, response: str, *levels: Level) -> bool:
    """Whether what is said of these levels (none: of all) rests on disturbed runs, and they matter to the response."""
    samples = [group.samples[level] for level in levels or group.samples]
    return any(sample.falls_back and response not in sample.by_cpu for sample in samples)


def best(table: Table, group: Group, n_groups: int) -> list[Contender]:
    """Each level against the best of the others, on the primary response; the intervals of all groups hold at once."""
    counts = {float(level): sample for level, sample in group.samples.items() if _number(level)}
    scores = {level: _by_block(sample, primary(table)) for level, sample in counts.items()}
    return contenders(scores, 1 - (1 - table.study.protocol.confidence) / n_groups)


def _by_block(sample: Sample, response: str) -> dict[int, float]:
    """The typical score of each block; a run that was made again may stand in the block of another."""
    found: dict[int, list[float]] = {}
    for block, score in zip(sample.blocks(response), sample.scores(response), strict=True):
        found.setdefault(block, []).append(score)
    return {block: geometric_mean(scores) if min(scores) > 0 else 0.0 for block, scores in found.items()}


def inflation(table: Table, group: Group) -> dict[Level, Equivalence]:
    """User time of each further level over that of the first: what contention adds to the same work."""
    return against_first(table, group, user_time(table))


def against_first(table: Table, group: Group, response: str) -> dict[Level, Equivalence]:
    """Each further level against the first."""
    (first, *others) = group.samples
    base = group.samples[first].scores(response)
    pairs = {level: group.samples[level].scores(response) for level in others}
    confidence = table.study.protocol.confidence
    return {level: equivalence(s, base, confidence=confidence) for level, s in pairs.items() if s and base}


def user_time(table: Table) -> str:
    """The response that is nearest to user time; the primary one where none is."""
    sources = {response.source: name for name, response in table.study.responses.items()}
    return next((sources[source] for source in USER if source in sources), primary(table))


def _number(level: Level) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)
