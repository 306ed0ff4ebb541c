"""What the figures of a claim are, in words."""

from collections.abc import Mapping, Sequence

from scalograph.findings.names import short, title, varying
from scalograph.findings.published.measured_values import FigureHere, claim_levels, spell
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.short_names import is_counted


def figures_in_words(table: Table, claim: PublishedClaim, figures: Sequence[FigureHere]) -> str:
    """Say of what the figures are: "wall time of 1 thread over that of n threads, 1 CPU, lock none".

    Levels of which the claim says nothing are named as they were taken.
    """
    response, along = title(table, claim.response or primary(table)), claim.along
    named = {*claim.where, *claim.of, *claim.over, along}
    free = {name: level for name, level in _common(figures).items() if name not in named}
    where = [_named(table, {name: level}) for name, level in {**claim.where, **varying(table, free)}.items()]
    how, on_side = _how(table, claim)
    each = [_each(title(table, along))] if along and not on_side and claim.kind in ("ratio", "value") else []
    return ", ".join([f"{response}{how}", *where, *each])


def groups_in_words(claim: PublishedClaim) -> str:
    """Say what is compared with what: "mean change by the factors of caches over that by those of swapping"."""
    first, second = claim.groups
    return f"mean change by the factors of {first} over that by those of {second}"


def profile_words(claim: PublishedClaim) -> str:
    """Say what a profile is asked for: "share of the samples in Thread.yield < ForkJoinPool.scan"."""
    stack = " < ".join(".".join(method.split(".")[-2:]) for method in claim.stack)
    return f"share of the samples in {stack}"


def _how(table: Table, claim: PublishedClaim) -> tuple[str, bool]:
    """What is over what, and whether that names the levels along which the figures are."""
    if claim.kind == "value":
        return (f" of {_named(table, claim.of)}" if claim.of else ""), False
    if claim.kind == "ratio":
        along = claim.along
        sides = [_side(table, selection, along) for selection in (claim.of, claim.over)]
        return f" of {sides[0]} over that of {sides[1]}", along in claim.of or along in claim.over
    assert claim.along is not None
    first = next((level for level in claim_levels(table, claim) if level is not None), None)
    base = "the one before" if claim.kind == "order" or first is None else _named(table, {claim.along: first})
    return f" of {_any(table, claim.along)} over that of {base}", True


def _side(table: Table, selection: Mapping[str, Level], along: str | None) -> str:
    return _named(table, selection) if selection else _any(table, along) if along else "the same"


def _named(table: Table, levels: Mapping[str, Level]) -> str:
    """Levels as they were measured: `all` CPUs are so many."""
    return short(table, {name: spell(table, name, level) for name, level in levels.items()})


def _each(named: str) -> str:
    return f"each number of {named}" if is_counted(named) else f"each {named}"


def _any(table: Table, factor: str) -> str:
    """Any level of a factor: "n threads", "each lock"."""
    named = title(table, factor)
    return f"n {named}" if is_counted(named) else f"each {named}"


def _common(figures: Sequence[FigureHere]) -> dict[str, Level]:
    """Levels that all figures share."""
    groups = [dict(figure.group) for figure in figures if figure.group]
    return {n: v for n, v in groups[0].items() if all(g.get(n) == v for g in groups)} if groups else {}
