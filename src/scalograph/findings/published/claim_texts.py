"""Texts about claims: their values, and why one is inconclusive or not testable."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from scalograph.findings.published.measured_values import SINGLE, MeasuredValue, claim_levels, resolve_level
from scalograph.findings.row import Row
from scalograph.findings.study_verdict import count_disturbed, worst_cause
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import ClaimValue
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.quantities import excess_memory, runs_needed_text
from scalograph.text.short_names import is_counted, join_names
from scalograph.text.warning_catalog import warning_text


def describe_values(table: Table, claim: PublishedClaim, values: Sequence[MeasuredValue]) -> str:
    """Describe the values of a claim: "wall time of 1 thread over that of n threads, 1 CPU, lock none"."""
    response, along = table.view.title(table.view.current_response(claim.response)), claim.along
    named = {*claim.where, *claim.of, *claim.over, along}
    groups = [value.group.items() for value in values if value.group] or [{}.items()]
    free = {name: level for name, level in groups[0] if name not in named and all((name, level) in g for g in groups)}
    levels = {**claim.where, **table.view.varying_levels(free)}
    where = [_level_names(table, {name: level}) for name, level in levels.items()]
    how, on_side = _describe_comparison(table, claim)
    if along and not on_side and claim.kind in ("ratio", *SINGLE):
        where.append(f"each {'number of ' * is_counted(table.view.title(along))}{table.view.title(along)}")
    return ", ".join([f"{response}{how}", *where])


def describe_groups(claim: PublishedClaim) -> str:
    """Describe a contrast of two groups of factors."""
    first, second = claim.groups
    return f"mean change by the factors of {first} over that by those of {second}"


def describe_profile(claim: PublishedClaim) -> str:
    """Describe a claim on a profile: "share of the samples in Thread.yield < ForkJoinPool.scan"."""
    stack = " < ".join(".".join(method.split(".")[-2:]) for method in claim.stack)
    return f"share of the samples in {stack}"


def _describe_comparison(table: Table, claim: PublishedClaim) -> tuple[str, bool]:
    """Return what is over what, and whether that names the levels of the curve's factor."""
    if claim.kind in SINGLE:
        return (f" of {_level_names(table, claim.of)}" if claim.of else ""), False
    if claim.kind == "ratio":
        along = claim.along
        free = _any(table, along) if along else "the same"
        top, bottom = (_level_names(table, side) if side else free for side in (claim.of, claim.over))
        return f" of {top} over that of {bottom}", along in claim.of or along in claim.over
    assert claim.along is not None
    first = next((level for level in claim_levels(table, claim) if level is not None), None)
    base = "the one before" if claim.kind == "order" or first is None else _level_names(table, {claim.along: first})
    return f" of {_any(table, claim.along)} over that of {base}", True


def _level_names(table: Table, levels: Mapping[str, Level]) -> str:
    return table.view.short_levels({name: resolve_level(table, name, level) for name, level in levels.items()})


def _any(table: Table, factor: str) -> str:
    named = table.view.title(factor)
    return f"n {named}" if is_counted(named) else f"each {named}"


Bounds = tuple[float | None, float | None]


def run_factor(values: Sequence[ClaimValue], bounds: Bounds) -> float | None:
    """Return how many times as many runs may decide a claim, 1 or more; intervals narrow with the root of the number.

    One value outside the range refutes the claim, so the nearest to being wholly outside decides it; if none is
    outside, all have to be wholly inside. None if a value has no interval, or all are conclusive.
    """
    crossing = [_value_run_factor(value, bounds) for value in values if value.decision == "inconclusive"]
    factors = [factor for factor in crossing if factor is not None]
    if not factors or len(factors) < len(crossing):
        return None
    outside = [times for times, is_inside in factors if not is_inside]
    return min(outside) if outside else max(times for times, _ in factors)


def runs_needed(
    table: Table, claim: PublishedClaim, values: Sequence[MeasuredValue], decided: Sequence[ClaimValue]
) -> float | None:
    """Return how many times as many runs may decide an inconclusive claim; None if that is unknown.

    Of a search more runs are other runs, and what a question offers need not narrow with their number.
    """
    both = [value for value, each in zip(values, decided, strict=True) if each.decision == "inconclusive"]
    is_grid = bool(claim.quantity) or not table.view.is_search
    may_narrow = is_grid and all(value.narrows and not value.disturbed for value in both)
    factor = run_factor(decided, claim.bounds) if may_narrow else None
    return factor if factor is not None and isfinite(factor) else None


def _value_run_factor(value: ClaimValue, bounds: Bounds) -> tuple[float, bool] | None:
    """Return the factor for one value, and whether it is inside the range."""
    here = value.here
    if here is None or here.value is None or here.low is None or here.high is None:
        return None
    low, high = bounds
    if low is not None and here.value < low:
        return _square_ratio(here.high - here.value, low - here.value), False
    if high is not None and here.value > high:
        return _square_ratio(here.value - here.low, here.value - high), False
    below = 1.0 if low is None else _square_ratio(here.value - here.low, here.value - low)
    above = 1.0 if high is None else _square_ratio(here.high - here.value, high - here.value)
    return max(below, above), True


def _square_ratio(half: float, room: float) -> float:
    return max(1.0, (half / room) ** 2) if room > 0 else float("inf")


def missing_capability(claim: PublishedClaim, machine: Mapping[str, Any]) -> str:
    """Say what the machine lacks to test a claim; empty if nothing."""
    n_cpus = machine.get("n_cpus")
    if isinstance(n_cpus, int) and n_cpus < claim.needs_cpus:
        return f"it needs {claim.needs_cpus} CPUs, this machine has {n_cpus}"
    here = machine.get("architecture") or "unknown"
    if claim.needs_architecture and here != claim.needs_architecture:
        return f"it needs a CPU of the architecture {claim.needs_architecture}, this machine's is {here}"
    if claim.needs_smt and machine.get("smt") is not True:
        return "it needs hardware threads that share a core, this machine shows none"
    accounting = machine.get("cpu_accounting")
    if claim.needs_cpu_accounting and accounting != "precise":
        samples = "samples user and system time at its tick" if accounting else "is not known to do so"
        return f"it needs a kernel that measures user and system time, this one {samples}"
    return excess_memory(claim.most_gib, machine.get("memory_bytes"))


def why_not_measured(missing: Sequence[str]) -> str:
    """Join the reasons why values were not measured: distinct ones, the first three."""
    reasons = [*dict.fromkeys(reason for reason in missing if reason)] or ["no run counts"]
    return "; ".join([*reasons[:3], *([f"and {len(reasons) - 3} more"] if reasons[3:] else [])])


def why_inconclusive(
    table: Table, claim: PublishedClaim, values: Sequence[MeasuredValue], decided: Sequence[ClaimValue]
) -> str:
    """Say why a claim is inconclusive, and how many times as many runs may decide it."""
    both = [pair for pair in zip(values, decided, strict=True) if pair[1].decision == "inconclusive"]
    busy = [row for value, _ in both for row in value.disturbed]
    left = [figure for value, figure in both if not value.disturbed]
    bare = [figure for figure in left if figure.here is None or figure.here.low is None or figure.here.high is None]
    crossing = [figure.label for figure in left if figure not in bare]
    labels = [*crossing[:3], *([f"{len(crossing) - 3} more"] if crossing[3:] else [])]
    interval = "the interval" if len(crossing) == 1 else "the intervals"
    who = f" of {join_names(labels)}" if labels and len(decided) > 1 else ""
    warned = dict.fromkeys(text for figure in bare if figure.here for text in figure.here.warnings)
    parts = [
        _disturbance_text(busy) if busy else "",
        f"{interval}{who} {'crosses' if len(crossing) == 1 else 'cross'} an end of the range" if crossing else "",
        "; ".join(warned) or "no interval" if bare else "",
        runs_needed_text(runs_needed(table, claim, values, decided)),
    ]
    return "; ".join(filter(None, parts))


def _disturbance_text(runs: Iterable[Row]) -> str:
    each = {row.run: row for row in runs}.values()
    n, cause = count_disturbed(each), worst_cause(each)
    is_wrong = 2 * sum(row.verdict == "invalid" for row in each) > n
    text = warning_text("mostly invalid" if is_wrong else "mostly disturbed", n=n, of=len(each))
    return f"{text}: {cause}" if cause and not is_wrong else text
