"""The noise floor of an A/A study: how much its runs differ; and the quick check of the saved one before a study."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
from scipy.special import chdtri, fdtr, fdtrc

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.analysis.quantiles import student_t
from scalograph.analysis.ratios import paired_ratio
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.noise_floor import (
    Floor,
    FloorDifference,
    FloorPart,
    FloorSpread,
    Move,
    Recheck,
    Reference,
    SavedNoise,
    SpreadChange,
)
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.run.session import FinishedRun, run_in_memory
from scalograph.study.declare import declare_shipped
from scalograph.study.responses import windows
from scalograph.text.quantities import two_digits
from scalograph.text.warning_catalog import NAMES
from scalograph.verdict.cause import COUNTED
from scalograph.verdict.undisturbed import corrected_times

# A variance of fewer runs than this has no kurtosis worth the name.
MIN_SPREAD_RUNS = 5


def spread(groups: Sequence[Sequence[float]], confidence: float = 0.95) -> FloorSpread | None:
    """Compute the standard deviation of log scores within groups, pooled, with its chi-square interval.

    A few slow runs make a variance less sure than normal theory says: the interval and `df` allow for it. Scores are
    above zero; a group of one says nothing. None where fewer than five runs are left, or all are identical (the clock
    is too coarse).

    >>> pooled = spread([[1.00, 1.02, 0.98, 1.01, 0.99], [2.0, 2.02, 1.98, 2.04, 1.96]])
    >>> round(pooled.sd_log_percent, 2), round(pooled.df, 1)
    (1.58, 8.0)
    """
    logs = [np.log(group) for group in groups if len(group) > 1]
    away = np.concatenate([log - log.mean() for log in logs]) if logs else np.empty(0)
    n, freedom, squares = away.size, away.size - len(logs), float(np.square(away).sum())
    if n < MIN_SPREAD_RUNS or squares == 0:
        return None
    kurtosis = max(1.0, float(n * (away**4).sum() / squares**2))
    df = effective_df(freedom + 1, kurtosis)
    sd = math.sqrt(squares / freedom)
    tail = (1 - confidence) / 2
    low, high = (sd * math.sqrt(df / chdtri(df, p)) for p in (tail, 1 - tail))
    return FloorSpread(
        sd_log_percent=100 * sd, low=100 * low, high=100 * high if math.isfinite(high) else None,
        confidence=confidence, df=df, kurtosis=kurtosis,
    )  # fmt: skip


def effective_df(n: int, kurtosis: float) -> float:
    """Return the degrees of freedom that the variance of n scores is worth; n - 1 for normal ones, and never more.

    2n / (kurtosis - (n - 3)/(n - 1)): the chi-square that varies as much as such a sample variance does.

    Source: L. H. Shoemaker, Fixing the F test for equal variances, Am. Statistician 57 (2003), test F1; after
    G. E. P. Box, Non-normality and tests on variances, Biometrika 40 (1953).

    >>> effective_df(10, 3.0), round(effective_df(10, 9.0), 2)
    (9.0, 2.43)
    """
    if n < 2:
        return 0.0
    return min(n - 1.0, 2 * n / (kurtosis - (n - 3) / (n - 1)))


def detectable_effects(sd_log_percent: float, counts: Sequence[int] = (3, 5, 10, 20)) -> dict[int, float]:
    """Return the smallest effect that so many runs of each configuration detect at 80% power, in percent.

    >>> {n: round(effect, 1) for n, effect in detectable_effects(3.0).items()}
    {3: 9.5, 5: 6.2, 10: 4.1, 20: 2.8}
    """
    effects = {n: minimum_detectable_effect(sd_log_percent / 100, n) for n in counts}
    return {n: 100 * math.expm1(effect) for n, effect in effects.items() if effect is not None}


STUDY, RESPONSE = "noise-floor", "wall"
# A second look before a study takes so many runs; the kept ones are cut into stretches as long.
STRETCH = 10
# Fewer stretches than this say too little of how their medians differ.
MIN_STRETCHES = 3
# Two A/A differences are looked at each time: at 95% every tenth machine would be suspected for nothing.
AA_CONFIDENCE = 0.99
# Fewer runs that count make a floor that nothing can be held against.
MIN_RUNS = 20


def noise_floor(table: Table) -> Floor:
    """Compute the noise floor from the runs of the study `noise-floor`.

    Only runs count that succeeded and were not disturbed by a measured cause; none is excluded for its value. Where
    some were corrected, all count by undisturbed time.
    """
    name = table.view.primary
    rows = [row for row in table.rows if not row.warmup]
    levels = sorted({int(row.configuration["cpus"]) for row in rows})
    by_level = {level: [row for row in rows if row.configuration["cpus"] == level] for level in levels}
    parts = tuple(floor_part(rows, level, name) for level, rows in by_level.items())
    return Floor(parts=parts, warnings=tuple(text for part in parts for text in _find_flags(part)))


def floor_part(rows: Sequence[Row], n_cpus: int, name: str = RESPONSE) -> FloorPart:
    """Compute the floor of a response on so many CPUs, from its runs in the order in which they were made."""
    counted = [row for row in rows if row.status == "ok" and row.verdict in COUNTED and name in row.scores]
    failed = [row for row in rows if row.status != "ok"]
    causes, worst = _count_causes([row for row in rows if row.status == "ok" and row.verdict not in COUNTED])
    scores = [row.scores[name] for row in counted]
    groups: dict[str, list[float]] = {}
    for row in counted:
        groups.setdefault(str(row.configuration["label"]), []).append(row.scores[name])
    pooled = spread(list(groups.values()))
    return FloorPart(
        n_cpus=n_cpus, n=len(counted), n_failed=len(failed), n_disturbed=len(rows) - len(counted) - len(failed),
        causes=causes, worst=worst, median_s=median(scores) if scores else None, spread=pooled,
        detectable_percent=detectable_effects(pooled.sd_log_percent) if pooled else {},
        difference=aa_difference(counted, name), reference=consecutive_reference(scores),
    )  # fmt: skip


def is_reliable(part: FloorPart) -> bool:
    """Return whether most runs of a part count, and enough of them."""
    return part.n >= MIN_RUNS and 2 * part.n >= part.n_runs and part.spread is not None


def aa_difference(rows: Sequence[Row], name: str = RESPONSE) -> FloorDifference | None:
    """Compute A over B, paired by block, so that a drift of the machine cancels; None below two blocks with both."""
    blocks: dict[int, dict[str, float]] = {}
    for row in rows:
        blocks.setdefault(row.block, {})[str(row.configuration["label"])] = row.scores[name]
    pairs = [pair for pair in blocks.values() if {"A", "B"} <= pair.keys()]
    if len(pairs) < 2:
        return None
    ratio = paired_ratio([pair["A"] for pair in pairs], [pair["B"] for pair in pairs], AA_CONFIDENCE)
    percent, low, high = (None if x is None else 100 * (x - 1) for x in (ratio.value, ratio.low, ratio.high))
    return FloorDifference(percent=percent, low=low, high=high, confidence=AA_CONFIDENCE, n=ratio.n)


def consecutive_reference(scores: Sequence[float], runs: int = STRETCH) -> Reference | None:
    """Compute what `runs` consecutive runs show; None where there are too few stretches, or nothing varies.

    `scores` are seconds, in the order in which the runs were made.
    """
    stretches = [scores[i : i + runs] for i in range(0, len(scores) - runs + 1, runs)]
    within = spread(stretches) if len(stretches) >= MIN_STRETCHES else None
    if within is None:
        return None
    medians = [math.log(median(stretch)) for stretch in stretches]
    return Reference(
        runs=runs, spread=within, median_s=math.exp(fmean(medians)),
        between_log_percent=100 * stdev(medians), n=len(stretches),
    )  # fmt: skip


def _count_causes(rows: Sequence[Row]) -> tuple[dict[str, int], str | None]:
    """Return the causes with the runs that each disturbed, most first, and the largest in words."""
    causes = [cause for row in rows for cause in row.causes]
    counts = Counter(name for row in rows for name in {cause.cause for cause in row.causes})
    worst = max(causes, key=lambda cause: cause.amount or 0.0, default=None)
    return dict(counts.most_common()), None if worst is None else worst.text


def _find_flags(part: FloorPart) -> list[str]:
    where = f"on {part.n_cpus} CPU{'s' * (part.n_cpus > 1)}"
    flags = []
    if part.n < MIN_RUNS:
        flags.append(f"{where} only {part.n} of {part.n_runs} runs count: too few for a floor")
    elif 2 * part.n < part.n_runs:
        flags.append(f"{where} only {part.n} of {part.n_runs} runs count: a busy machine, not its floor")
    if part.difference and part.difference.is_false:
        d = part.difference
        flags.append(
            f"{where} A differs from B by {d.percent:.2g}% [{d.low:.2g} .. {d.high:.2g}], and they are the same work: "
            "the machine drifts, or the method is wrong"
        )
    return flags


UNKNOWN = "not known"


def floor_rows(floor: Floor) -> Iterator[list[str]]:
    """Yield a heading, then a row for each value: its title, and the value for each number of CPUs."""
    yield ["the same work", *(f"on {part.n_cpus} CPU{'s' * (part.n_cpus > 1)}" for part in floor.parts)]
    for title, cell in _ROWS:
        yield [title, *(cell(part) for part in floor.parts)]
    for n in sorted({n for part in floor.parts for n in part.detectable_percent}):
        yield [f"smallest effect, {n} runs each", *(_percent(part.detectable_percent.get(n)) for part in floor.parts)]


def _disturbed_rows(part: FloorPart) -> str:
    share = 100 * (part.n_runs - part.n) / part.n_runs if part.n_runs else 0
    causes = [f"{NAMES.get(name, name)} {n}" for name, n in part.causes.items()]
    causes += [f"failed {part.n_failed}"] * bool(part.n_failed)
    return f"{share:.0f}%" + (f" ({', '.join(causes)})" if causes else "")


def _spread(part: FloorPart) -> str:
    spread = part.spread
    if spread is None:
        return UNKNOWN
    low, high = ("" if end is None else two_digits(end) for end in (spread.low, spread.high))
    return f"{two_digits(spread.sd_log_percent)}% [{low} .. {high}]"


def _difference(part: FloorPart) -> str:
    d = part.difference
    if d is None or d.percent is None or d.low is None or d.high is None:
        return UNKNOWN
    return f"{d.percent:+.2g}% [{d.low:+.2g} .. {d.high:+.2g}]" + (", not 0" if d.is_false else "")


def _percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{two_digits(value)}%"


_ROWS: tuple[tuple[str, Callable[[FloorPart], str]], ...] = (
    ("runs that count", lambda part: f"{part.n} of {part.n_runs}"),
    ("disturbed or failed", _disturbed_rows),
    ("median time", lambda part: UNKNOWN if part.median_s is None else f"{part.median_s:.4g} s"),
    ("runs differ by (sd of logs)", _spread),
    ("ten runs on end differ by",
     lambda part: _percent(part.reference.spread.sd_log_percent if part.reference else None)),
    ("A over B (99%)", _difference),
)  # fmt: skip


# Every study may ask: at 1% one quiet session in a hundred sees a change that is none.
ALPHA = 0.01


def compare_spread(kept_sd: float, kept_df: float, now_sd: float, now_df: float, alpha: float = ALPHA) -> SpreadChange:
    """Compare two variances of log times, two-sided F test: is the noise now higher, lower, or not known to differ?

    It assumes independent runs of the same work, under the same conditions of measurement, whose log times are normal.
    Where they are not, the nominal degrees of freedom call ordinary changes significant: give those that the
    variances are worth (`effective_df`). Runs that were disturbed by a measured cause are excluded before.
    `alpha` is the chance of a false "higher" or "lower", both together; ValueError if it is no probability.

    Returns "unknown" where one of the two has no spread or less than one degree of freedom.

    Source: G. W. Snedecor and W. G. Cochran, Statistical methods, 1989, 6.12 (the test); Shoemaker 2003 (the degrees).

    >>> compare_spread(1.0, 90, 3.0, 9), compare_spread(1.0, 90, 1.2, 9), compare_spread(1.0, 90, 0.0, 9)
    ('higher', 'no', 'unknown')
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: found {alpha}, expected a number between 0 and 1, such as 0.01")
    figures = (kept_sd, kept_df, now_sd, now_df)
    if not all(map(math.isfinite, figures)) or min(kept_sd, now_sd) <= 0 or min(kept_df, now_df) < 1:
        return "unknown"
    quotient = (now_sd / kept_sd) ** 2
    if fdtrc(now_df, kept_df, quotient) < alpha / 2:
        return "higher"
    return "lower" if fdtr(now_df, kept_df, quotient) < alpha / 2 else "no"


def compare_median(kept: Reference, now_s: float, n: int, alpha: float = ALPHA) -> Move:
    """Compare a median of n runs, in seconds, with a prediction interval from the saved stretches.

    Fewer runs than a stretch has make the median less sure; as if all of its variation came from them. `alpha` is the
    chance of a false answer, both ends together.

    Source: G. J. Hahn, Factors for calculating two-sided prediction intervals, J. Am. Stat. Assoc. 64 (1969), m = 1.
    """
    if kept.between_log_percent <= 0 or n < 1 or now_s <= 0:
        return "unknown"
    share = 1 / kept.n + max(1.0, kept.runs / n)
    half = student_t(1 - alpha / 2, kept.n - 1) * kept.between_log_percent / 100 * math.sqrt(share)
    delta = math.log(now_s / kept.median_s)
    return "no" if abs(delta) <= half else "slower" if delta > 0 else "faster"


def compare_with_floor(
    kept: Reference, kept_at: str, scores: Sequence[float], n_disturbed: int = 0, alpha: float = ALPHA
) -> Recheck:
    """Compare runs of now with the saved stretches, which as many consecutive runs showed at `kept_at`.

    `scores` are seconds of the runs that count, and `n_disturbed` those that do not; `alpha` is the chance of a false
    answer, of each of the two questions.
    """
    current = spread([scores])
    # Ten runs cannot tell how heavy their tails are; the many that were kept can.
    df = effective_df(len(scores), kept.spread.kurtosis) if current else None
    now_s = median(scores) if scores else None
    if current is None or df is None or now_s is None:
        changed: SpreadChange = "unknown"
        move: Move = "unknown"
    else:
        changed = compare_spread(kept.spread.sd_log_percent, kept.spread.df, current.sd_log_percent, df, alpha)
        move = compare_median(kept, now_s, len(scores), alpha)
    sd = current.sd_log_percent if current else None
    percent = None if now_s is None else 100 * (now_s / kept.median_s - 1)
    return Recheck(
        sd_log_percent=sd, df=df, median_s=now_s, n=len(scores), n_disturbed=n_disturbed,
        kept_sd_log_percent=kept.spread.sd_log_percent, kept_median_s=kept.median_s, kept_at=kept_at,
        changed=changed, moved=move, moved_percent=percent,
        sentence=_sentence(changed, move, sd, percent, kept, kept_at, len(scores), n_disturbed),
    )  # fmt: skip


def _sentence(
    changed: SpreadChange, move: Move, sd: float | None, percent: float | None,
    kept: Reference, kept_at: str, n: int, n_disturbed: int,
) -> str:  # fmt: skip
    of = f"{n} of {n + n_disturbed} runs" if n_disturbed else f"{n} runs"
    if changed == "unknown" or sd is None or percent is None:
        text = f"whether the noise is that of {kept_at} is not known: {of} of the same work count"
        return text + _describe_move(move, percent)
    then = f"{two_digits(kept.spread.sd_log_percent)}% on {kept_at}"
    spread = {"higher": "more than", "lower": "less than", "no": "about the same as"}[changed]
    noise = f"{of} of the same work differ by {two_digits(sd)}%, {spread} the {then}"
    return noise + _describe_move(move, percent)


def _describe_move(move: Move, percent: float | None) -> str:
    if move in ("no", "unknown") or percent is None:
        return ""
    longer = "longer" if move == "slower" else "less"
    return f"; it takes {two_digits(abs(percent))}% {longer} than then, beyond what such runs vary"


_LEVELS: Mapping[str, list[Any]] = {"label": ["A"], "cpus": [1]}


def recheck(host: Host, kept: SavedNoise, alpha: float = ALPHA) -> Recheck | None:
    """Run the work of the noise floor ten times on one CPU (about 3 s) and compare it with the saved noise.

    `kept` must be of this machine (`SavedNoise.is_of`); `alpha` is the chance of a false "higher" or "lower", and of a
    false "slower" or "faster". None where `kept` has nothing to compare with: an earlier form, or too few runs.
    Whoever calls it has the machine to itself. Raises HostError: there is no compiler; KeyboardInterrupt: a signal.
    """
    if kept.floor is None or kept.floor.single_cpu is None or kept.floor.single_cpu.reference is None:
        return None
    planned = host.ready(plan_recheck(host.facts()), lambda text: None)
    scores, n_disturbed = score_runs(run_in_memory(planned, Runner(planned, host)))
    return compare_with_floor(kept.floor.single_cpu.reference, kept.at, scores, n_disturbed, alpha)


def plan_recheck(facts: HostFacts) -> Plan:
    """Plan the study of the floor with one label, one CPU, as many runs as a stretch has, none of them repeated."""
    declared = declare_shipped(STUDY)
    study = declared.study
    factors = {name: study.factors[name].model_copy(update={"levels": levels}) for name, levels in _LEVELS.items()}
    protocol = study.protocol.model_copy(update={"runs": STRETCH, "max_reruns": 0})
    changed = study.model_copy(update={"factors": factors, "protocol": protocol})
    return plan(replace(declared, study=changed), facts)


def typical_window(record: Record) -> float:
    """Return the median time of the iterations of a run in s, corrected if others took 2%."""
    return median(corrected_times(record, "window.wall", 0) or windows(record).wall_s)


def score_runs(runs: Sequence[FinishedRun]) -> tuple[list[float], int]:
    """Return seconds of the runs that count, in order, and how many were disturbed or failed."""
    scores = [typical_window(run.record) for run in runs if run.verdict in COUNTED]
    return scores, len(runs) - len(scores)
