"""The time that a design will take, from runs that were timed before; it may be unknown."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from scalograph.design.planner import Design
from scalograph.study.treatment import Treatment


def key(treatment: Treatment) -> tuple[tuple[str, Any], ...]:
    """Return a hashable form of a treatment."""
    return tuple(sorted(treatment.items()))


def seconds_per_treatment(runs: Iterable[tuple[Treatment, float]]) -> dict[tuple[tuple[str, Any], ...], float]:
    """Return the mean seconds of the runs of each treatment, from an earlier journal."""
    seconds: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for treatment, duration in runs:
        seconds.setdefault(key(treatment), []).append(duration)
    return {treatment: fmean(durations) for treatment, durations in seconds.items()}


def expected_seconds(design: Design, known: Mapping[tuple[tuple[str, Any], ...], float]) -> float | None:
    """Return the seconds of the whole design; a treatment that was never timed counts as the mean of the others."""
    if not known:
        return None
    mean = fmean(known.values())
    block = sum(
        design.runs_per_block(index) * known.get(key(treatment), mean)
        for index, treatment in enumerate(design.treatments)
    )
    return block * design.study.protocol.runs
