"""Is a result faster than the one before it, slower, equivalent, or inconclusive?

Faster and slower need an interval that excludes 1 beside those of all other configurations, and that does not lie
within the margin. Equivalent needs every interval within the margin. A study of which more than half of the runs were
disturbed has no answer, nor have values without intervals.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from scalograph.analysis import versus
from scalograph.analysis.contrast import Contrast
from scalograph.analysis.curve_ratios import BlockedLogs, CurveRatios, curve_ratios
from scalograph.analysis.estimate import MOST_LOG, NO_LAW, Estimate
from scalograph.analysis.modes import IDENTICAL_RUNS, common_step, rounding, widen_by_step
from scalograph.exchange.compare.matched_configurations import (
    MatchedConfigurations,
    MatchedPair,
    configuration_names,
    match_sources,
)
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceConfiguration
from scalograph.protocol.compared_results import (
    ComparisonAnswer,
    ConfigurationRatio,
    LawChange,
    LostConfiguration,
    OpenCase,
    ResultComparison,
    ResultComparisons,
    ShownAs,
)
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level, is_number
from scalograph.study.scalars import unknown_name_error
from scalograph.text.quantities import count_noun, exact_percent, inverse, percent_at_most
from scalograph.text.scale import SECONDS

COEFFICIENTS = ("sigma", "kappa", "gamma")


def law_changes(reference: MeasuredSource, other: MeasuredSource, names: Mapping[str, object]) -> list[LawChange]:
    """Return the coefficients whose intervals do not overlap.

    Two 95% intervals that do not overlap differ by chance in less than 1% of cases, so three need no correction.
    Curves are matched by the factors in `names` alone.
    """
    theirs = {_key(curve, names): curve for curve in other.curves}
    return [
        change
        for curve in reference.curves
        if (beside := theirs.get(_key(curve, names)))
        for change in _changes(curve, beside)
    ]


def _key(curve: Curve, names: Mapping[str, object]) -> tuple[str, tuple[tuple[str, Level], ...]]:
    return curve.factor, tuple((name, level) for name, level in sorted(curve.group.items()) if name in names)


def _changes(before_curve: Curve, after_curve: Curve) -> Iterator[LawChange]:
    if (
        before_curve.law is None
        or after_curve.law is None
        or any(f.code in NO_LAW for law in (before_curve.law, after_curve.law) for f in law.flags)
    ):
        return
    for name in COEFFICIENTS:
        before, after = getattr(before_curve.law, name), getattr(after_curve.law, name)
        ends = before.low, before.high, after.low, after.high
        if None not in ends and (before.high < after.low or after.high < before.low):
            yield LawChange(coefficient=name, group=before_curve.group, reference=before, other=after)


UNSHOWN: Literal["inconclusive"] = "inconclusive"
# What a ratio of costs shows of the other result.
_SHOWN: dict[versus.RatioClass, ShownAs] = {
    "more": "slower", "less": "faster", "equivalent": "equivalent", "inconclusive": UNSHOWN,
}  # fmt: skip
_ROUNDING = 1e-9
MOST_NAMED = 4  # of what failed or is missing
MOST_CAUSES = 5  # of each result
# A program needs more CPU time beside others, and they differ between two times: unpaired results of one build differed
# by 2% and 5% in two of sixteen gates (benchmarks/gate_peers.py).
SHARED = 0.03
FEWEST_LEVELS = 4  # of a curve that has an upper half
_WORST: tuple[ComparisonAnswer, ...] = ("slower", "inconclusive", "equivalent", "faster")
_NO_FLOOR = (
    "Results of different times differ even if nothing changed, by how much is unknown here: keep a noise floor"
    " (scalograph doctor --noise), or run in pairs (scalograph ab)."
)
_WITHIN_FLOOR = "Results of different times differ by up to {} on this machine: run in pairs (scalograph ab)."


def compare_sources(
    reference: MeasuredSource, others: Sequence[MeasuredSource], margin: float | None = None, confidence: float = 0.95,
    floor: float = 0.0, allow_missing: Collection[str] = (), needs_files: bool = False,
) -> ResultComparisons:  # fmt: skip
    """Compare results with the first one, the `reference`, at simultaneous intervals.

    `margin` is the largest difference to ignore, as a share, None for 2%: noise never widens it. `floor` is the noise
    floor of the common machine, as a share, 0 where unknown; `allow_missing` names configurations that another result
    may lack. With `needs_files` a file of another result that cannot be read is one of these.

    Raises StudyError: two have nothing in common, or the first has no configuration of such a name.
    """
    unread = [file for other in others for file in other.unread] if needs_files else []
    names = [*configuration_names(reference, reference.every_levels()), *unread]
    if unknown := next((name for name in allow_missing if name not in names), None):
        raise unknown_name_error("--allow-missing", f'{reference.label} has no "{unknown}"', unknown, names)
    each = 1 - (1 - confidence) / len(others)
    comparisons = [
        _compare_result(reference, other, margin, each, floor, allow_missing, needs_files) for other in others
    ]
    worst = min((comparison.answer for comparison in comparisons), key=_WORST.index)
    return ResultComparisons(answer=worst, results=comparisons)


def _compare_result(
    reference: MeasuredSource, other: MeasuredSource, margin: float | None, confidence: float, floor: float,
    allow_missing: Collection[str], needs_files: bool,
) -> ResultComparison:  # fmt: skip
    pairs = match_sources(reference, other)
    pairs, is_one_value = _bound_by_resolution(pairs, reference.response.unit)
    files = [LostConfiguration(name=file, levels={}, why="unread") for file in other.unread * needs_files]
    lost = [row.model_copy(update={"allowed": row.name in allow_missing}) for row in (*pairs.lost, *files)]
    ranks = _ranks(reference, pairs)
    ratios = _ratios(reference, pairs, confidence, ranks)
    is_rate = reference.response.better == "higher"
    least = versus.SAME if margin is None else margin
    apart = math.log1p(max(SHARED, floor)) if reference.is_shared or other.is_shared else 0.0
    estimates = zip(pairs.pairs, _pair_ratios(pairs, ratios, confidence, apart), strict=True)
    configurations = [ratio_of_configuration(pair, estimate, least, is_rate) for pair, estimate in estimates]
    open_log = apart + max((before.open_log + after.open_log for _, before, after in pairs.pairs), default=0.0)
    shift = _estimate(ratios.shift, ratios, confidence).widen(open_log) if ratios and len(configurations) > 1 else None
    upper = _estimate(ratios.upper, ratios, confidence).widen(open_log) if ratios and ratios.upper else None
    words = [row.shown for row in configurations if not row.doubt]
    words += [classify_ratio(mean, least, is_rate) for mean in (shift, upper) if mean]
    refused = [f"{s.label}: {s.refused}" for s in (reference, other) if s.refused]
    if any(s.is_printed and not all(row.spread for row in s.configurations) for s in (reference, other)):
        refused.append("published values have no intervals")
    refused += [IDENTICAL_RUNS] if is_one_value else []
    fields = answer_fields(refused, configurations, words, least, lost_text(lost, other.label))
    is_one_machine, is_different = reference.machine and other.machine, fields["answer"] in ("slower", "faster")
    flags = _time_flags(configurations, margin, floor) if is_one_machine and is_different else []
    return ResultComparison(
        reference=reference.label, other=other.label, title=reference.title, response=reference.response.name,
        response_title=reference.response.title, unit=reference.response.unit,
        better="higher" if is_rate else "lower", along=reference.along,
        titles={name: factor.title or name for name, factor in reference.factors.items()},
        units={name: factor.unit for name, factor in reference.factors.items()},
        margin=least, **fields, differences=pairs.differences, unmatched=pairs.unmatched, lost=lost, added=pairs.added,
        unrecorded=[s.label for s in (reference, other) if not (s.machine or s.has_settings)],
        configurations=configurations, shift=shift, upper=upper,
        varied=[name for name in reference.varied if name in other.varied],
        upper_from=next(iter(ranks)) if upper else None, alike=_shape_distance(ratios, shift),
        doubts=[*_doubts((reference, other)), *flags],
        laws=[] if refused or not pairs.pairs else law_changes(reference, other, pairs.pairs[0][0]),
        laws_left_out=not refused and (reference.laws_left_out or other.laws_left_out),
        causes=[f"{s.label}: {text}" for s in (reference, other) if s.trust for text in s.trust.causes[:MOST_CAUSES]],
    )  # fmt: skip


def _bound_by_resolution(pairs: MatchedConfigurations, unit: str) -> tuple[MatchedConfigurations, bool]:
    """Keep times and rates that do not vary open by the resolution of all; tell whether all have one value."""
    deciding = [side for _, *sides in pairs.pairs if _decides(*sides) for side in sides]
    if not deciding or not has_resolution(unit):
        return pairs, False
    step = common_step(*(side.scores for side in deciding))
    bounded = [(levels, keep_open(before, step), keep_open(after, step)) for levels, before, after in pairs.pairs]
    return pairs._replace(pairs=bounded), step is None and any(len(side.scores) > 1 for side in deciding)


def has_resolution(unit: str) -> bool:
    """Return whether values of this unit vary from run to run unless a clock or their digits hide it."""
    return unit in SECONDS or unit.endswith("/s")


def keep_open(side: SourceConfiguration, step: float | None) -> SourceConfiguration:
    """Return a configuration whose ratio stays open by as much as rounding to a step hides."""
    hidden = min(rounding(side.scores, step), MOST_LOG) if len(side.scores) > 1 and have_logs(side.scores) else 0.0
    estimate = widen_by_step(side.estimate, step, side.scores) if side.estimate else None
    return side._replace(open_log=side.open_log + hidden, estimate=estimate) if hidden else side


def _time_flags(configurations: Sequence[ConfigurationRatio], margin: float | None, floor: float) -> list[str]:
    """Warn where results of different times differ by no more than the machine's noise floor, or by one unknown."""
    if not floor:
        return [] if margin is not None else [_NO_FLOOR]
    farthest = max(
        (max(row.ratio.value, 1 / row.ratio.value) - 1 for row in configurations if row.ratio.value), default=0
    )
    return [_WITHIN_FLOOR.format(percent_at_most(floor))] if farthest <= floor else []


def lost_text(lost: Sequence[LostConfiguration], label: str) -> str:
    """List what failed or is missing in a result and was not allowed to; empty where nothing is."""
    unexpected = [row for row in lost if not row.allowed]
    parts = [f"{row.name} failed in {row.n_failed:,} of {count_noun(row.n_runs, 'run')}" if row.n_runs
             else f"{row.name} {'cannot be read' if row.why == 'unread' else 'is missing'}"
             for row in unexpected[:MOST_NAMED]]  # fmt: skip
    parts += [f"and {len(unexpected) - MOST_NAMED} more"] if len(unexpected) > MOST_NAMED else []
    return f"in {label}, {', '.join(parts)}" if unexpected else ""


def _doubts(sources: Sequence[MeasuredSource]) -> list[str]:
    """List the caveats of the sources; shared ones once."""
    by_sentence: dict[str, list[str]] = {}
    for source in sources:
        if source.trust and source.trust.level == "caution":
            by_sentence.setdefault(source.trust.sentence, []).append(source.label)
    spreads = {exact_percent(row.spread): None for source in sources for row in source.configurations if row.spread}
    given = [f"Intervals of single runs rest on the spread as given, {', '.join(spreads)}."] if spreads else []
    return [*given, *(f"Of {' and '.join(labels)}: {sentence}" for sentence, labels in by_sentence.items())]


def _ratios(
    reference: MeasuredSource, pairs: MatchedConfigurations, confidence: float, ranks: Mapping[Level, int]
) -> CurveRatios | None:
    """Return the ratios of the configurations that decide; None where there are none."""
    kept = [pair for pair in pairs.pairs if _decides(*pair[1:])]
    if not kept:
        return None
    upper = [ranks.get(levels[reference.along], 0) for levels, *_ in kept] if ranks else []
    before, after = [logs_of(pair[1]) for pair in kept], [logs_of(pair[2]) for pair in kept]
    return curve_ratios(before, after, confidence, upper)


def _ranks(reference: MeasuredSource, pairs: MatchedConfigurations) -> dict[Level, int]:
    """Rank the upper half of a curve's levels; empty for few levels or non-numeric ones."""
    levels = {levels.get(reference.along, "") for levels, *_ in pairs.pairs}
    numbers = sorted(level for level in levels if is_number(level))
    upper = numbers[len(numbers) // 2 :] if len(numbers) == len(levels) >= FEWEST_LEVELS else []
    return {level: rank for rank, level in enumerate(upper, 1)}


def _decides(before: SourceConfiguration, after: SourceConfiguration) -> bool:
    return not (before.doubt or after.doubt) and have_logs((*before.scores, *after.scores))


def have_logs(scores: Sequence[float]) -> bool:
    """Return whether all scores are positive and within the measurable range."""
    return all(score > 0 and abs(math.log(score)) <= MOST_LOG for score in scores)


def logs_of(configuration: SourceConfiguration) -> BlockedLogs:
    """Return the logs of a configuration's scores, with their blocks."""
    logs = np.log(np.asarray(configuration.scores, dtype=np.float64))
    return BlockedLogs(logs, configuration.blocks, configuration.spread)


def _estimate(contrast: Contrast, ratios: CurveRatios, confidence: float) -> Estimate:
    """Return a ratio whose interval holds together with all others."""
    return replace(contrast.estimate(ratios.single), confidence=confidence)


def _pair_ratios(
    pairs: MatchedConfigurations, ratios: CurveRatios | None, confidence: float, apart: float
) -> list[Estimate]:
    """Return the ratio of each pair; without an interval for pairs that do not decide.

    `apart`: what their times may add to it, as a log.
    """
    deciding = iter(ratios.configurations if ratios else ())
    estimates = []
    for _, before, after in pairs.pairs:
        if ratios and _decides(before, after):
            estimates.append(
                _estimate(next(deciding), ratios, confidence).widen(apart + before.open_log + after.open_log)
            )
            continue
        is_defined = have_logs((*before.scores, *after.scores))
        value = float(np.exp(np.log(after.scores).mean() - np.log(before.scores).mean())) if is_defined else None
        n = len(before.scores) + len(after.scores)
        estimates.append(Estimate(value, n=n, method="ratio of typical runs"))
    return estimates


def ratio_of_configuration(pair: MatchedPair, ratio: Estimate, least: float, is_rate: bool) -> ConfigurationRatio:
    """Return values, ratio and outcome of one configuration in both results.

    The ratio is the second over the first; `least` is the smallest difference that counts, as a share.
    """
    levels, before, after = pair
    figures = [side.estimate or Estimate(side.scores[0], n=1) for side in (before, after)]
    return ConfigurationRatio(
        levels=dict(levels), reference=figures[0], other=figures[1], ratio=ratio,
        shown=classify_ratio(ratio, least, is_rate), doubt=before.doubt or after.doubt,
    )  # fmt: skip


def classify_ratio(ratio: Estimate, least: float, is_rate: bool = False) -> ShownAs:
    """Return what an interval shows, given the smallest difference that counts.

    The ratio is over the reference; `least` is a share: 0.02 is 2%.

    >>> [classify_ratio(Estimate(1.0, *ends), 0.05) for ends in ((0.97, 1.04), (1.01, 1.08), (0.9, 1.1), (None, None))]
    ['equivalent', 'slower', 'inconclusive', 'inconclusive']
    """
    return _SHOWN[versus.classify_ratio(inverse(ratio) if is_rate else ratio, least)]


def _shape_distance(ratios: CurveRatios | None, shift: Estimate | None) -> float | None:
    """Return how far single ratios lie from the shift, as a share; None where one differs."""
    if ratios is None or shift is None or not shift.value or any(c.df <= 0 for c in ratios.shape):
        return None
    ends = [contrast.estimate(ratios.single_shape) for contrast in ratios.shape]
    if any((e.low or 0.0) > 1 + _ROUNDING or (e.high or 2.0) < 1 - _ROUNDING for e in ends):
        return None
    return farthest(ends)


def farthest(estimates: Sequence[Estimate]) -> float | None:
    """Return the largest difference that intervals allow, as a share; None where one is missing."""
    if any(e.low is None or e.high is None or e.low <= 0 for e in estimates) or not estimates:
        return None
    return max(max(e.high or 0.0, 1 / (e.low or 1.0)) for e in estimates) - 1


def _floor(ratio: Estimate) -> float:
    """Return the width of an interval, as a share: a smaller difference stays unseen."""
    return ratio.high / ratio.low - 1 if ratio.low and ratio.high and ratio.low > 0 else math.inf


def answer_fields(
    refused: Sequence[str], configurations: Sequence[ConfigurationRatio], words: Collection[ShownAs], margin: float,
    lost: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Return the answer, its reason, and the sensitivity of the intervals, as fields of the document.

    `refused` are reasons against any verdict (empty texts are none), `words` outcomes of configurations, and of means
    over them. `margin` is the largest difference to ignore, as a share; `lost` says what failed or is missing, which
    rules out "equivalent" and "faster".
    """
    seen = [row for row in configurations if not row.doubt and row.ratio.low is not None]
    if not seen and any(e and e.value == 0 for row in configurations for e in (row.reference, row.other)):
        refused = [*refused, "a score of 0 has no ratio"]
    n_unknown = sum(not row.doubt and row.ratio.low is None for row in configurations)
    silent = len(configurations) - len(seen), n_unknown
    answer, case, reason = _answer([t for t in refused if t], seen, silent, words, margin)
    if lost and answer != "slower":
        answer, case, reason = "inconclusive", "lost", lost
    return {
        "answer": answer, "case": case, "why": reason,
        "n_inconclusive": len(configurations) - sum(x.shown != UNSHOWN for x in seen),
        "reach": farthest([row.ratio for row in seen]),
        "noise_floor": max((_floor(row.ratio) for row in seen), default=None),
    }  # fmt: skip


def _answer(
    refused: Sequence[str], seen: Sequence[ConfigurationRatio], silent: tuple[int, int], words: Collection[ShownAs],
    margin: float,
) -> tuple[ComparisonAnswer, OpenCase, str]:  # fmt: skip
    """Decide by the worst: slower, then inconclusive, then faster and equivalent.

    seen: configurations that decide; silent: how many decide nothing, and of these how many lack an interval.
    """
    n_silent, n_unknown = silent
    if refused:
        return UNSHOWN, "refused", refused[0]
    if "slower" in words:
        return "slower", "", ""
    if not seen:
        return UNSHOWN, "few runs", "too few runs for an interval"
    n = n_silent + len(seen)
    if 2 * n_silent > n:
        return UNSHOWN, "disturbed", f"{n_silent} of {n} configurations include disturbed runs, or have no interval"
    if unshown := [row.ratio for row in seen if row.shown == UNSHOWN]:
        most = percent_at_most(farthest(unshown) or 0.0)
        many = "" if len(unshown) == len(seen) else f" in {len(unshown)} of {len(seen)} configurations"
        return UNSHOWN, "open", f"differences of up to {most} are possible{many}; the margin is {100 * margin:g}%"
    if n_unknown:
        return UNSHOWN, "few runs", f"no interval in {n_unknown} of {n} configurations"
    return ("faster" if "faster" in words else "equivalent"), "", ""
