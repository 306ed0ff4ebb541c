"""Quality flags: configurations whose values are not usable as they are, and bias bounds of those that are.

Counted runs are not free of disturbance: a clean one lost less than 2% to interference, an unverified one perhaps
more. On a virtual machine such runs are longer by much more than was taken, because the host is busy then. So the study
itself shows the cost: its runs that lost something against its quiet ones, within configurations. Where these do not
differ by more than chance, each run counts with the upper bound of what it lost, and its cost.

Coverage of the bounds: benchmarks/statistics_trust.py.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.analysis.physics import ObservedLevel, PhysicsFlag, PhysicsGate, cpu_time_across, physics_flags
from scalograph.design.stopping_rule import stopping
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import point_key
from scalograph.findings.row import Key, Row
from scalograph.findings.sample import Sample, is_functional, is_mostly_unverified
from scalograph.findings.speedup_rule import outgrows_cpus
from scalograph.findings.study_view import CORRECTED, StudyView
from scalograph.findings.table import Table
from scalograph.findings.whole_run import is_late, is_unsteady
from scalograph.protocol.findings import Claim, Curve, Matrix, MatrixCell, Point
from scalograph.text.quantities import percent_at_most
from scalograph.text.scale import SECONDS
from scalograph.text.warning_catalog import CATALOG, Caveat, flag_text

# Past this share of flagged configurations, or of flagged numbers of the claim, the study is doubted.
MANY = 1 / 3
# An estimate whose bias bound is over three times the typical one is flagged, within these limits.
LIMITS, FAR = (0.05, 0.10), 3

# Code of a flag of a point -> code of the warning.
_FLAGS = {"disturbed baseline": "baseline", "cold start": "cold"}
FlagsByKey = Mapping[Key, tuple[str, str]]


def find_flags(
    table: Table, curves: Sequence[Curve], samples: SampleMap, bound: Mapping[Key, float], gates: Mapping[Key, str]
) -> FlagsByKey:
    """Find the gravest flag of each configuration and store it at its point.

    `bound` has the bias bound of each configuration, as a share; `gates` the physics checks that are violated.

    Returns:
        Kind and text of each flagged configuration; empty where runs do not stand for their configuration.
    """
    if table.view.basis not in ("configurations", "levels"):
        return {}
    points = {point_key(table, curve, point): point for curve in curves for point in curve.points}
    flags = {k: {flag.code for flag in point.flags} for k, point in points.items()}
    reported = {k: {_FLAGS[c]: flag_text(_FLAGS[c]) for c in codes & _FLAGS.keys()} for k, codes in flags.items()}
    for row in table.rows:
        if row.status == "timeout" and not row.warmup:
            reported.setdefault(row.key, {})["timeout"] = flag_text("timeout")
    for k, gate in gates.items():
        reported.setdefault(k, {})["physics"] = gate
    limit = min(max(FAR * median(bound.values() or [0.0]), LIMITS[0]), LIMITS[1])
    far = {k: off for k, off in bound.items() if off > limit}
    reasons = {k: [*reported.get(k, {}).items(), *_sample_reasons(table, s, far.get(k))] for k, s in samples.items()}
    order = [*CATALOG]
    gravest = {k: min(every, key=lambda reason: order.index(reason[0])) for k, every in reasons.items() if every}
    for k, point in points.items():
        point.doubt = gravest.get(k, ("", ""))[1]
    return gravest


def _sample_reasons(table: Table, sample: Sample, off: float | None) -> Iterator[tuple[str, str]]:
    """Yield each code that holds for a configuration, with its flag."""
    values = {"unverified": sample.n_unverified, "runs": len(sample.succeeded)}
    for code in _sample_codes(table, sample, off):
        yield code, flag_text(code, off=percent_at_most(min(off or 0.0, 1.0)), **values)
    if kept := [row.kept_to for row in sample.succeeded if row.kept_to]:
        yield "confined", kept[0]


def _sample_codes(table: Table, sample: Sample, off: float | None) -> Iterator[str]:
    if not sample.succeeded:
        yield "none"
    elif sample.is_uncorrected:
        yield "uncorrected"
    elif sample.falls_back and table.view.primary not in sample.cpu_responses:
        yield "disturbed"
    elif len(sample.counted) == 1 and table.view.basis == "configurations":
        yield "single"
    if sample.n_unverified and any(map(is_functional, sample.succeeded)):
        yield "functional"
    if sample.n_unverified and any(is_functional(row, "one machine") for row in sample.succeeded):
        yield "one machine"
    if off is not None and not sample.falls_back:
        yield "unverified" if is_mostly_unverified(sample) or off == math.inf else "off"
    if is_unsteady(sample):
        yield "unsteady"
    elif is_late(table.study, sample):
        yield "late"
    rule = stopping(table.study)
    if rule and rule.misses_precision(sample.scores(table.view.primary)):
        yield "imprecise"
    if any(row.n_survivors for row in sample.succeeded):
        yield "survivors"


@dataclass(frozen=True)
class QualityFlags:
    """The quality flags of a study.

    Attributes:
        reasons: a caveat per kind; of the whole study if many configurations are flagged, or the claim rests on them.
        grave: those of configurations without any usable value, however few.
        percent: bias bound of the others; None if unbounded.
        accuracy: the same as a fact.
        is_open: whether the claim is inconclusive.
    """

    reasons: Sequence[Caveat] = ()
    grave: Sequence[Caveat] = ()
    percent: int | None = None
    accuracy: Sequence[Caveat] = ()
    is_open: bool = False


def summarize_flags(table: Table, flags: FlagsByKey, bound: Mapping[Key, float], claim: Claim | None) -> QualityFlags:
    """Summarize the flags by kind, and the systematic error of the configurations without one."""
    every = (cell for row in claim.matrix.rows for cell in row.cells) if claim and claim.matrix else ()
    cells = [cell for cell in every if cell.text or cell.estimate]
    of_claim = sum(bool(cell.doubt) for cell in cells)
    used = _flagged_cells(claim, claim.matrix) if claim and claim.matrix else {}
    n = len(table.configurations) if table.view.basis == "configurations" else len({*bound, *flags})
    whole = len(flags) > MANY * n or of_claim > MANY * len(cells) > 0
    response, reasons = table.view.response, dict[str, Caveat]()
    scale = table.view.kind or ("time" if response.unit in SECONDS else "value")
    for kind, count in Counter(kind for kind, _ in flags.values()).most_common():
        code = scaled if (scaled := f"{kind} {scale}") in CATALOG else kind
        reasons[kind] = Caveat(code, {"n": count, "of": n}, whole)
    if (used or of_claim > MANY * len(cells) > 0) and not (whole and reasons):
        reasons["answer"] = _answer_caveat(used, cells)
    is_open = claim is not None and not claim.answered
    caveats, grave = [*reasons.values()], [reasons[kind] for kind in ("physics", "none") if kind in reasons][:1]
    off = [value for key, value in bound.items() if key not in flags]
    if table.view.basis != "configurations" or not off or len(off) < len(flags):
        return QualityFlags(caveats, grave, is_open=is_open)
    percent = max(1, math.ceil(round(100 * max(off), 6)))
    if claim and (least := least_effect(claim)) is not None and least <= percent / 100:
        caveats.append(Caveat("small", {"effect": 100 * least, "percent": percent}))
    error = Caveat("error", {"percent": percent, "n": len(flags) or None})
    return QualityFlags(caveats, grave, percent, [error], is_open)


def _nested_estimates(values: Iterable[object]) -> list[Estimate]:
    """Return the estimates among values that have one, however they are nested."""
    estimates, left = list[Estimate](), [*values]
    while left:
        value = left.pop()
        if isinstance(value, Estimate) and value.value is not None:
            estimates.append(value)
        elif isinstance(value, list | tuple):
            left += value
    return estimates


def _flagged_cells(claim: Claim, matrix: Matrix) -> dict[str, str]:
    """Return the flags of cells whose numbers the answer uses, by row and column."""
    claimed = _nested_estimates(value for case in claim.cases for value in case.values.values())
    places = [(row.label, *x) for row in matrix.rows for x in zip(matrix.columns, row.cells, strict=True)]
    return {
        f"{label}, {column}".removeprefix(", "): cell.doubt
        for label, column, cell in places if cell.doubt and any(cell.estimate == e for e in claimed)
    }  # fmt: skip


def _answer_caveat(used: Mapping[str, str], cells: Sequence[MatrixCell]) -> Caveat:
    flags = Counter(used.values() or [cell.doubt for cell in cells if cell.doubt])
    flag, _ = flags.most_common(1)[0]
    where = next((cell for cell, doubt in used.items() if doubt == flag), "")
    values = {"n": flags.total(), "of": len(cells), "flag": flag, "where": where, "more": len(used) - 1 or None}
    return Caveat("flagged" if used else "flags shown", values)


EFFECT = "gain"  # the value of a case that is a ratio over a baseline: a claimed effect


def least_effect(claim: Claim) -> float | None:
    """Return the smallest claimed effect, as a share; None where the answer claims none."""
    gains = (e.value for e in _nested_estimates(case.values.get(EFFECT) for case in claim.cases))
    return min((math.expm1(abs(math.log(gain))) for gain in gains if gain), default=None)


QUIET = 0.005  # the share of its time that was taken from a quiet run: quiet machines show as much
COST = 2.4  # runs from which 2% was taken were 4.8% longer
MIN_RUNS = 8  # of either kind, beside one of the other: fewer tell little of what it costs
_Z = 2.58  # 99%: noise alone is to widen no bound

Numbers = NDArray[np.float64]


class _Losses(NamedTuple):
    """CPU time lost to interference in the runs of a configuration.

    Attributes:
        most: upper bound of what that cost each run, as a share; infinite if unbounded.
        quiet: whether hardly anything was lost.
    """

    most: Numbers
    quiet: NDArray[np.bool_]


def bias_bounds(table: Table, samples: SampleMap) -> dict[Key, float]:
    """Bound the bias of each configuration's primary response, as a share; infinite if unbounded."""
    name = table.view.primary
    losses = {key: _losses(sample.rows(name)) for key, sample in samples.items() if sample.rows(name)}
    pairs, bounds = [], {}
    for key, lost in losses.items():
        scores = samples[key].values(name)
        pairs.append(tuple(np.log(scores[kind & (scores > 0)]) for kind in (lost.quiet, ~lost.quiet)))
    cost = _cost(pairs)
    for key, lost in losses.items():
        # What others show does not hold where most runs are unverified.
        seen = None if is_mostly_unverified(samples[key]) else cost
        each = np.where(lost.quiet, lost.most, np.maximum(lost.most, cost or 0.0) if seen is None else seen)
        bounds[key] = math.fsum(each.tolist()) / each.size
    return bounds


def _losses(rows: Sequence[Row]) -> _Losses:
    shares = np.array([row.taken for row in rows], dtype=np.float64)  # None becomes NaN
    clean = np.array([row.verdict == "clean" for row in rows])
    return _Losses(np.where(np.isnan(shares), np.inf, COST * shares), clean & (shares < QUIET))


def _cost(groups: Iterable[tuple[Numbers, ...]]) -> float | None:
    """Return the upper end of the cost of interference; None if it may be chance or runs are too few."""
    both = [pair for pair in groups if pair[0].size and pair[1].size]
    if min((sum(pair[kind].size for pair in both) for kind in (0, 1)), default=0) < MIN_RUNS:
        return None
    squares = [sum(float(((kind - kind.mean()) ** 2).sum()) for kind in pair) for pair in both]
    freedom = [pair[0].size + pair[1].size - 2 for pair in both]
    variances = [square / free for square, free in zip(squares, freedom, strict=True) if free]
    typical = median(variances) if variances else 0.0
    noise = [max(s / f if f else 0.0, typical, 1e-12) for s, f in zip(squares, freedom, strict=True)]
    weights = np.array([q.size * o.size / (q.size + o.size) / var for (q, o), var in zip(both, noise, strict=True)])
    shifts = np.array([o.mean() - q.mean() for q, o in both])
    mean = float((weights * shifts).sum() / weights.sum())
    # Configurations that differ in what it costs them by more than their noise make the mean less certain.
    unlike = float((weights * (shifts - mean) ** 2).sum()) / max(1, len(both) - 1)
    error = _Z * math.sqrt(max(1.0, unlike) / float(weights.sum()))
    return math.expm1(abs(mean) + error) if abs(mean) > error else None


# True of many honest programs (they wait for a disk, or ask another source for the CPUs): no flag of a configuration.
HARMLESS: tuple[PhysicsGate, ...] = ("baseline off the CPU", "believes in other CPUs")


def flag_physics(table: Table, curves: Sequence[Curve], samples: Mapping[Key, Sample]) -> dict[Key, str]:
    """Flag each point that violates a physics check.

    Returns:
        The violated check of each configuration, except the harmless ones.
    """
    gates: dict[Key, str] = {}
    if not table.study.baseline:
        return gates
    factor = table.view.cpu_factor
    for curve in curves:
        alike = [c for c in curves if factor and {**c.group, factor: None} == {**curve.group, factor: None}]
        is_whole = {id(c): bool(samples[point_key(table, c, c.points[0])].whole) for c in (curve, *alike)}
        siblings = [c for c in alike if is_whole[id(c)] == is_whole[id(curve)]]
        for objection in (*_curve_objections(table, curve, samples), *_cpu_count_objections(table, curve, siblings)):
            point = next(p for p in curve.points if p.level == objection.n)
            if objection.gate != "speedup above the CPUs":  # the warnings of the point hold that
                point.flags.append(Flag(objection.gate, f"{objection.gate}: {objection.text}"))
            if objection.gate not in HARMLESS:
                gates.setdefault(point_key(table, curve, point), objection.gate)
    return gates


def _curve_objections(table: Table, curve: Curve, samples: Mapping[Key, Sample]) -> list[PhysicsFlag]:
    baseline = table.study.baseline[curve.factor]
    # Levels that count no workers have no n: nothing to hold physics against.
    is_placed = table.study.factors[curve.factor].control is not None
    if is_placed or table.study.is_driven or not isinstance(baseline, int):
        return []
    counted = [p for p in curve.points if isinstance(p.level, int) and p.level >= 1 and p.n_cpus]
    observed = [_observe(table.view, p, samples[point_key(table, curve, p)]) for p in counted]
    members = [samples[point_key(table, curve, p)] for p in counted]
    waits = outgrows_cpus(table, curve.factor, members)
    return physics_flags(observed, baseline, table.study.work, waits)


def _observe(view: StudyView, point: Point, sample: Sample) -> ObservedLevel:
    works = {row.work for row in sample.counted}
    believed = _read_estimate(view, point, "value.believed_cpus")
    return ObservedLevel(
        n=int(point.level), n_cpus=point.n_cpus or 1,
        wall=_read_estimate(view, point, _elapsed_source(view)), cpu=_read_estimate(view, point, "window.cpu"),
        speedup=point.simultaneous,  # of many levels one will err: the interval that holds for all of them at once
        work=works.pop() if len(works) == 1 else None,
        believed_cpus=round(believed.value) if believed and believed.value is not None else None,
    )  # fmt: skip


def _elapsed_source(view: StudyView) -> str:
    """Return the source of the elapsed time that the study uses."""
    return view.response.source if view.response.source in CORRECTED else "window.wall"


def _read_estimate(view: StudyView, point: Point, source: str) -> Estimate | None:
    name = view.find_response(source)
    return point.responses[name].estimate if name in point.responses else None


def _cpu_count_objections(table: Table, curve: Curve, siblings: Sequence[Curve]) -> Iterator[PhysicsFlag]:
    """Check the baseline of this curve against that of its sibling on the fewest CPUs."""
    factor = table.view.cpu_factor
    # A baseline of several workers may contend on more CPUs: its CPU time says nothing.
    grows = table.study.baseline[curve.factor] != 1 or table.study.factors[curve.factor].control is not None
    if factor is None or factor not in curve.group or grows:
        return
    level = table.study.baseline[curve.factor]
    points = {int(c.group[factor]): p for c in siblings for p in c.points if p.level == level}
    times = {n: _read_estimate(table.view, point, "window.cpu") for n, point in points.items()}
    by_cpus = cpu_time_across({n: cpu for n, cpu in times.items() if cpu is not None})
    if (objection := by_cpus.get(int(curve.group[factor]))) is not None:
        yield PhysicsFlag(objection.gate, int(level), objection.text)
