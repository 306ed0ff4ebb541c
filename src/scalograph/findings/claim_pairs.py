"""Claims about a study whose runs were compared in pairs: its figures are those of the surface through all of them."""

from functools import partial
from math import exp, hypot, log

from scalograph.analysis.estimate import Estimate
from scalograph.findings.claim_figures import FigureHere, WantedLevels, claim_levels, pairs_of, spell
from scalograph.findings.names import short
from scalograph.findings.published import Lookup
from scalograph.findings.table import Table
from scalograph.study.published_claim import PublishedClaim

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
