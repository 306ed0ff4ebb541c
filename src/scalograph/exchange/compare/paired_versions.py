"""Two versions that one study ran in pairs: what a block shares cancels, so a machine that changes changes no ratio."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.versus import versus
from scalograph.exchange.compare.matched_treatments import MatchedPair, treatment_names
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceTreatment
from scalograph.exchange.compare.result_answer import answered, lost_text, margin_of, ratio_of_treatment
from scalograph.protocol.compared_results import LostTreatment, ResultComparison, ResultComparisons
from scalograph.protocol.plain import Level


def paired_versions(
    source: MeasuredSource,
    factor: str,
    names: Mapping[Level, str],
    margin: float | None = None,
    confidence: float = 0.95,
) -> ResultComparisons:
    """Compare the second level of a factor with the first, block by block.

    Args:
        source: a study that ran both in each block.
        factor: whose two levels are the versions.
        names: what the first and the second are called, in this order.
        margin: differences within it are none, as a share; None for 2 %.
        confidence: of all intervals at once.
    """
    first, second = names
    pairs = _pairs(source, factor, first, second)
    single = confidence ** (1 / max(1, len(pairs)))
    (least, origin), is_rate = margin_of(margin), source.response.better == "higher"
    ratios = [replace(_ratio(one, two, single), confidence=confidence) for _, one, two in pairs]
    treatments = [ratio_of_treatment(pair, e, least, is_rate) for pair, e in zip(pairs, ratios, strict=True)]
    words = [one.shown for one in treatments if not one.doubt]
    lost = list(_lost(source, factor, names))
    found = ResultComparison(
        reference=names[first], other=names[second], title=source.title, response=source.response.name,
        response_title=source.response.title, unit=source.response.unit, better="higher" if is_rate else "lower",
        along=_along(source, factor), titles={name: doc.title or name for name, doc in source.factors.items()},
        units={name: doc.unit for name, doc in source.factors.items()}, margin=least, margin_from=origin,
        **answered((source.refused,), treatments, words, margin, lost_text(lost, "this study")),
        treatments=treatments, lost=lost,
    )  # fmt: skip
    return ResultComparisons(answer=found.answer, results=[found])


def unpaired(source: MeasuredSource, factor: str, names: Mapping[Level, str]) -> str:
    """Say why no run of one version can be paired with one of the other; empty where some can.

    Args:
        source: a study that was to run both in each block.
        factor: whose two levels are the versions.
        names: what the first and the second are called, in this order.
    """
    first, second = names
    if _pairs(source, factor, first, second):
        return ""
    known = [one.levels[factor] for one in source.treatments]
    if lost := [name for level, name in names.items() if level not in known]:
        return f"{' and '.join(lost)} {'has' if len(lost) == 1 else 'have'} no run that succeeded"
    return "no configuration has a run of both that succeeded"


def _lost(source: MeasuredSource, factor: str, names: Mapping[Level, str]) -> Iterator[LostTreatment]:
    """What one version has at some levels, and the other does not: both were to run there."""
    have = {_key(one.levels): one.levels for one in source.treatments if one.levels[factor] in names}
    failed = {_key(one.levels): one for one in source.failed}
    wanted = {_key({**one, factor: version}): {**one, factor: version} for one in have.values() for version in names}
    for key, levels in {**wanted, **{key: one.levels for key, one in failed.items()}}.items():
        if key not in have:
            n, of = failed[key].runs if key in failed else (0, 0)
            why: Literal["failed", "missing"] = "failed" if key in failed else "missing"
            (name,) = treatment_names(source, [{**levels, factor: names.get(levels[factor], levels[factor])}])
            yield LostTreatment(name=name, levels=levels, why=why, n_failed=n, n_runs=of)


def _key(levels: Mapping[str, Level]) -> tuple[tuple[str, Level], ...]:
    return tuple(sorted(levels.items()))


def _pairs(source: MeasuredSource, factor: str, first: Level, second: Level) -> list[MatchedPair]:
    by_rest: dict[tuple[tuple[str, Level], ...], dict[Level, SourceTreatment]] = {}
    for one in source.treatments:
        rest = tuple((name, level) for name, level in one.levels.items() if name != factor)
        by_rest.setdefault(rest, {})[one.levels[factor]] = one
    return [(dict(rest), pair[first], pair[second]) for rest, pair in by_rest.items() if {first, second} <= pair.keys()]


def _ratio(one: SourceTreatment, two: SourceTreatment, single: float) -> Estimate:
    """The second over the first, from the blocks that hold both."""
    ours, theirs = dict(zip(one.blocks, one.scores, strict=True)), dict(zip(two.blocks, two.scores, strict=True))
    blocks = sorted(ours.keys() & theirs.keys())
    return versus([theirs[block] for block in blocks], [ours[block] for block in blocks], single)


def _along(source: MeasuredSource, factor: str) -> str:
    """The other factor with the most levels."""
    others = [name for name in source.factors if name != factor]
    return max(others, key=lambda name: len(source.levels_of(name)), default="")
