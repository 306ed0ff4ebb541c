"""Every treatment beside the one program that it has to beat: the best sequential one, say, on one CPU.

A speedup over a program's own run with one worker flatters what pays for its parallelism there already. Source: F.
McSherry, M. Isard and D. G. Murray, Scalability! But at what COST?, HotOS 2015.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, geometric_mean

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import paired_ratio
from scalograph.analysis.simultaneous import paired_level
from scalograph.findings.curves import curve_factor
from scalograph.findings.names import (
    setting,
    title,
    varied,
    varying,
)
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.findings.whole_run import UNLIKE
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level

# Treatments that the sentence names.
NAMED = 4
Compared = tuple[Sample, Estimate]


def reference(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> tuple[list[TableDoc], list[str]]:
    """The table and the sentence; nothing where the study names no reference, or it did not run."""
    compared = [(s, base) for s in taken.values() if s.counted and (base := _base(table, taken, s)) and base.counted]
    others = [(s, base) for s, base in compared if s is not base]
    if not others:
        return [], []
    level = _level(table, others)
    found = [(s, _gain(table, s, base, level)) for s, base in others]
    return [_table(table, found)], [_sentence(table, found)]


def _base(table: Table, taken: Mapping[tuple[Level, ...], Sample], sample: Sample) -> Sample | None:
    """The reference of a treatment: itself with the levels that the reference has."""
    wanted = {**sample.treatment, **table.study.reference}
    return taken.get(tuple(wanted.values())) if table.study.reference else None


def _level(table: Table, others: Sequence[tuple[Sample, Sample]]) -> float:
    """Confidence of each interval with which all hold together: the fastest is chosen among all.

    As if the treatments had nothing in common, which is the safe side.
    """
    n_pairs = [len(_by_block(s, primary(table)).keys() & _by_block(b, primary(table)).keys()) for s, b in others]
    return paired_level([n for n in n_pairs if n > 1], 0.0, table.study.protocol.confidence)


def _gain(table: Table, sample: Sample, base: Sample, confidence: float) -> Estimate:
    """How many times as fast, from the blocks that hold both."""
    name = primary(table)
    if (name in sample.whole) != (name in base.whole):
        return Estimate(confidence=confidence, warnings=(UNLIKE,))
    own, other = (_by_block(s, name) for s in (sample, base))
    blocks = sorted(own.keys() & other.keys())
    base_s, own_s = [other[block] for block in blocks], [own[block] for block in blocks]
    is_rate = table.study.responses[name].better == "higher"
    over, under = (own_s, base_s) if is_rate else (base_s, own_s)
    return paired_ratio(over, under, confidence)


def _by_block(sample: Sample, name: str) -> dict[int, float]:
    """The typical score of each block: a baseline runs more than once in it."""
    found: dict[int, list[float]] = {}
    for row in sample.rows(name):
        found.setdefault(row.block, []).append(row.scores[name])
    return {block: geometric_mean(scores) if min(scores) > 0 else fmean(scores) for block, scores in found.items()}


def _table(table: Table, found: Sequence[Compared]) -> TableDoc:
    factor, shown = curve_factor(table), varied(table)
    counts = table.study.factors[factor].control is None and all(type(s.treatment[factor]) is int for s, _ in found)
    columns = [Column(name=title(table, n), unit=table.study.factors[n].unit, kind="label") for n in shown]
    columns += [Column(name=f"{title(table, factor)} per CPU")] if counts else []
    columns += [Column(name="times as fast", kind="estimate"), Column(name="so it is", kind="text")]
    rows: list[list[Cell]] = []
    for sample, gain in found:
        per_cpu = [int(sample.treatment[factor]) / sample.every[0].n_cpus] if counts else []
        rows.append([*(sample.treatment[n] for n in shown), *per_cpu, gain, _word(gain)])
    note = "paired within blocks; intervals hold for all treatments at once; the reference itself is left out"
    return TableDoc(id="reference", title=f"Over {_named(table)}", note=note, columns=columns, rows=rows)


def _named(table: Table) -> str:
    return setting(table, table.study.reference)


def _word(gain: Estimate) -> str:
    if gain.low is None or gain.high is None:
        return "undecided"
    return "faster" if gain.low > 1 else "slower" if gain.high < 1 else "undecided"


def _sentence(table: Table, found: Sequence[Compared]) -> str:
    """Who beats it, and by how much at best."""
    by = {word: [(s, g) for s, g in found if _word(g) == word] for word in ("faster", "slower", "undecided")}
    counts = ", ".join(f"{len(by[word])} {word}" for word in by if by[word])
    head = f"Over {_named(table)}, of {len(found)} treatments: {counts}"
    if not by["faster"]:
        return f"{head}; none is faster for sure."
    sample, gain = max(by["faster"], key=lambda both: both[1].value or 0.0)
    fastest = setting(table, varying(table, sample.treatment))
    times = f"{gain.value:.3g} [{gain.low:.3g}, {gain.high:.3g}] times as fast"
    return f"{head}; the fastest, {fastest}, is {times}."
