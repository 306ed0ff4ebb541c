"""Is one thread as fast on two CPUs as on one? The baseline compared across CPU counts."""

from collections.abc import Mapping, Sequence

from scalograph.analysis import Comparison, compare
from scalograph.answer.curves import Sample, docs, primary
from scalograph.answer.tables import title, varied
from scalograph.findings import Cell, Column, Level, TableDoc
from scalograph.table import Table

MARGIN = 0.01
_WORDS = {
    "faster": "faster on more CPUs",
    "slower": "slower on more CPUs",
    "equivalent": "equal within 1 %",
    "uncertain": "undecided",
}


def baseline_table(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> TableDoc | None:
    """The baseline's time on each CPU count over that on the fewest; None where only one count was run."""
    factor = next((name for name, f in table.study.factors.items() if f.control == "cpus"), None)
    if factor is None or not table.study.baseline or factor in table.study.baseline or factor not in varied(table):
        return None
    pairs = [pair for group in _groups(table, taken, factor) for pair in _pairs(group)]
    shown = [name for name in varied(table) if name != factor and name not in table.study.baseline]
    rows = [_row(table, factor, shown, one, other) for one, other in pairs]
    columns = [Column(name=title(table, name), kind="label") for name in shown]
    columns += [Column(name="CPUs", kind="label"), Column(name="compared with", kind="label")]
    columns += [Column(name="ratio of times", kind="estimate"), Column(name="so one worker is", kind="text")]
    ((name, level),) = table.study.baseline.items()
    heading = f"{title(table, name)} = {level} across CPU counts"
    note = "paired within blocks; a program of one worker should not care how many CPUs it may use"
    return TableDoc(id="baseline-across-cpus", title=heading, note=note, columns=columns, rows=rows)


def _groups(table: Table, taken: Mapping[tuple[Level, ...], Sample], factor: str) -> list[list[Sample]]:
    """Baseline samples that differ in the CPU count only, fewest CPUs first."""
    ((name, level),) = table.study.baseline.items()
    groups: dict[tuple[Level, ...], list[Sample]] = {}
    for sample in taken.values():
        if sample.treatment[name] == level:
            key = tuple(other for factor_, other in sample.treatment.items() if factor_ != factor)
            groups.setdefault(key, []).append(sample)
    return [sorted(group, key=lambda s: str(s.treatment[factor]).zfill(8)) for group in groups.values()]


def _pairs(group: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    return [(group[0], other) for other in group[1:]]


def compared(table: Table, one: Sample, other: Sample) -> Comparison:
    """`other` over `one` by the means of the blocks that hold both."""
    response = primary(table)
    a, b = _block_means(other, response), _block_means(one, response)
    shared = [block for block in a if block in b]
    paired = len(shared) >= 2
    confidence = table.study.protocol.confidence
    if paired:
        return compare(
            [a[k] for k in shared], [b[k] for k in shared], paired=True, margin=MARGIN, confidence=confidence
        )
    return compare(other.scores(response), one.scores(response), margin=MARGIN, confidence=confidence)


def _block_means(sample: Sample, response: str) -> dict[int, float]:
    blocks: dict[int, list[float]] = {}
    for block, score in zip(sample.blocks(response), sample.scores(response), strict=True):
        blocks.setdefault(block, []).append(score)
    return {block: sum(scores) / len(scores) for block, scores in blocks.items()}


def _row(table: Table, factor: str, shown: Sequence[str], one: Sample, other: Sample) -> list[Cell]:
    found = compared(table, one, other)
    cells: list[Cell] = [one.treatment[name] for name in shown]
    cells += [other.treatment[factor], one.treatment[factor]]
    return [*cells, docs(found.ratio).model_dump(), _WORDS[found.label]]
