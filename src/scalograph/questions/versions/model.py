"""Compare every configuration with the reference: the best sequential program, say, on one CPU.

A speedup over a program's own run with one worker flatters what pays for its parallelism there already. Source: F.
McSherry, M. Isard and D. G. Murray, Scalability! But at what COST?, HotOS 2015.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, geometric_mean
from typing import Literal, NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.simultaneous import paired_level
from scalograph.analysis.versus import RatioClass, classify_ratio, versus
from scalograph.design.stopping_rule import pair_confidence
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.findings.whole_run import UNLIKE
from scalograph.protocol.plain import Level
from scalograph.text.quantities import response_ratio

Word = Literal["faster", "slower", "equivalent", "inconclusive"]
_WORDS: dict[RatioClass, Word] = {
    "more": "faster", "less": "slower", "equivalent": "equivalent", "inconclusive": "inconclusive",
}  # fmt: skip


class Version(NamedTuple):
    """A configuration that is compared.

    Attributes:
        sample: its runs.
        gain: how many times as fast it is; intervals hold for all versions at once.
    """

    sample: Sample
    base: Sample
    gain: Estimate

    @property
    def word(self) -> Word:
        return _WORDS[classify_ratio(self.gain)]


def versions(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> list[Version]:
    """Compare all configurations with the reference; none where it did not run."""
    compared = [(s, base) for s in taken.values() if s.counted and (base := _base(table, taken, s)) and base.counted]
    others = [(s, base) for s, base in compared if s is not base]
    level = _level(table, others)
    return [Version(s, base, _gain(table, s, base, level)) for s, base in others]


def ratio(table: Table, version: Version) -> Estimate:
    """Divide its values, as they are measured, by those of the reference; all intervals hold together."""
    return replace(response_ratio(version.gain, table.view.response.better), confidence=table.view.confidence)


def _base(table: Table, taken: Mapping[tuple[Level, ...], Sample], sample: Sample) -> Sample | None:
    """Find the reference of a configuration: itself with the levels that the reference has."""
    wanted = {**sample.configuration, **table.study.reference}
    return taken.get(tuple(wanted.values())) if table.study.reference else None


def _level(table: Table, others: Sequence[tuple[Sample, Sample]]) -> float:
    """Return the confidence of each interval with which all hold together.

    As if the configurations had nothing in common, which is the safe side.
    """
    name = table.view.primary
    n_pairs = [len({*s.blocks(name)} & {*b.blocks(name)}) for s, b in others]
    return paired_level([n for n in n_pairs if n > 1], 0.0, table.view.confidence)


def _gain(table: Table, sample: Sample, base: Sample, confidence: float) -> Estimate:
    name = table.view.primary
    if (name in sample.whole) != (name in base.whole):
        return Estimate(confidence=confidence, warnings=(UNLIKE,))
    by_block = [s.scores_by_block(name).items() for s in (sample, base)]
    own, other = ({block: geometric_mean(x) if min(x) > 0 else fmean(x) for block, x in items} for items in by_block)
    blocks = sorted(own.keys() & other.keys())
    base_s, own_s = [other[block] for block in blocks], [own[block] for block in blocks]
    is_rate = table.view.response.better == "higher"
    over, under = (own_s, base_s) if is_rate else (base_s, own_s)
    level = pair_confidence(table.study, blocks, confidence)
    ratio = versus(over, under, level, is_shared=bool(table.view.raw_responses))
    return ratio.widen(sample.open_log(name) + base.open_log(name))
