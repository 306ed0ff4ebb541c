"""Compare two versions that one study ran in pairs: effects that a block shares cancel in each ratio."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.stopping import level_of_look
from scalograph.analysis.versus import SAME, pairs_needed, versus
from scalograph.exchange.compare.matched_configurations import MatchedPair, configuration_names, lost_configuration
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceConfiguration
from scalograph.exchange.compare.result_answer import answer_fields, lost_text, ratio_of_configuration
from scalograph.protocol.compared_results import LostConfiguration, ResultComparison, ResultComparisons
from scalograph.protocol.plain import Level


def paired_versions(
    source: MeasuredSource, factor: str, names: Mapping[Level, str], margin: float | None = None,
    confidence: float = 0.95, planned: int | None = None,
) -> ResultComparisons:  # fmt: skip
    """Compare the second level of a factor with the first, block by block, in a study that ran both in each.

    `names` are those of the first and the second level, in this order; `margin` is the smallest difference that counts,
    as a share, None for 2%. `confidence` is simultaneous, of all intervals.
    Ratios from more pairs than `planned` have a higher confidence.
    """
    first, second = names
    pairs = _pairs(source, factor, first, second)
    single = confidence ** (1 / max(1, len(pairs)))
    least, is_rate = SAME if margin is None else margin, source.response.better == "higher"
    estimate = partial(_ratio, single=single, planned=planned, is_shared=source.is_shared)
    ratios = [replace(estimate(before, after), confidence=confidence) for _, before, after in pairs]
    configurations = [ratio_of_configuration(pair, e, least, is_rate) for pair, e in zip(pairs, ratios, strict=True)]
    words = [row.shown for row in configurations if not row.doubt]
    lost, others = list(_lost(source, factor, names)), [name for name in source.factors if name != factor]
    comparison = ResultComparison(
        reference=names[first], other=names[second], title=source.title, response=source.response.name,
        response_title=source.response.title, unit=source.response.unit, better="higher" if is_rate else "lower",
        along=max(others, key=lambda name: len(source.levels_of(name)), default=""),
        titles={name: doc.title or name for name, doc in source.factors.items()},
        units={name: doc.unit for name, doc in source.factors.items()}, margin=least,
        **answer_fields((source.refused,), configurations, words, least, lost_text(lost, "this study")),
        configurations=configurations, lost=lost, varied=[*source.varied],
    )  # fmt: skip
    return ResultComparisons(answer=comparison.answer, results=[comparison])


MOST_PAIRS = 1000  # that somebody would run


def pairs_remedy(comparison: ResultComparison, precision: float) -> str:
    """Say how many pairs decide an inconclusive comparison; empty where another reason than noise leaves it open.

    `precision` is that at which the pairs ended, as a share.
    """
    unshown = [row.ratio for row in comparison.configurations if row.shown == "inconclusive" and not row.doubt]
    needed = [n for ratio in unshown if (n := pairs_needed(ratio, comparison.margin)) is not None]
    if not needed or comparison.case != "open":
        return ""
    if max(needed) > MOST_PAIRS:
        return f"Runs vary too much: this margin needs {max(needed):,} pairs. Rerun with --wait-quiet 10m"
    half = comparison.margin / 2
    return f"Add pairs: --pairs {max(needed)}" + (f" --precision {100 * half:g}%" if half < precision else "")


def explain_unpaired(source: MeasuredSource, factor: str, names: Mapping[Level, str]) -> str:
    """Return why no run of one version can be paired with one of the other; empty where some can."""
    first, second = names
    if _pairs(source, factor, first, second):
        return ""
    levels, verb = [row.levels[factor] for row in source.configurations], "succeeded" if source.failed else "counts"
    if lost := [name for level, name in names.items() if level not in levels]:
        return f"{' and '.join(lost)} {'has' if len(lost) == 1 else 'have'} no run that {verb}"
    return f"no configuration has a run of both that {verb}"


def _lost(source: MeasuredSource, factor: str, names: Mapping[Level, str]) -> Iterator[LostConfiguration]:
    """Yield the configurations that one version has and the other lacks."""
    have = {_key(row.levels): row.levels for row in source.configurations if row.levels[factor] in names}
    failed = {_key(row.levels): row for row in source.failed}
    both = [{**levels, factor: version} for levels in have.values() for version in names]
    wanted = {_key(levels): levels for levels in both}
    for key, levels in {**wanted, **{key: row.levels for key, row in failed.items()}}.items():
        if key not in have:
            (name,) = configuration_names(source, [{**levels, factor: names.get(levels[factor], levels[factor])}])
            yield lost_configuration(name, levels, failed.get(key))


def _key(levels: Mapping[str, Level]) -> tuple[tuple[str, Level], ...]:
    return tuple(sorted(levels.items()))


def _pairs(source: MeasuredSource, factor: str, first: Level, second: Level) -> list[MatchedPair]:
    by_rest: dict[tuple[tuple[str, Level], ...], dict[Level, SourceConfiguration]] = {}
    for row in source.configurations:
        rest = tuple((name, level) for name, level in row.levels.items() if name != factor)
        by_rest.setdefault(rest, {})[row.levels[factor]] = row
    return [(dict(rest), pair[first], pair[second]) for rest, pair in by_rest.items() if {first, second} <= pair.keys()]


def _ratio(
    before: SourceConfiguration, after: SourceConfiguration, single: float, planned: int | None, is_shared: bool
) -> Estimate:
    """Return the ratio of the second to the first over the blocks that hold both."""
    ours, theirs = (dict(zip(row.blocks, row.scores, strict=True)) for row in (before, after))
    blocks = sorted(ours.keys() & theirs.keys())
    loops = [dict(zip(row.blocks, row.loop_logs, strict=True)) for row in (after, before) if row.loop_logs]
    speeds = [[loop[block] for block in blocks] for loop in loops]
    level = single if planned is None else level_of_look(single, blocks, planned)
    both = (speeds[0], speeds[1]) if len(speeds) == 2 else None
    before_scores, after_scores = ([side[block] for block in blocks] for side in (ours, theirs))
    ratio = versus(after_scores, before_scores, level, both, is_shared)
    return ratio.widen(before.open_log + after.open_log)
