"""Quality flags: configurations whose values cannot be used as they are, and why."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from scalograph.design.stopping_rule import stopping
from scalograph.findings.answer import Caveat, SampleMap
from scalograph.findings.curves import point_key
from scalograph.findings.row import Key
from scalograph.findings.sample import Sample, is_functional, is_mostly_unverified
from scalograph.findings.table import Table
from scalograph.findings.whole_run import is_late, is_unsteady
from scalograph.protocol.findings import Claim, Curve
from scalograph.text.quantities import count_noun, percent_at_most
from scalograph.text.scale import SECONDS

# Past this share of flagged configurations, or of flagged numbers of the claim, the study is doubted.
MANY = 1 / 3
# An estimate whose bias bound is over three times the typical one is flagged, within these limits.
LIMITS, FAR = (0.05, 0.10), 3

_FUNCTIONAL, _FEWER = "functional, not timing: figures of time are left out", "to fewer CPUs than"
# Kind of flag -> what such configurations do, of one and of several, and the effect on the result.
_KINDS = {
    "none": ("has no successful run", "have no successful run", "they are missing"),
    "disturbed": ("rests on disturbed runs", "rest on disturbed runs", "their times are too long"),
    "baseline": ("has a disturbed baseline", "have a disturbed baseline", "their speedups are too high"),
    "timeout": ("lost runs at the timeout", "lost runs at the timeout", "what is left is the faster part"),
    "physics": ("cannot be as measured", "cannot be as measured", "do not build on them"),
    "functional": ("ran in an emulated guest", "ran in emulated guests", _FUNCTIONAL),
    "unverified": ("rests on unverified runs", "rest on unverified runs", "their times may be too long"),
    "off": ("may be off by 5 % or more", "may be off by 5 % or more", "runs that lost a little time count too"),
    "unsteady": ("reaches no steady state", "reach no steady state", "no iteration stands for them"),
    "late": ("warms up for too long", "warm up for too long", "a larger `warmup` would leave that out"),
    "cold": ("had cold first runs", "had cold first runs", "a larger `warmup_runs` would leave them out"),
    "single": ("has one run", "have one run", "they have no interval"),
    "imprecise": ("is less precise than asked", "are less precise than asked", "more runs would help"),
    "confined": (f"keeps {_FEWER} it was given", f"keep {_FEWER} they were given", "their programs chose so"),
    "survivors": ("left processes behind", "left processes behind", "their CPU time may be missing"),
}
_EFFECT_ON_ONE = {
    "none": "it is missing",
    "disturbed": "its times are too long",
    "baseline": "its speedups are too high",
    "physics": "do not build on it",
    "unverified": "its times may be too long",
    "unsteady": "no iteration stands for it",
    "single": "it has no interval",
    "confined": "its program chose so",
    "survivors": "its CPU time may be missing",
}
# The effect of disturbance on values that are no times, of one configuration or several: rates, and any others.
_EFFECT_BY_SCALE: Mapping[str | None, Mapping[str, str]] = {
    "time": {},
    "rate": {"disturbed": "rates are too low", "unverified": "rates may be too low"},
    None: dict.fromkeys(("disturbed", "unverified"), "disturbance may have changed the figures"),
}
# Code of a flag of a point -> kind of flag here, and its text.
_FLAGS = {
    "disturbed baseline": ("baseline", "its baseline rests on disturbed runs"),
    "cold start": ("cold", "its first runs were cold"),
}
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
    reported = {k: dict(_FLAGS[code] for code in codes & _FLAGS.keys()) for k, codes in flags.items()}
    for row in table.rows:
        if row.status == "timeout" and not row.warmup:
            reported.setdefault(row.key, {})["timeout"] = "lost runs at the timeout"
    for k, gate in gates.items():
        reported.setdefault(k, {})["physics"] = gate
    limit = min(max(FAR * median(bound.values() or [0.0]), LIMITS[0]), LIMITS[1])
    far = {k: off for k, off in bound.items() if off > limit}
    reasons = {k: [*reported.get(k, {}).items(), *_sample_reasons(table, s, far.get(k))] for k, s in samples.items()}
    order = list(_KINDS)
    gravest = {k: min(every, key=lambda reason: order.index(reason[0])) for k, every in reasons.items() if every}
    for k, point in points.items():
        point.doubt = gravest.get(k, ("", ""))[1]
    return gravest


def _sample_reasons(table: Table, sample: Sample, off: float | None) -> Iterator[tuple[str, str]]:
    n = len(sample.succeeded)
    if not n:
        yield "none", "no successful run"
    elif sample.falls_back and table.view.primary not in sample.cpu_responses:
        yield "disturbed", "rests on disturbed runs"
    elif len(sample.counted) == 1 and table.view.basis == "configurations":
        yield "single", "one run"
    if sample.n_unverified and any(map(is_functional, sample.succeeded)):
        yield "functional", "functional, not timing"
    if off is not None and not sample.falls_back:
        if is_mostly_unverified(sample) or off == math.inf:
            yield "unverified", f"{sample.n_unverified} of {n} runs unverified"
        else:
            yield "off", f"may be off by {percent_at_most(off)}: runs lost time"
    if is_unsteady(sample):
        yield "unsteady", "no steady state"
    elif is_late(table.study, sample):
        yield "late", "still warming up"
    rule = stopping(table.study)
    if rule and rule.misses_precision(sample.scores(table.view.primary)):
        yield "imprecise", "less precise than asked"
    if kept := [row.kept_to for row in sample.succeeded if row.kept_to]:
        yield "confined", kept[0]
    if any(row.n_survivors for row in sample.succeeded):
        yield "survivors", "left processes behind"


@dataclass(frozen=True)
class QualityFlags:
    """The quality flags of a study.

    Attributes:
        reasons: a caveat per kind; of the whole study if many configurations are flagged, or the claim rests on them.
        grave_caveat: that of configurations without any usable value, however few.
        percent: bias bound of the others; None if unbounded.
        accuracy_text: the same in words.
    """

    reasons: Sequence[Caveat] = ()
    grave_caveat: Caveat | None = None
    percent: int | None = None
    accuracy_text: str = ""


def summarize_flags(table: Table, flags: FlagsByKey, bound: Mapping[Key, float], claim: Claim | None) -> QualityFlags:
    """Summarize the flags by kind, and the systematic error of the configurations without one."""
    cells = [cell for row in claim.matrix.rows for cell in row.cells] if claim and claim.matrix else []
    of_claim = sum(bool(cell.doubt) for cell in cells)
    n = len(table.configurations) if table.view.basis == "configurations" else len({*bound, *flags})
    whole = len(flags) > MANY * n or of_claim > MANY * len(cells) > 0
    response, reasons = table.view.response, dict[str, Caveat]()
    scale = table.view.kind or ("time" if response.unit in SECONDS else None)
    for kind, count in Counter(kind for kind, _ in flags.values()).most_common():
        singular, several, effect = _KINDS[kind]
        effect = _EFFECT_BY_SCALE[scale].get(kind) or (_EFFECT_ON_ONE.get(kind, effect) if count == 1 else effect)
        which = "the only configuration" if n == 1 else f"{count} of {count_noun(n, 'configuration')}"
        reasons[kind] = Caveat(f"{which} {singular if count == 1 else several}", effect, whole)
    caveats, grave = [*reasons.values()], next((reasons[kind] for kind in ("physics", "none") if kind in reasons), None)
    off = [value for key, value in bound.items() if key not in flags]
    if table.view.basis != "configurations" or not off or len(off) < len(flags):
        return QualityFlags(caveats, grave)
    percent = max(1, math.ceil(round(100 * max(off), 6)))
    but = f", except in {count_noun(len(flags), 'marked configuration')}" if flags else ""
    return QualityFlags(caveats, grave, percent, f"right within the intervals and \N{PLUS-MINUS SIGN}{percent} %{but}")
