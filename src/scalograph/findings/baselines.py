"""Is one thread as fast on two CPUs as on one? The baseline compared across CPU counts."""

from collections.abc import Mapping, Sequence
from functools import partial

from scalograph.analysis.comparisons import Comparison, compare
from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import curve_factor, title, varied
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import Gain, gain
from scalograph.findings.table import Table
from scalograph.findings.whole_run import UNLIKE
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level

MARGIN = 0.01
_WORDS = {
    "faster": "faster on more CPUs",
    "slower": "slower on more CPUs",
    "equivalent": "equal within 1 %",
    "uncertain": "undecided",
}


def baseline_table(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> TableDoc | None:
    """The baseline's score on each CPU count over that on the fewest; None where only one count was run."""
    factor = next((name for name, f in table.study.factors.items() if f.control == "cpus"), None)
    how = gain(table, curve_factor(table))
    if how is None or factor is None or factor in table.study.baseline or factor not in varied(table):
        return None
    pairs = [pair for group in _groups(table, taken, factor) for pair in _pairs(group)]
    shown = [name for name in varied(table) if name != factor and name not in table.study.baseline]
    rows = [_row(table, how, factor, shown, one, other) for one, other in pairs]
    columns = [Column(name=title(table, name), kind="label") for name in shown]
    columns += [Column(name="CPUs", kind="label"), Column(name="compared with", kind="label")]
    columns += [Column(name=f"ratio of {how.kind}s", kind="estimate"), Column(name="so the baseline is", kind="text")]
    ((name, level),) = table.study.baseline.items()
    heading = f"{title(table, name)} = {level} across CPU counts"
    note = f"{title(table, how.response)} on these CPUs over that on the fewest, paired within blocks"
    if level == 1:
        note += "; a program of one worker should not care how many CPUs it may use"
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


def compared(table: Table, how: Gain, one: Sample, other: Sample) -> Comparison:
    """`other` over `one` by the means of the blocks that hold both; undecided where only one is of whole runs."""
    if (how.response in one.whole) != (how.response in other.whole):
        refused = Estimate(None, None, None, table.study.protocol.confidence, 0, "", (UNLIKE,))
        return Comparison(refused, None, "uncertain", MARGIN, None)
    a, b = _block_means(other, how.response), _block_means(one, how.response)
    shared = [block for block in a if block in b]
    words = partial(
        compare,
        better="lower" if how.kind == "time" else "higher",
        margin=MARGIN,
        confidence=table.study.protocol.confidence,
    )
    if len(shared) >= 2:
        return words([a[k] for k in shared], [b[k] for k in shared], paired=True)
    return words(other.scores(how.response), one.scores(how.response))


def _block_means(sample: Sample, response: str) -> dict[int, float]:
    blocks: dict[int, list[float]] = {}
    for block, score in zip(sample.blocks(response), sample.scores(response), strict=True):
        blocks.setdefault(block, []).append(score)
    return {block: sum(scores) / len(scores) for block, scores in blocks.items()}


def _row(table: Table, how: Gain, factor: str, shown: Sequence[str], one: Sample, other: Sample) -> list[Cell]:
    found = compared(table, how, one, other)
    cells: list[Cell] = [one.treatment[name] for name in shown]
    cells += [other.treatment[factor], one.treatment[factor]]
    return [*cells, found.ratio, _WORDS[found.label]]
