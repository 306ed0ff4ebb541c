"""Results of one study in the order in which they were measured: at which of them does a new level begin?"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scalograph.analysis.change_points import ChangePoint, change_points
from scalograph.analysis.curve_ratios import curve_ratios
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.errors import StudyError
from scalograph.exchange.compare.matched_treatments import matched, treatment_names
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceTreatment
from scalograph.exchange.compare.result_answer import MOST_NAMED, have_logs, logs_of
from scalograph.protocol.result_series import ResultSeries, SeriesResult, SeriesStep
from scalograph.text.quantities import counted


class DatedSource(NamedTuple):
    """A result and when its first run was, as ISO 8601; empty where that is not told."""

    started: str
    source: MeasuredSource


def series(every: Sequence[DatedSource], left_out: Sequence[str] = ()) -> ResultSeries:
    """Lay results out in time.

    Args:
        every: results of one study, in any order; those of other treatments than the newest are left out.
        left_out: what could not be read, and why.

    Raises:
        StudyError: there is none.
    """
    ordered = sorted(every, key=lambda one: (one.started, one.source.label))
    kept, why = _kept(ordered)
    if not kept:
        raise StudyError.one("history", "no result that can be compared", "one or more", "; ".join([*left_out, *why]))
    treatments = [_common(one.source, kept[-1].source) for one in kept]
    levels = [_level(found) for found in treatments]
    changes = change_points(levels)
    first, newest = treatments[0], kept[-1].source
    results = [
        SeriesResult(
            name=one.source.label, started=one.started, level=_over(first, found),
            stretch=1 + sum(change.place <= i for change in changes),
            doubt=_doubt(one.source),
        )
        for i, (one, found) in enumerate(zip(kept, treatments, strict=True))
    ]  # fmt: skip
    return ResultSeries(
        title=newest.title, response=newest.response.name, response_title=newest.response.title,
        unit=newest.response.unit, better=newest.response.better, results=results,
        steps=list(_steps(kept, levels, changes)), newest=_newest(ordered, kept, why), left_out=[*left_out, *why],
    )  # fmt: skip


def _kept(ordered: Sequence[DatedSource]) -> tuple[list[DatedSource], list[str]]:
    """Results that say something, and have all treatments of the newest of them."""
    refused = [(one, _refused(one.source)) for one in ordered]
    why = [f"{one.source.label}: {text}" for one, text in refused if text]
    told = [one for one, text in refused if not text]
    kept = [one for one in told if _has_all(one.source, told[-1].source)]
    return kept, why + [f"{one.source.label}: other configurations" for one in told if one not in kept]


def _newest(ordered: Sequence[DatedSource], kept: Sequence[DatedSource], why: Sequence[str]) -> str:
    """What is not in the levels of the newest result: all of it, or configurations that results before it have."""
    label = ordered[-1].source.label
    if ordered[-1] is not kept[-1]:
        return f"the newest result is left out, {next(text for text in why if text.startswith(f'{label}: '))}"
    lost = dict.fromkeys(one.name for old in kept[:-1] for one in matched(old.source, kept[-1].source).lost)
    return f"the newest result, {label}, lacks {', '.join(list(lost)[:MOST_NAMED])}" if lost else ""


def _refused(source: MeasuredSource) -> str:
    """Why a result has no level: what decides nothing in a comparison would decide it."""
    if source.refused:
        return source.refused
    if source.failed:
        called = treatment_names(source, [one.levels for one in source.failed])
        lost = [f"{name} ({one.runs[0]} of {one.runs[1]})" for name, one in zip(called, source.failed, strict=True)]
        return f"runs failed with {', '.join(lost[:MOST_NAMED])}"
    if n := sum(bool(one.doubt) for one in source.treatments):
        rest = f"{'rests' if n == 1 else 'rest'} on disturbed runs"
        return f"{n} of {counted(len(source.treatments), 'configuration')} {rest}"
    return "" if all(have_logs(one.scores) for one in source.treatments) else "a score of 0 or less, or beyond 1e130"


def _doubt(source: MeasuredSource) -> str:
    """What a study says against itself; empty where it is believed."""
    return source.trust.sentence if source.trust and source.trust.level == "doubt" else ""


def _has_all(source: MeasuredSource, newest: MeasuredSource) -> bool:
    try:
        return len(matched(newest, source).pairs) == len(newest.treatments)
    except StudyError:
        return False


def _common(source: MeasuredSource, newest: MeasuredSource) -> list[SourceTreatment]:
    """Its treatments in the order of those of the newest."""
    return [two for _, _, two in matched(newest, source).pairs]


def _level(treatments: Sequence[SourceTreatment]) -> float:
    """The mean over treatments of mean logs."""
    return float(np.mean([logs_of(one).logs.mean() for one in treatments]))


def _over(first: Sequence[SourceTreatment], other: Sequence[SourceTreatment]) -> Estimate:
    return curve_ratios([*map(logs_of, first)], [*map(logs_of, other)]).shift.estimate(0.95)


def _steps(
    kept: Sequence[DatedSource], levels: Sequence[float], changes: Sequence[ChangePoint]
) -> Iterator[SeriesStep]:
    """Each change, with the level of its stretch over that of the stretch before."""
    ends = [0, *(shift.place for shift in changes), len(levels)]
    stretches = [np.exp(levels[begin:end]) for begin, end in pairwise(ends)]
    for shift, (before, after) in zip(changes, pairwise(stretches), strict=True):
        here, earlier = kept[shift.place], kept[shift.place - 1]
        yield SeriesStep(
            name=here.source.label, started=here.started, ratio=ratio(after, before), p=shift.p,
            differences=matched(earlier.source, here.source).differences,
        )  # fmt: skip
