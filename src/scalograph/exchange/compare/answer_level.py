"""The level of a result without a curve: the value that its search answers with, or the ratio of its two versions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from scalograph.exchange.compare.measured_source import MeasuredSource
from scalograph.exchange.compare.paired_versions import paired_versions
from scalograph.protocol.findings import Findings, ResponseDoc
from scalograph.questions.best.document import Best
from scalograph.questions.break_even.document import BreakEven
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.effective_cpus.document import EffectiveGroups
from scalograph.questions.size.document import Size
from scalograph.questions.within_limit.document import WithinLimit

VERSION = "version"  # the factor of `ab`
SLOWDOWN = ResponseDoc(name="slowdown", title="time over that of the first version")


@dataclass(frozen=True)
class AnswerLevel:
    """What a search answers with: a value for each name; none where it has no answer."""

    title: str
    better: Literal["lower", "higher"]
    values: Mapping[str, float | None]
    unit: str = ""
    others: Mapping[str, float] = field(default_factory=dict)

    def summary_fields(self, refused: str) -> dict[str, Any]:
        """Return the fields of a summary; `refused` says why the result has no verdict, or is empty."""
        values = {name: x for name, x in sorted(self.values.items()) if x is not None and 0 < x < math.inf}
        lost = "" if values and len(values) == len(self.values) else "its search found no value"
        return {
            "response": self.title.replace(" ", "_"), "response_title": self.title, "unit": self.unit,
            "better": self.better, "excluded": refused or lost, "names": tuple(values),
            "logs": tuple(round(math.log(x), 7) for x in values.values()), "coefficients": dict(self.others),
        }  # fmt: skip


def answer_level(findings: Findings) -> AnswerLevel | None:
    """Return the value that a search answers with; None of a study whose configurations have a level of their own."""
    levels = {
        "effective-cpus": _cpu_level, "cliff": _cliff_level, "break-even": _break_even_level, "size": _least_size,
        "within-limit": _limit_level, "best": _best_time,
    }  # fmt: skip
    asked = findings.study.question
    return next(levels[asked](findings), None) if asked in levels else None


def _cpu_level(findings: Findings) -> Iterator[AnswerLevel]:
    part = findings.document("effective-cpus", EffectiveGroups)
    for group in part.groups[:1] if part else ():
        yield AnswerLevel("effective CPUs", "higher", {group.factor: group.k_eff if group.decided else None})


def _cliff_level(findings: Findings) -> Iterator[AnswerLevel]:
    if part := findings.document("cliff", Cliffs):
        first = next((cliff.location for cliff in part.cliffs), None)
        yield AnswerLevel(f"{part.factor} at the cliff", "higher", {part.factor: first})


def _break_even_level(findings: Findings) -> Iterator[AnswerLevel]:
    if part := findings.document("break-even", BreakEven):
        lines = {f"{each.x} {line.level or ''}".strip(): line for each in part.maps for line in each.lines}
        places = {name: line.location for name, line in lines.items() if line.kind == "from"}
        yield AnswerLevel("break-even size", "lower", places)


def _least_size(findings: Findings) -> Iterator[AnswerLevel]:
    if part := findings.document("size", Size):
        needs = {need.factor: need.need.value for need in part.needs}
        yield AnswerLevel(f"least {' and '.join(needs)}", "lower", needs)


def _limit_level(findings: Findings) -> Iterator[AnswerLevel]:
    if part := findings.document("within-limit", WithinLimit):
        yield AnswerLevel(f"{part.factor} at the limit", "higher", {part.factor: part.crossing.value})


def _best_time(findings: Findings) -> Iterator[AnswerLevel]:
    if part := findings.document("best", Best):
        response = next((each for each in findings.study.responses if each.name == part.response), None)
        title, unit = (response.title or part.response, response.unit) if response else (part.response, "")
        levels = {f"best {k}": float(x) for k, x in part.winner.levels.items() if isinstance(x, int | float)}
        fresh = part.winner.fresh.value if part.winner.fresh else None
        yield AnswerLevel(f"{title} of the best", "lower", {"best": fresh}, unit, levels)


def version_slowdown(source: MeasuredSource) -> float | None:
    """Return the mean log ratio of costs, second version over first, of a study of two; None of any other."""
    versions: Sequence[Any] = source.levels_of(VERSION) if VERSION in source.factors else ()
    if len(versions) != 2:
        return None
    (result,) = paired_versions(source, VERSION, {level: str(level) for level in versions}).results
    ratios = [row.ratio.value for row in result.configurations if row.ratio.value]
    sign = -1.0 if source.response.better == "higher" else 1.0
    return sign * sum(map(math.log, ratios)) / len(ratios) if ratios else None
