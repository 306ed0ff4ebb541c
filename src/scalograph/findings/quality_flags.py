"""Quality flags: configurations whose values cannot be used as they are, and why."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.design.stopping_rule import stopping
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import point_key
from scalograph.findings.row import Key
from scalograph.findings.sample import Sample, is_functional, is_mostly_unverified
from scalograph.findings.table import Table
from scalograph.findings.whole_run import is_late, is_unsteady
from scalograph.protocol.findings import Claim, Curve, MatrixCell
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
    elif sample.falls_back and table.view.primary not in sample.cpu_responses:
        yield "disturbed"
    elif len(sample.counted) == 1 and table.view.basis == "configurations":
        yield "single"
    if sample.n_unverified and any(map(is_functional, sample.succeeded)):
        yield "functional"
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
    of_claim, used = sum(bool(cell.doubt) for cell in cells), _flagged_cells(claim) if claim else []
    n = len(table.configurations) if table.view.basis == "configurations" else len({*bound, *flags})
    whole = len(flags) > MANY * n or of_claim > MANY * len(cells) > 0
    response, reasons = table.view.response, dict[str, Caveat]()
    scale = table.view.kind or ("time" if response.unit in SECONDS else "value")
    for kind, count in Counter(kind for kind, _ in flags.values()).most_common():
        code = scaled if (scaled := f"{kind} {scale}") in CATALOG else kind
        reasons[kind] = Caveat(code, {"n": count, "of": n} if n > 1 else {"one": "the only configuration"}, whole)
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


def _flagged_cells(claim: Claim) -> list[MatrixCell]:
    """Return the flagged cells of the matrix whose numbers the sentences carry."""
    claimed = _nested_estimates(value for case in claim.cases for value in case.values.values())
    cells = (cell for row in claim.matrix.rows for cell in row.cells) if claim.matrix else ()
    return [cell for cell in cells if cell.doubt and any(cell.estimate == e for e in claimed)]


def _answer_caveat(used: Sequence[MatrixCell], cells: Sequence[MatrixCell]) -> Caveat:
    flags = Counter(cell.doubt for cell in used or cells if cell.doubt)
    values = {"n": flags.total(), "of": len(cells), "flag": flags.most_common(1)[0][0]}
    return Caveat("flagged" if used else "flags shown", values)


EFFECT = "gain"  # the value of a case that is a ratio over a baseline: a claimed effect


def least_effect(claim: Claim) -> float | None:
    """Return the smallest claimed effect, as a share; None where the answer claims none."""
    gains = (e.value for e in _nested_estimates(case.values.get(EFFECT) for case in claim.cases))
    return min((math.expm1(abs(math.log(gain))) for gain in gains if gain), default=None)
