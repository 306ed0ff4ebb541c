"""The levels of a search, or a sweep, that were measured: CPUs in use, and times over that of the lowest."""

from collections.abc import Mapping

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.findings.answer import Taken
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.model import Study


def levels_of(taken: Taken, group: Mapping[str, Level], factor: str) -> dict[int, Sample]:
    """The samples of a group by level, as far as they were measured."""
    found = [s for s in taken.values() if s.every and s.treatment.items() >= group.items()]
    return {int(sample.treatment[factor]): sample for sample in found}


def over_first(table: Table, members: Mapping[int, Sample], level: int) -> Estimate:
    """Time at a level over that at the lowest; of a rate, the other way round."""
    name, confidence, first = primary(table), table.study.protocol.confidence, min(members)
    ours, theirs = members[level].scores(name), members[first].scores(name)
    if level == first:
        return Estimate(1.0, 1.0, 1.0, confidence, len(ours), "1 by definition")
    if table.study.responses[name].better == "higher":
        ours, theirs = theirs, ours
    return ratio(ours, theirs, confidence)


def cpus_used(study: Study, sample: Sample) -> Estimate | None:
    """CPU seconds over wall seconds, of the window where the study reads that; None where not measured."""
    name = next((name for name, r in study.responses.items() if r.source == "run.cpu_percent"), None)
    scores = [x / 100 for x in sample.scores(name)] if name else []
    if not scores:
        scores = [row.cpu_s / row.wall_s for row in sample.counted if row.wall_s and row.cpu_s is not None]
    return summarize(scores, study.protocol.confidence) if scores else None
