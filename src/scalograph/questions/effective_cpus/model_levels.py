"""The levels of a search, or a sweep, that were measured, and their times over that of the lowest."""

from collections.abc import Mapping

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.findings.answer import Taken
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level


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
