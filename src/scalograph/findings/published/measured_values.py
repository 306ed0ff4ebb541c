"""The values that decide a claim of a paper, estimated from the runs of this study.

Two configurations are compared within blocks where they share some; values of one response, of whichever claim, share
their variances (`moderate_variances`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np

from scalograph.analysis.baseline import NEEDED_PAIRS, block_logs
from scalograph.analysis.contrast import Contrast, paired_contrast, welch_contrast
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.modes import widen_for_rounding
from scalograph.analysis.ratios import ratio
from scalograph.analysis.variance_moderation import moderate_variances
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import exact_count, is_count
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample
from scalograph.findings.study_verdict import count_disturbed
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.quantities import excess_memory

WantedLevels = Mapping[str, Level]
# Kinds whose values are of one configuration each; "machines" divides them by those of another machine later.
SINGLE = ("value", "machines")


@dataclass(frozen=True)
class MeasuredValue:
    """One value of a claim, as measured here.

    Attributes:
        estimate: from a confidence to the estimate; None if a part of it was not measured.
        lacks: whether this machine cannot measure it.
        doubt: why the estimate needs care.
        none: text in place of a number, if the question decided that there is none.
        unseen: whether these runs could not show it, whatever it is: `missing` says why.
        disturbed: runs of mostly disturbed configurations; they decide nothing.
        narrows: whether its interval narrows with the root of the number of runs.
        unplanned: whether no run of this form can measure it: `missing` says why.
    """

    label: str
    estimate: Callable[[float], Estimate] | None = None
    missing: str = ""
    lacks: bool = False
    doubt: str = ""
    none: str = ""
    group: WantedLevels = field(default_factory=dict)
    unseen: bool = False
    disturbed: tuple[Row, ...] = ()
    narrows: bool = True
    unplanned: bool = False


@dataclass(frozen=True)
class _Pair:
    label: str
    top: WantedLevels
    bottom: WantedLevels


ModerationContrasts = Mapping[str, Sequence[Contrast]]


def moderation_contrasts(table: Table, samples: SampleMap, claims: Iterable[PublishedClaim]) -> ModerationContrasts:
    """Collect the contrasts of all claims by response, each pair of configurations once."""
    contrasts_of: dict[str, dict[object, Contrast]] = {}
    for claim in claims:
        if claim.quantity or claim.stack or claim.kind in SINGLE:
            continue
        response = table.view.current_response(claim.response)
        for pair in claim_pairs(table, claim, claim_levels(table, claim)):
            item = _compare_pair(table, samples, response, pair)
            if isinstance(item, _PairedSamples) and item.contrast:
                contrasts_of.setdefault(response, {}).setdefault(item.configurations, item.contrast)
    return {response: [*contrasts.values()] for response, contrasts in contrasts_of.items()}


def measure_values(
    table: Table, samples: SampleMap, claim: PublishedClaim, lending: ModerationContrasts
) -> list[MeasuredValue]:
    """Estimate the values of a claim about responses."""
    levels, response = claim_levels(table, claim), table.view.current_response(claim.response)
    if claim.kind in SINGLE:
        return [_single_value(table, samples, claim, level) for level in levels]
    items = [_compare_pair(table, samples, response, pair) for pair in claim_pairs(table, claim, levels)]
    paired = [item for item in items if isinstance(item, _PairedSamples) and item.contrast]
    lent = moderate_variances([item.contrast for item in paired if item.contrast], lending.get(response, ()))
    moderated = {id(item): replace(item, contrast=contrast) for item, contrast in zip(paired, lent, strict=True)}
    return [item if isinstance(item, MeasuredValue) else moderated.get(id(item), item).value() for item in items]


def claim_levels(table: Table, claim: PublishedClaim) -> list[Level | None]:
    """Return the levels with one value each; [None] if the claim has a single value."""
    if claim.along is None:
        return [None]
    planned = dict.fromkeys(levels[claim.along] for levels in table.configurations if claim.along in levels)
    return list(claim.levels) or list(planned) or [None]


def claim_pairs(table: Table, claim: PublishedClaim, levels: Sequence[Level | None]) -> list[_Pair]:
    """Return numerator and denominator of each value, in the order of the levels."""
    if claim.kind == "ratio":
        return [_Pair(_label(table, claim, level), *_sides(claim, level)) for level in levels]
    steps = pairwise(levels) if claim.kind == "order" else [(levels[0], level) for level in levels[1:]]
    return [_Pair(_label(table, claim, now), _sides(claim, now)[0], _sides(claim, before)[1]) for before, now in steps]


def _sides(claim: PublishedClaim, level: Level | None) -> tuple[WantedLevels, WantedLevels]:
    """Select numerator and denominator; the level applies to a side that does not name its factor."""
    along = {} if claim.along is None or level is None else {claim.along: level}
    return {**along, **claim.where, **claim.of}, {**along, **claim.where, **claim.over}


def _label(table: Table, claim: PublishedClaim, level: Level | None) -> str:
    return table.view.short_levels({claim.along: level}) if claim.along and level is not None else ""


def _single_value(table: Table, samples: SampleMap, claim: PublishedClaim, level: Level | None) -> MeasuredValue:
    response, wanted = table.view.current_response(claim.response), _sides(claim, level)[0]
    sample, label = find_sample(table, samples, wanted), _label(table, claim, level)
    if sample is None or not sample.scores(response):
        return replace(why_missing(table, wanted, sample), label=label)
    scores = sample.scores(response)
    return MeasuredValue(
        label, partial(_center, scores, is_count=not table.study.responses[response].unit),
        doubt=_fallback_text(response, sample), group=sample.configuration,
        disturbed=mostly_disturbed(table, response, [sample]),
    )  # fmt: skip


def _center(scores: Sequence[float], confidence: float, is_count: bool) -> Estimate:
    """Know a count exactly if it is the same in every run; a time on a coarse clock is not."""
    exact = exact_count(scores, confidence) if is_count else None
    return exact or widen_for_rounding(summarize(scores, confidence), scores)


@dataclass(frozen=True)
class _PairedSamples:
    """Two samples with scores; `contrast` is None where a score has no log."""

    label: str
    response: str
    top: Sample
    bottom: Sample
    contrast: Contrast | None
    disturbed: tuple[Row, ...]

    @property
    def configurations(self) -> frozenset[tuple[Level, ...]]:
        """Return the unordered pair: a ratio and its inverse have the same spread."""
        return frozenset({self.top.key, self.bottom.key})

    def value(self) -> MeasuredValue:
        common = dict(self.top.configuration.items() & self.bottom.configuration.items())
        doubt = _fallback_text(self.response, self.top, self.bottom)
        return MeasuredValue(self.label, self._estimate, doubt=doubt, group=common, disturbed=self.disturbed)

    def _estimate(self, confidence: float) -> Estimate:
        scores = self.top.scores(self.response), self.bottom.scores(self.response)
        estimate = self.contrast.estimate(confidence) if self.contrast else ratio(*scores, confidence)
        return widen_for_rounding(estimate, *scores)


def _compare_pair(table: Table, samples: SampleMap, response: str, pair: _Pair) -> "_PairedSamples | MeasuredValue":
    top, bottom = (find_sample(table, samples, side) for side in (pair.top, pair.bottom))
    for wanted, sample in ((pair.top, top), (pair.bottom, bottom)):
        if sample is None or not sample.scores(response):
            return replace(why_missing(table, wanted, sample), label=pair.label)
    assert top and bottom
    disturbed = [row for side in (top, bottom) for row in mostly_disturbed(table, response, [side])]
    return _PairedSamples(pair.label, response, top, bottom, _contrast(table, response, top, bottom), tuple(disturbed))


def _contrast(table: Table, response: str, top: Sample, bottom: Sample) -> Contrast | None:
    """Pair within blocks if the samples share enough, else compare as independent runs."""
    scores = [sample.scores(response) for sample in (top, bottom)]
    if min(map(min, scores)) <= 0:
        return None
    if table.study.protocol.order == "blocks":
        blocks = [sample.blocks(response) for sample in (top, bottom)]
        first, second = (block_logs(0, s, {0: b}) for s, b in zip(scores, blocks, strict=True))
        shared = [block for block in first if block in second]
        if len(shared) >= NEEDED_PAIRS:
            top_logs, bottom_logs = (np.array([logs[block] for block in shared]) for logs in (first, second))
            return paired_contrast(top_logs, bottom_logs)
    return welch_contrast(np.log(scores[0]), np.log(scores[1]))


def mostly_disturbed(table: Table, response: str, samples: Iterable[Sample]) -> tuple[Row, ...]:
    """Return the runs behind a value if more than half of them were disturbed.

    None of a CPU time that the study goes by, nor of a count: disturbance changes neither.
    """
    if is_count(table.study.responses[response]):
        return ()
    every = [sample for sample in samples if response not in sample.cpu_responses]
    rows = [row for sample in every for row in sample.rows(response)]
    # What others took is in the values of corrected runs, but for the time itself.
    n = count_disturbed(rows) + sum(
        row.verdict == "corrected" for s in every if response in s.raw for row in s.rows(response)
    )
    return tuple(rows) if 2 * n > len(rows) else ()


def _fallback_text(response: str, *samples: Sample) -> str:
    rests = any(sample.rests_on_disturbed(response) for sample in samples)
    return "includes disturbed runs" if rests else ""


def find_sample(table: Table, samples: SampleMap, wanted: WantedLevels) -> Sample | None:
    """Find the first configuration, in declared order, that has the levels."""
    levels = {name: resolve_level(table, name, level) for name, level in wanted.items()}
    return next((s for s in samples.values() if levels.items() <= s.configuration.items()), None)


def resolve_level(table: Table, name: str, level: Level) -> Level:
    """Return the number of CPUs that `all` stands for; other levels as they are."""
    planned = [configuration[name] for configuration in table.configurations if name in configuration]
    return max((n for n in planned if type(n) is int), default=level) if level == "all" not in planned else level


def why_missing(table: Table, wanted: WantedLevels, sample: Sample | None) -> MeasuredValue:
    """Explain why there is no value for these levels."""
    wanted = {name: resolve_level(table, name, level) for name, level in wanted.items()}
    if sample is not None:
        became = "succeeded" if sample.n_failed else "counts"
        return MeasuredValue("", missing=f"no run of {table.view.short_levels(wanted)} {became}")
    for name, level in wanted.items():
        if any(configuration.get(name) == level for configuration in table.configurations):
            continue
        n_cpus = table.machine.get("n_cpus")
        counts = table.study.factors[name].control == "cpus" and type(level) is int and isinstance(n_cpus, int)
        if counts and isinstance(level, int) and isinstance(n_cpus, int) and level > n_cpus:
            return MeasuredValue("", missing=f"it needs {level} CPUs, this machine has {n_cpus}", lacks=True)
        if reason := excess_memory(table.study.factors[name].most_gib, table.machine.get("memory_bytes")):
            return MeasuredValue("", missing=reason, lacks=True)
        by_quick = name in table.study.quick.factors and level not in table.study.factors[name].levels
        if level in table.study.factors[name].if_granted and not by_quick:
            reason = f"this machine does not grant {table.view.short_levels({name: level})}"
            return MeasuredValue("", missing=reason, lacks=True)
        return MeasuredValue("", missing=_why_not_planned(table, by_quick, {name: level}), unplanned=True)
    is_quick = any(entry in table.study.exclude for entry in table.study.quick.exclude)
    return MeasuredValue("", missing=_why_not_planned(table, is_quick, wanted), unplanned=True)


def _why_not_planned(table: Table, by_quick: bool, levels: WantedLevels) -> str:
    if by_quick:
        return f"the quick form leaves out {table.view.short_levels(levels)}: run the full form"
    return f"{table.view.short_levels(levels)} was not planned"
