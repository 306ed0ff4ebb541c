"""The claims of a paper, each decided on the runs of this study: it holds, or not, or that is not resolved.

A claim names a range that bears it out. A figure whose whole interval lies inside it holds, one whose interval lies
wholly outside does not, and any other is not resolved; nor is one that rests on configurations more than half of whose
runs were disturbed. A claim of several figures holds if each does, at the confidence of each (an intersection of tests
needs no correction), and does not hold if one fails at a confidence that is shared among them (Bonferroni).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, hypot, log

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Taken
from scalograph.findings.names import short
from scalograph.findings.published.claim_reasons import of_missing, of_open, unseen
from scalograph.findings.published.claim_texts import figures_in_words, groups_in_words, profile_words
from scalograph.findings.published.measured_values import (
    FigureHere,
    Lenders,
    WantedLevels,
    claim_levels,
    lenders,
    measured_figures,
    pairs_of,
    spell,
)
from scalograph.findings.published.offered_quantities import Offered, group_figures, offered_figures
from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim, Decision
from scalograph.study.published_claim import CONTRAST, PublishedClaim
from scalograph.text.quantities import counted

METHOD = "surface of all pairs"


def surface_figures(table: Table, at_levels: Lookup, claim: PublishedClaim) -> list[FigureHere]:
    """Estimate the figures of a claim about ratios; its levels need not have been measured.

    Args:
        table: the study.
        at_levels: the speedup of a treatment over the baseline, as the surface has it.
        claim: of kind ratio, flat or order; its selections name all factors, the version included.
    """
    made = []
    for pair in pairs_of(table, claim, claim_levels(table, claim)):
        top, bottom = (_speedup(table, at_levels, side) for side in (pair.top, pair.bottom))
        lost = next((side for side, one in ((pair.top, top), (pair.bottom, bottom)) if one is None), None)
        if top is None or bottom is None:
            made.append(FigureHere(pair.label, missing=f"nothing is known of {short(table, lost or {})}"))
        else:
            made.append(FigureHere(pair.label, partial(_over, top, bottom)))
    return made


def _speedup(table: Table, at_levels: Lookup, side: WantedLevels) -> Estimate | None:
    spelled = {name: spell(table, name, level) for name, level in side.items()}
    found = at_levels(spelled).get("speedup")
    return found if found is not None and found.value else None


def _over(top: Estimate, bottom: Estimate, confidence: float) -> Estimate:
    """Time over time is speedup over speedup, turned round; half-widths of both add up as those of logs do.

    The surface has one confidence, 95 %.
    """
    value = log(bottom.value or 1.0) - log(top.value or 1.0)
    ends = (top.low, top.high, bottom.low, bottom.high)
    if not all(ends):
        return Estimate(exp(value), confidence=confidence, n=max(top.n, bottom.n), method=METHOD)
    below = hypot(log((top.high or 1) / (top.value or 1)), log((bottom.value or 1) / (bottom.low or 1)))
    above = hypot(log((top.value or 1) / (top.low or 1)), log((bottom.high or 1) / (bottom.value or 1)))
    return Estimate(exp(value), exp(value - below), exp(value + above), 0.95, max(top.n, bottom.n), METHOD)


# A profile is taken after the runs, and lies beside their journal.
NO_PROFILE = "no profile of it: take one with `scalograph profile`"
Bounds = tuple[float | None, float | None]


def decided_claims(table: Table, taken: Taken, offered: Offered, at_levels: Lookup | None = None) -> list[DecidedClaim]:
    """Decide each claim that the study declares.

    Args:
        table: its runs.
        taken: the sample of each treatment.
        offered: what its question has to offer for claims of kinds `location` and `count`.
        at_levels: what is known of a treatment, where runs were compared in pairs and none has figures of its own.
    """
    claims = table.study.published.claims if table.study.published else []
    figures = _Figures(table, taken, offered, at_levels, lenders(table, taken, claims))
    return [decided_by(table, claim, *figures.of(claim)) for claim in claims]


def decided_by(table: Table, claim: PublishedClaim, words: str, figures: Sequence[FigureHere]) -> DecidedClaim:
    """Decide a claim by its figures.

    Args:
        table: the runs.
        claim: of its study.
        words: what the figures are.
        figures: one, or one for each level of the claim.
    """
    bounds = claim.bounds if not claim.unlike or claim.holds else (None, None)
    decided = [_figure(table, claim, i, one, bounds, len(figures)) for i, one in enumerate(figures)]
    decision, why = _whole(table, claim, figures, decided)
    response = table.study.responses.get(claim.response or primary(table))
    return DecidedClaim(
        id=claim.id, sentence=claim.sentence, place=claim.place, quantity=words,
        unit=response.unit if claim.kind == "value" and response else "", said=claim.said,
        low=bounds[0], high=bounds[1], figures=decided, decision=decision, why=why,
        doubt=_doubt([figure for one, figure in zip(figures, decided, strict=True) if not one.disturbed]),
    )  # fmt: skip


@dataclass(frozen=True)
class _Figures:
    """The figures of the claims of one study."""

    table: Table
    taken: Taken
    offered: Offered
    at_levels: Lookup | None
    lending: Lenders

    def of(self, claim: PublishedClaim) -> tuple[str, Sequence[FigureHere]]:
        """Return what decides a claim, and what that is in words."""
        if claim.stack:
            return profile_words(claim), [FigureHere("", missing=NO_PROFILE)]
        if claim.groups:
            return groups_in_words(claim), group_figures(self.table, self.offered(CONTRAST), claim)
        if claim.quantity:
            offer = self.offered(claim.quantity)
            return offer.words, offered_figures(self.table, self.taken, offer, claim)
        if self.at_levels is not None and claim.kind != "value":
            figures = surface_figures(self.table, self.at_levels, claim)
        else:
            figures = measured_figures(self.table, self.taken, claim, self.lending)
        return figures_in_words(self.table, claim, figures), figures


def _whole(
    table: Table, claim: PublishedClaim, figures: Sequence[FigureHere], decided: Sequence[ClaimFigure]
) -> tuple[Decision, str]:
    """What became of the claim, and why it is not decided."""
    decisions = [figure.decision for figure in decided]
    if claim.unlike:
        return "not comparable", claim.unlike
    if why := unseen(claim, table.machine):
        return "cannot be seen here", why
    if "does not hold" in decisions:
        return "does not hold", ""
    missing = [figure.missing for figure, one in zip(figures, decided, strict=True) if one.decision == "not measured"]
    if missing:
        if hidden := next((figure for figure in figures if figure.unseen), None):
            return "cannot be seen here", hidden.missing
        lacking = [figure.missing for figure in figures if figure.lacks]  # the last level asks for most CPUs
        return ("cannot be seen here", lacking[-1]) if lacking else ("not measured", of_missing(missing))
    if "not resolved" in decisions:
        return "not resolved", of_open(table, claim, figures, decided)
    return "holds", ""


def _doubt(decided: Sequence[ClaimFigure]) -> str:
    """What the whole claim rests on."""
    n = sum(bool(figure.doubt) for figure in decided)
    if not n:
        return ""
    who = "" if n == len(decided) else f"{n} of {counted(len(decided), 'figure')} "
    return f"{who}{'rest' if who and n > 1 else 'rests'} on disturbed runs"


def _figure(
    table: Table, claim: PublishedClaim, index: int, figure: FigureHere, bounds: Bounds, n_figures: int
) -> ClaimFigure:
    printed = claim.published[index : index + 1] if isinstance(claim.published, list) else [claim.published]
    value = printed[0] if printed else None
    spread = None if value is None else abs(value) * claim.spread
    confidence = table.study.protocol.confidence
    here = figure.estimate(confidence) if figure.estimate else None
    shared = figure.estimate(1 - (1 - confidence) / n_figures) if figure.estimate else None
    decision: Decision = "does not hold" if figure.none else _verdict(here, shared, bounds)
    if figure.disturbed and decision != "not measured":
        decision = "not resolved"
    return ClaimFigure(
        label=figure.label, published=value,
        published_low=None if value is None or not spread else value - spread,
        published_high=None if value is None or not spread else value + spread,
        here=here, none=figure.none, doubt=figure.doubt, decision=decision,
    )  # fmt: skip


def _verdict(here: Estimate | None, shared: Estimate | None, bounds: Bounds) -> Decision:
    """Inside with its own interval, outside with the one that is shared among all figures of the claim."""
    if here is None or shared is None or here.value is None:
        return "not measured"
    low = float("-inf") if bounds[0] is None else bounds[0]
    high = float("inf") if bounds[1] is None else bounds[1]
    if _inside(here, low, high):
        return "holds"
    if (shared.low is not None and shared.low > high) or (shared.high is not None and shared.high < low):
        return "does not hold"
    return "not resolved"


def _inside(here: Estimate, low: float, high: float) -> bool:
    """Whether the whole interval is inside; an end that is open is inside of an end that is open."""
    above = low == float("-inf") or (here.low is not None and low <= here.low)
    below = high == float("inf") or (here.high is not None and here.high <= high)
    return above and below
