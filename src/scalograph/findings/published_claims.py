"""The claims of a paper, each decided on the runs of this study: it holds, or not, or that is not resolved.

A claim names a range that bears it out. A figure whose whole interval lies inside it holds, one whose interval lies
wholly outside does not, and any other is not resolved. A claim of several figures holds if each does, at the confidence
of each (an intersection of tests needs no correction), and does not hold if one fails at a confidence that is shared
among them (Bonferroni).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.findings.answer import Taken
from scalograph.findings.names import short, title
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim, Decision
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.quantities import counted

# What a question offers under a name: labels and figures. None where it has no such figure.
Offered = Callable[[str], Sequence[tuple[str, Estimate]] | None]
Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class _Figure:
    """One figure: what it is of, and how it is estimated with a given confidence; None where a part was not run."""

    label: str
    estimate: Callable[[float], Estimate] | None


def decided_claims(table: Table, taken: Taken, offered: Offered) -> list[DecidedClaim]:
    """Decide each claim that the study declares.

    Args:
        table: its runs.
        taken: the sample of each treatment.
        offered: what its question has to offer for claims of kinds `location` and `count`.
    """
    published = table.study.published
    return [_decided(table, taken, offered, claim) for claim in (published.claims if published else ())]


def _decided(table: Table, taken: Taken, offered: Offered, claim: PublishedClaim) -> DecidedClaim:
    figures = _offered(offered, claim) if claim.quantity else _measured(table, taken, claim)
    low, high = claim.bounds if not claim.unlike or claim.holds else (None, None)
    decided = [_figure(claim, i, one, (low, high), len(figures), table) for i, one in enumerate(figures)]
    decision, why = _whole(table, claim, decided)
    response = table.study.responses.get(claim.response or primary(table))
    return DecidedClaim(
        id=claim.id, sentence=claim.sentence, place=claim.place, quantity=_quantity(table, claim),
        unit=response.unit if claim.kind == "value" and response else "", said=claim.said, low=low, high=high,
        figures=decided, decision=decision, why=why,
    )  # fmt: skip


def _whole(table: Table, claim: PublishedClaim, figures: Sequence[ClaimFigure]) -> tuple[Decision, str]:
    """What became of the claim, and why it is not decided."""
    if claim.unlike:
        return "not comparable", claim.unlike
    if why := unseen(claim, table.machine):
        return "cannot be seen here", why
    decisions = {figure.decision for figure in figures}
    if "does not hold" in decisions:
        return "does not hold", ""
    n_missing = sum(figure.decision == "not measured" for figure in figures)
    if n_missing or not figures:
        return (
            "not measured",
            f"{counted(n_missing, 'figure')} of {len(figures)} without runs" if figures else "no runs",
        )
    if "not resolved" in decisions:
        n = sum(figure.decision == "not resolved" for figure in figures)
        return "not resolved", f"the interval of {n} of {counted(len(figures), 'figure')} crosses an end of the range"
    return "holds", ""


def unseen(claim: PublishedClaim, machine: Mapping[str, Any]) -> str:
    """Say what a machine lacks to show a claim; empty where it has all.

    Args:
        claim: of a study.
        machine: `machine` of a journal's first event.
    """
    n_cpus = machine.get("n_cpus")
    if isinstance(n_cpus, int) and n_cpus < claim.needs_cpus:
        return f"it needs {claim.needs_cpus} CPUs, this machine has {n_cpus}"
    if claim.needs_smt and not machine.get("smt"):
        return "it needs hardware threads that share a core, this machine shows none"
    return ""


def _figure(
    claim: PublishedClaim, index: int, figure: _Figure, bounds: Bounds, n_figures: int, table: Table
) -> ClaimFigure:
    printed = claim.published[index : index + 1] if isinstance(claim.published, list) else [claim.published]
    value = printed[0] if printed else None
    spread = None if value is None else abs(value) * claim.spread
    confidence = table.study.protocol.confidence
    here = figure.estimate(confidence) if figure.estimate else None
    shared = figure.estimate(1 - (1 - confidence) / n_figures) if figure.estimate else None
    return ClaimFigure(
        label=figure.label, published=value,
        published_low=None if value is None or not spread else value - spread,
        published_high=None if value is None or not spread else value + spread,
        here=here, decision=_verdict(here, shared, bounds),
    )  # fmt: skip


def _verdict(here: Estimate | None, shared: Estimate | None, bounds: Bounds) -> Decision:
    """Inside with its own interval, outside with the one that is shared among all figures of the claim."""
    if here is None or shared is None or here.value is None:
        return "not measured"
    low = float("-inf") if bounds[0] is None else bounds[0]
    high = float("inf") if bounds[1] is None else bounds[1]
    if here.low is not None and here.high is not None and low <= here.low and here.high <= high:
        return "holds"
    if (shared.low is not None and shared.low > high) or (shared.high is not None and shared.high < low):
        return "does not hold"
    return "not resolved"


def _offered(offered: Offered, claim: PublishedClaim) -> list[_Figure]:
    found = offered(claim.quantity or "")
    return [_Figure(label, lambda _, estimate=estimate: estimate) for label, estimate in found or ()]  # type: ignore[misc]


def _measured(table: Table, taken: Taken, claim: PublishedClaim) -> list[_Figure]:
    """Figures that are made of responses."""
    levels = _levels(table, claim)
    if claim.kind in ("flat", "order"):
        steps = pairwise(levels) if claim.kind == "order" else ((levels[0], level) for level in levels[1:])
        return [_ratio(table, taken, claim, _step(claim, before, now), now) for before, now in steps]
    if claim.kind == "ratio":
        return [_ratio(table, taken, claim, _sides(claim, level), level) for level in levels]
    return [_value(table, taken, claim, level) for level in levels]


def _levels(table: Table, claim: PublishedClaim) -> list[Level | None]:
    """Those along which there is one figure each; a single None where there is one figure in all."""
    if claim.along is None:
        return [None]
    planned = dict.fromkeys(treatment[claim.along] for treatment in table.treatments if claim.along in treatment)
    return list(claim.levels) or list(planned) or [None]


def _sides(claim: PublishedClaim, level: Level | None) -> tuple[dict[str, Level], dict[str, Level]]:
    """Selections of numerator and denominator; the level is of the side, or both, that does not name its factor."""
    along = {} if claim.along is None or level is None else {claim.along: level}
    return {**along, **claim.where, **claim.of}, {**along, **claim.where, **claim.over}


def _step(claim: PublishedClaim, before: Level | None, now: Level | None) -> tuple[dict[str, Level], dict[str, Level]]:
    return _sides(claim, now)[0], _sides(claim, before)[1]


def _ratio(
    table: Table,
    taken: Taken,
    claim: PublishedClaim,
    sides: tuple[dict[str, Level], dict[str, Level]],
    level: Level | None,
) -> _Figure:
    response = claim.response or primary(table)
    top, bottom = (_sample(table, taken, side) for side in sides)
    label = short(table, {claim.along: level}) if claim.along and level is not None else ""
    if top is None or bottom is None or not top.scores(response) or not bottom.scores(response):
        return _Figure(label, None)
    return _Figure(label, lambda confidence: ratio(top.scores(response), bottom.scores(response), confidence))


def _value(table: Table, taken: Taken, claim: PublishedClaim, level: Level | None) -> _Figure:
    response, sample = claim.response or primary(table), _sample(table, taken, _sides(claim, level)[0])
    label = short(table, {claim.along: level}) if claim.along and level is not None else ""
    if sample is None or not sample.scores(response):
        return _Figure(label, None)
    return _Figure(label, lambda confidence: summarize(sample.scores(response), confidence))


def _sample(table: Table, taken: Taken, wanted: Mapping[str, Level]) -> Sample | None:
    """The first treatment, in declared order, that has the levels; `all` CPUs are as many as were planned."""
    wanted = {name: _spelled(table, name, level) for name, level in wanted.items()}
    return next((s for s in taken.values() if all(s.treatment.get(n) == level for n, level in wanted.items())), None)


def _spelled(table: Table, name: str, level: Level) -> Level:
    planned = [treatment[name] for treatment in table.treatments if name in treatment]
    counts: Iterable[int] = (one for one in planned if type(one) is int)
    return max(counts, default=level) if level == "all" and level not in planned else level


def _quantity(table: Table, claim: PublishedClaim) -> str:
    """What the figures are, in words."""
    if claim.quantity:
        return claim.quantity.replace("_", " ").replace("-", " ")
    response, where = title(table, claim.response or primary(table)), short(table, claim.where)
    along = title(table, claim.along) if claim.along else ""
    sides = [short(table, side) for side in (claim.of, claim.over)]
    how = {
        "value": sides[0],
        "ratio": f"{sides[0] or f'each {along}'} over {sides[1] or f'each {along}'}",
        "flat": f"each {along} over the first",
        "order": f"each {along} over the one before",
    }[claim.kind]
    return ", ".join(part for part in (response, how, where) if part)
