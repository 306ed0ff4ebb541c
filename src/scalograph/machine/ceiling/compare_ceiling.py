"""Compare the curves of a study with a machine's ceiling: sentences, tables, and the document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from scalograph.analysis.estimate import Estimate, Flag, exp, unknown_estimate
from scalograph.protocol.findings import CeilingPoint, Cell, Column, Curve, Findings, Point, TableDoc
from scalograph.protocol.machine_ceiling import PATTERNS, RESOURCES, WORDS, Ceiling, Timed
from scalograph.text.quantities import count_noun, times
from scalograph.text.short_names import join_names

Label = Literal["below", "alike", "above", "unknown"]

# Speedups that differ by less are called alike: two programs of one resource differ by as much.
MARGIN = 0.05
# An interval that leaves room for more than this says nothing, as with published figures (protocol/findings.md).
MAX_WIDTH = 0.25
METHOD = "ratio of two independent speedups, MOVER on logs"


@dataclass(frozen=True, slots=True)
class CeilingRatio:
    """A program's speedup over that of one kind of work on as many CPUs."""

    kind: str
    ceiling: Estimate
    ratio: Estimate
    label: Label


def compare_speedup(program: Estimate, ceilings: Mapping[str, Estimate], margin: float = MARGIN) -> list[CeilingRatio]:
    """Compare a speedup with each kind of work on as many CPUs and over the same baseline, highest ceiling first.

    `margin` is the relative difference that does not matter, 0 or more.
    """
    ratios = [CeilingRatio(kind, it, r := ratio(program, it), label(r, margin)) for kind, it in ceilings.items()]
    return sorted(ratios, key=lambda each: -(each.ceiling.value or 0.0))


def ratio(a: Estimate, b: Estimate) -> Estimate:
    """Return A over B, of independent runs, with the interval that their own intervals give.

    Source: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general approach,
    Statist. Med. 27 (2008), equations 6 and 7, on logs.

    >>> two = Estimate(2.0, 2.0, 2.0, 0.95, 5, "t")
    >>> half = ratio(two, Estimate(1.0, 0.9, 1 / 0.9, 0.95, 5, "t"))
    >>> half.value, round(half.low, 3), round(half.high, 3)
    (2.0, 1.8, 2.222)
    """
    of_a, of_b = _logs(a), _logs(b)
    if of_a is None or of_b is None:
        return unknown_estimate(METHOD, a.confidence, a.n + b.n, "need an interval above 0 of both, have not")
    (x, x_low, x_high), (y, y_low, y_high) = of_a, of_b
    low = x - y - math.hypot(x - x_low, y_high - y)
    high = x - y + math.hypot(x_high - x, y - y_low)
    return Estimate(exp(x - y), exp(low), exp(high), min(a.confidence, b.confidence), a.n + b.n, METHOD)


def _logs(estimate: Estimate) -> tuple[float, float, float] | None:
    """Return logs of value, low and high; None where one is missing."""
    ends = (estimate.value, estimate.low, estimate.high)
    if any(end is None or end <= 0 for end in ends):
        return None
    value, low, high = (math.log(end) for end in ends if end is not None)
    return value, low, high


def label(ratio: Estimate, margin: float = MARGIN) -> Label:
    """Return the label of a ratio by its interval.

    Below and above need the whole interval beyond the margin. Alike needs an interval that is not too wide and holds 1,
    or a ratio within the margin: it is no proof that both are the same. Between them nobody can tell if it matters.
    """
    value, low, high = ratio.value, ratio.low, ratio.high
    if value is None or low is None or high is None:
        return "unknown"
    if high < 1 / (1 + margin):
        return "below"
    if low > 1 + margin:
        return "above"
    same = low <= 1 <= high or 1 / (1 + margin) <= value <= 1 + margin
    return "alike" if same and low >= 1 / (1 + MAX_WIDTH) and high <= 1 + MAX_WIDTH else "unknown"


def sentence(name: str, program: Estimate, n_cpus: int, ratios: Sequence[CeilingRatio]) -> str:
    """Return one sentence for one curve at one number of CPUs, compared with its ceilings."""
    resources = [each for each in ratios if each.kind in RESOURCES]
    text = f"{name} reaches {times(program)} on {count_noun(n_cpus, 'CPU')}"
    if all(each.label == "unknown" for each in resources):
        return f"{text}. The intervals are too wide to compare it with the machine."
    return f"{text}, {_verdict(resources)}.{_pattern(ratios, resources)}"


def _verdict(resources: Sequence[CeilingRatio]) -> str:
    """Return what limits the curve. The highest ceiling comes first; what reaches it has all that the machine gives."""
    top = resources[0]
    of = {label: [each for each in resources if each.label == label] for label in get_args(Label)}
    if top.label == "above":
        return f"more than any ceiling of this machine ({_list_kinds([top])}). Check its baseline"
    if top.label == "alike":
        return f"as far as this machine scales anything ({_list_kinds([top])}). The machine limits it"
    if of["alike"]:
        return f"about as far as {_list_kinds(of['alike'])}, which may limit it"
    if len(of["below"]) == len(resources):
        return f"below every ceiling of this machine (lowest: {_list_kinds(resources[-1:])}). The program limits itself"
    words = {"below": "below", "above": "above", "unknown": "indistinguishable from"}
    return ", ".join(f"{word} {_list_kinds(of[label])}" for label, word in words.items() if of[label])


def _pattern(ratios: Sequence[CeilingRatio], resources: Sequence[CeilingRatio]) -> str:
    """Name what else scales as badly; only for a curve that is below what the machine gives."""
    if not any(each.label == "below" for each in resources):
        return ""
    alike = [each for each in ratios if each.kind in PATTERNS and each.label == "alike"]
    return f" It scales like {_list_kinds(alike)}; look for that." if alike else ""


def _list_kinds(ratios: Sequence[CeilingRatio]) -> str:
    return ", ".join(f"{WORDS.get(each.kind, each.kind)} {times(each.ceiling)}" for each in ratios)


def summary(n_cpus: int, ceilings: Mapping[str, Estimate]) -> str:
    """Summarize what the machine itself scales to on so many CPUs: at best and at worst."""
    best, *others = sorted(ceilings.items(), key=lambda item: -(item[1].value or 0.0)) or [("", Estimate())]
    if not best[0]:
        return ""
    parts = [f"{WORDS.get(kind, kind)} to {times(estimate)}" for kind, estimate in (best, *others[-1:])]
    between = f"; {count_noun(len(others) - 1, 'further kind')} of work in between" if others[1:] else ""
    return f"On {n_cpus} CPUs this machine scales {join_names(parts)}{between}."


class CurveReach(NamedTuple):
    """How far one curve got, at the most CPUs at which there is a ceiling."""

    name: str
    baseline: int
    n_cpus: int
    speedup: Estimate
    found: list[CeilingRatio]


def reach(findings: Findings, curve: Curve, ceiling: Ceiling) -> CurveReach | None:
    """Return the curve's point at the most CPUs that the ceiling has too; None without one beyond its baseline."""
    sizes = speedups_by_cpus(findings, curve)
    baseline = _baseline(findings, curve)
    if baseline is None:
        return None
    for n in sorted(sizes, reverse=True):
        ceilings = speedups(ceiling, baseline, n)
        if n > baseline and ceilings:
            name = ", ".join(f"{name} {level}" for name, level in curve.group.items()) or "Your program"
            return CurveReach(name, baseline, n, sizes[n], compare_speedup(sizes[n], ceilings))
    return None


def speedups(ceiling: Ceiling, baseline: int, n_cpus: int) -> dict[str, Estimate]:
    """Return the speedup of each kind of work on so many CPUs."""
    points = {kind: ceiling.speedups(kind, baseline).get(n_cpus) for kind in ceiling.kinds}
    return {kind: point.speedup for kind, point in points.items() if point is not None}


def speedups_by_cpus(findings: Findings, curve: Curve) -> dict[int, Estimate]:
    """Return speedups by CPUs in use. Of workers beyond the CPUs the fewest count: the ceiling has one per CPU."""
    sizes: dict[int, Estimate] = {}
    counted = [point for point in curve.points if _is_count(point.level)]
    for point in sorted(counted, key=lambda point: int(point.level)):
        n = _cpus(findings, curve, point)
        if n is not None and point.speedup is not None:
            sizes.setdefault(n, point.speedup)
    return sizes


def _cpus(findings: Findings, curve: Curve, point: Point) -> int | None:
    """Return the CPUs that a point can use: its level where that counts CPUs, else no more than it was given."""
    if any(factor.name == curve.factor and factor.control == "cpus" for factor in findings.study.factors):
        return int(point.level)
    return None if point.n_cpus is None else min(int(point.level), point.n_cpus)


def _baseline(findings: Findings, curve: Curve) -> int | None:
    base = findings.study.baseline
    if base is None or base.factor != curve.factor:
        return None
    at = next((point for point in curve.points if point.level == base.level and _is_count(point.level)), None)
    return None if at is None else _cpus(findings, curve, at)


def _is_count(level: object) -> bool:
    return isinstance(level, int) and not isinstance(level, bool) and level >= 1


# A study may have hundreds of curves; the table has a row for each of these many.
MAX_CURVES, MAX_SENTENCES = 64, 4
_NOTE = "speedup over one CPU of the same total of one kind of work, one worker for each CPU; measured {at}"

_AGAINST = (
    "at the most CPUs that both have, over the baseline of the curve; below, above: the whole interval of the ratio "
    "lies more than 5% off; alike: not told apart, which is no proof; unknown: an interval is missing or too wide"
)


class CeilingComparison(NamedTuple):
    """What a ceiling adds to findings; `document` is kind -> points."""

    answer: list[str]
    tables: list[TableDoc]
    document: dict[str, list[CeilingPoint]]


def compare_ceiling(findings: Findings, ceiling: Ceiling) -> CeilingComparison:
    """Compare every curve of a study with the machine's ceiling. Executes nothing."""
    reached = [it for curve in findings.curves[:MAX_CURVES] if (it := reach(findings, curve, ceiling))]
    largest = max((n for kind in ceiling.kinds for n in ceiling.speedups(kind)), default=1)
    answer = [text for text in [summary(largest, speedups(ceiling, 1, largest))] if largest > 1 and text]
    # Those that fall furthest behind the best ceiling: of many curves they are what one would look at.
    worst = sorted(reached, key=lambda it: it.found[0].ratio.value or 0.0)[:MAX_SENTENCES]
    answer += [sentence(it.name, it.speedup, it.n_cpus, it.found) for it in worst]
    if findings.curves and not reached:
        answer.append("No curve can be compared with the machine: none has a speedup at a CPU count with a ceiling.")
    return CeilingComparison([*answer, *ceiling.warnings], _tables(ceiling, reached), document(ceiling))


def add_ceiling(findings: Findings, ceiling: Ceiling) -> Findings:
    """Return the findings with the ceiling's sentences after their own, and its tables after theirs."""
    more = compare_ceiling(findings, ceiling)
    update: dict[str, Any] = {"answer": [*findings.answer, *more.answer], "tables": [*findings.tables, *more.tables]}
    if findings.claim and more.answer:
        update["claim"] = findings.claim.model_copy(
            update={"sentences": [*findings.claim.sentences[:2], more.answer[0]]}
        )
    return findings.model_copy(update={**update, "ceilings": more.document})


def document(ceiling: Ceiling) -> dict[str, list[CeilingPoint]]:
    """Return `ceilings` of the findings: kind -> points over one CPU, fewest CPUs first."""
    return {kind: [_point(ceiling, kind, part) for part in parts] for kind, parts in ceiling.kinds.items()}


def _point(ceiling: Ceiling, kind: str, part: Timed) -> CeilingPoint:
    point = ceiling.speedups(kind).get(part.n_cpus)
    flags = [Flag("falls back", "includes disturbed runs", part.n_disturbed)] if part.falls_back else []
    return CeilingPoint(
        n_cpus=part.n_cpus, speedup=point.speedup if point else None,
        n=len(part.scores), n_disturbed=part.n_disturbed, n_failed=part.n_failed, flags=flags,
    )  # fmt: skip


def _tables(ceiling: Ceiling, reached: Sequence[CurveReach]) -> list[TableDoc]:
    points = document(ceiling)
    sizes = sorted({part.n_cpus for parts in ceiling.kinds.values() for part in parts})
    columns = [Column(name="kind of work", kind="label")]
    columns += [Column(name=f"{n} CPU{'s' * (n > 1)}", kind="estimate") for n in sizes]
    rows: list[list[Cell]] = []
    for kind, parts in points.items():
        at = {part.n_cpus: part.speedup for part in parts}
        rows.append([WORDS.get(kind, kind), *(at.get(n) or Estimate() for n in sizes)])
    note = _NOTE.format(at=ceiling.at)
    first = TableDoc(id="ceilings", title="What this machine itself scales to", note=note, columns=columns, rows=rows)
    return [first, _against_table(reached)] if reached else [first]


def _against_table(reached: Sequence[CurveReach]) -> TableDoc:
    """Build a table with a row for each curve: its speedup, and its label for each kind of work."""
    kinds = sorted({each.kind for it in reached for each in it.found})
    columns = [Column(name="curve", kind="label"), Column(name="CPUs"), Column(name="speedup", kind="estimate")]
    columns += [Column(name=WORDS.get(kind, kind), kind="text") for kind in kinds]
    rows: list[list[Cell]] = []
    for it in reached:
        labels = {each.kind: each.label for each in it.found}
        rows.append([it.name, it.n_cpus, it.speedup, *(labels.get(kind, "unknown") for kind in kinds)])
    return TableDoc(id="against-ceilings", title="Against the ceilings", note=_AGAINST, columns=columns, rows=rows)
