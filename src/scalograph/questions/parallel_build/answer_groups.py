"""Treatments of a build that differ in one factor only."""

from collections.abc import Mapping
from dataclasses import dataclass

from scalograph.findings.names import varied
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Level

Taken = Mapping[tuple[Level, ...], Sample]


@dataclass(frozen=True)
class Group:
    """Treatments that differ in one factor only: the other levels, and the samples by level in declared order."""

    fixed: Mapping[str, Level]
    samples: Mapping[Level, Sample]


def groups(table: Table, taken: Taken, factor: str) -> list[Group]:
    """Every group along a factor, of levels that have runs."""
    found: dict[tuple[Level, ...], dict[Level, Sample]] = {}
    others = [name for name in table.study.factors if name != factor]
    for sample in taken.values():
        if sample.every:
            fixed = tuple(sample.treatment[name] for name in others)
            found.setdefault(fixed, {})[sample.treatment[factor]] = sample
    return [Group(dict(zip(others, fixed, strict=True)), samples) for fixed, samples in found.items()]


def fixed_cells(table: Table, group: Group, factor: str) -> list[Cell]:
    """The other factors that vary, as the first cells of a row."""
    return [group.fixed[name] for name in varied(table) if name != factor]


def disturbed(group: Group, response: str, *levels: Level) -> bool:
    """Whether what is said of these levels (none: of all) rests on disturbed runs, and they matter to the response."""
    samples = [group.samples[level] for level in levels or group.samples]
    return any(sample.falls_back and response not in sample.by_cpu for sample in samples)
