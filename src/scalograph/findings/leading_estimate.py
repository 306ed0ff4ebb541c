"""The one value that a study comes down to: its largest speedup or ratio, else the value of its only configuration.

While a study runs, progress shows it from the runs so far; at the end, the verdict says what more time would do to it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.versus import versus
from scalograph.design.stopping_rule import pair_confidence, reference_key
from scalograph.findings.curves import estimate_response
from scalograph.findings.row import Key
from scalograph.findings.sample import Sample, group_samples
from scalograph.findings.speedup_rule import curve_speedups
from scalograph.findings.table import Table
from scalograph.questions.registry import SWEEP
from scalograph.text.cell_numbers import half_share

# Of more configurations nobody waits for one value, and it would no longer be cheap.
MOST_CONFIGURATIONS = 100


class LeadingEstimate(NamedTuple):
    """The value that a study comes down to.

    Attributes:
        estimate: the value, by the statistics of the answer.
        levels: of its configuration.
        over: levels of what a ratio is over; empty for a speedup, or a value of the response.
        is_ratio: whether it is a speedup or a ratio, rather than a value of the response.
        n_blocks: number of blocks that it rests on.
        falls_back: whether it includes disturbed runs because too few clean ones are left.
    """

    estimate: Estimate
    levels: str
    over: str
    is_ratio: bool
    n_blocks: int
    falls_back: bool = False

    @property
    def half_width(self) -> float | None:
        """Return half of the interval as a share of the value; None where it has no end, or is no number."""
        return half_share(self.estimate)


def leading_estimate(table: Table, samples: Mapping[Key, Sample]) -> LeadingEstimate | None:
    """Return the value that a sweep comes down to so far; None for other questions, or without a run that counts."""
    if table.study.question != SWEEP or len(samples) > MOST_CONFIGURATIONS:
        return None
    measured = [sample for sample in samples.values() if len(sample.values(table.view.primary))]
    if table.study.reference:
        return _largest(_reference_ratios(table, measured))
    if table.study.baseline and (speedups := [*_speedups(table, measured)]):
        return _largest(speedups, from_below=True)
    if len(samples) == 1:
        return next((_value(table, sample) for sample in measured), None)
    return _range(table, measured) if not table.study.baseline and len(measured) > 1 else None


def _largest(ratios: Iterable[LeadingEstimate], from_below: bool = False) -> LeadingEstimate | None:
    """Return the largest value, else the one farthest from 1."""
    size = (lambda ratio: ratio) if from_below else (lambda ratio: abs(math.log(ratio)))
    comparable = [ratio for ratio in ratios if ratio.estimate.value and ratio.estimate.value > 0]
    return max(comparable, key=lambda ratio: size(float(ratio.estimate)), default=None)


def _speedups(table: Table, measured: Sequence[Sample]) -> Iterator[LeadingEstimate]:
    factor, name = table.view.curve_factor, table.view.primary
    for members in group_samples(measured, factor).values():
        base = next((s for s in members if s.configuration[factor] == table.study.baseline[factor]), None)
        speedups = curve_speedups(table, factor, members) if base else {}
        for sample in members:
            if base and sample is not base and (point := speedups.get(sample.configuration[factor])):
                n = min(len({*sample.blocks(name)}), len({*base.blocks(name)}))
                is_weak = sample.falls_back or base.falls_back
                yield LeadingEstimate(point.speedup, _levels(table, sample), "", True, n, is_weak)


def _reference_ratios(table: Table, measured: Sequence[Sample]) -> Iterator[LeadingEstimate]:
    by_key = {sample.key: sample for sample in measured}
    for key, sample in by_key.items():
        base = by_key.get(reference_key(table.study, sample.configuration))
        if base is not None and base.key != key and (ratio := _ratio(table, sample, base)):
            yield ratio


def _range(table: Table, measured: Sequence[Sample]) -> LeadingEstimate | None:
    """Compare the configurations with the largest and the smallest value."""
    values = {sample.key: estimate_response(table, sample).value or 0.0 for sample in measured}
    low, *_, high = sorted(measured, key=lambda sample: values[sample.key])
    return _ratio(table, high, low) if values[low.key] > 0 else None


def _ratio(table: Table, sample: Sample, base: Sample) -> LeadingEstimate | None:
    own, other = (s.block_means(table.view.primary) for s in (sample, base))
    blocks = sorted(own.keys() & other.keys())
    if not blocks or min(min(means[block] for block in blocks) for means in (own, other)) <= 0:
        return None
    level = pair_confidence(table.study, blocks, table.view.confidence)
    is_shared = bool(table.view.raw_responses)
    ratio = versus([own[block] for block in blocks], [other[block] for block in blocks], level, is_shared=is_shared)
    open_log = sum(s.open_log(table.view.primary) for s in (sample, base))
    ratio = replace(ratio.widen(open_log), confidence=table.view.confidence)
    is_weak = sample.falls_back or base.falls_back
    return LeadingEstimate(ratio, _levels(table, sample), _levels(table, base), True, len(blocks), is_weak)


def _value(table: Table, sample: Sample) -> LeadingEstimate:
    estimate = estimate_response(table, sample)
    n_blocks = len({*sample.blocks(table.view.primary)})
    return LeadingEstimate(estimate, "", "", False, n_blocks, sample.falls_back)


def _levels(table: Table, sample: Sample) -> str:
    return table.view.short_levels(table.view.varying_levels(sample.configuration))
