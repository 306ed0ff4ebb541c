"""Neighboring levels of a curve at which two results differ alike: "from 2 to 128 threads 1.06x to 1.23x"."""

from collections.abc import Sequence
from typing import NamedTuple

from scalograph.protocol.compared_results import ResultComparison, ShownAs, TreatmentRatio, ordered
from scalograph.protocol.plain import Level
from scalograph.text.format import level_text
from scalograph.text.short_names import is_counted, one_of

# Ratios that differ by more are told apart.
ALIKE = 1.25


class ResultSpan(NamedTuple):
    """Treatments next to each other that differ in one direction, and by about as much.

    Attributes:
        treatments: one or more, in order.
        is_more: whether the other result has more of the response.
    """

    treatments: list[TreatmentRatio]
    is_more: bool

    @property
    def ratios(self) -> tuple[float, float]:
        """Return the smallest and the largest, either way around, so that both are above 1."""
        values = [one.ratio.value or 1.0 for one in self.treatments]
        found = sorted(value if self.is_more else 1 / value for value in values)
        return found[0], found[-1]


def spans(found: ResultComparison, only: Sequence[ShownAs] = ()) -> list[ResultSpan]:
    """Group the treatments of one curve.

    Args:
        found: of one curve.
        only: what treatments that are told must show; empty for all that have a ratio.
    """
    made: list[ResultSpan] = []
    is_next = False
    for one in ordered(found):
        if not one.ratio.value or (only and one.shown not in only):
            is_next = False
            continue
        is_more = one.ratio.value > 1
        if is_next and made[-1].is_more == is_more and _alike(made[-1], one):
            made[-1].treatments.append(one)
        else:
            made.append(ResultSpan([one], is_more))
        is_next = True
    return made


def where(found: ResultComparison, span: ResultSpan) -> str:
    """Name the levels of a span: "with 1 thread", "from 2 to 128 threads"; empty where they differ."""
    if found.along not in span.treatments[0].levels:
        return ""
    levels = [one.levels[found.along] for one in span.treatments]
    title, unit = found.titles.get(found.along, found.along), found.units.get(found.along, "")
    if len(levels) == 1:
        return f"with {_level(title, levels[0], unit)}"
    if _is_count(title, levels[-1], unit):
        return f"from {level_text(levels[0])} to {_level(title, levels[-1], unit)}"
    return f"from {_level(title, levels[0], unit)} to {level_text(levels[-1], unit)}"


def _alike(span: ResultSpan, one: TreatmentRatio) -> bool:
    value = one.ratio.value or 1.0
    value = value if span.is_more else 1 / value
    low, high = span.ratios
    return max(high, value) <= ALIKE * min(low, value)


def _level(title: str, level: Level, unit: str) -> str:
    shown = level_text(level, unit)
    if _is_count(title, level, unit):
        return f"{shown} {one_of(title) if level == 1 else title}"
    return f"{title} {shown}"


def _is_count(title: str, level: Level, unit: str) -> bool:
    return type(level) is int and not unit and is_counted(title)
