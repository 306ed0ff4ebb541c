"""What settings offer to the claims of a paper: best, worst, failures, and what moves the performance most."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.proportion import proportion
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import OfferedFigure
from scalograph.questions.tunables.document import SettingEffect, Tunables

QUANTITIES = {
    "best_gain": "performance of the best setting over the default",
    "worst_gain": "performance of the worst setting over the default, of those that do not fail",
    "failed_share": "share of all failed runs that have a setting",
    "sensitivity_rank": "place of a setting's factor by how much it moves the performance, 1 the most",
}
RANK = "places of 95 % of fits that differ as the noise does"


def quantities(document: Tunables) -> Mapping[str, Sequence[OfferedFigure]]:
    """Offer figures of the whole study, and of each setting by the levels of all factors that it alone would have.

    Args:
        document: what the search came to.

    Returns:
        By name; none where too few runs were made.
    """
    known = sorted((one.gain for one in document.settings if one.gain and not one.left_out), key=_value)
    fresh = sorted((one.alone for one in document.settings if one.alone), key=_value)
    found = {
        "best_gain": [OfferedFigure((fresh or known)[-1])] if known else [],
        "worst_gain": [OfferedFigure(known[0])] if known else [],
        "failed_share": [OfferedFigure(_share(document, one), _levels(document, one)) for one in document.settings],
        "sensitivity_rank": [
            OfferedFigure(rank, _levels(document, one)) for one in document.settings if (rank := _rank(document, one))
        ],
    }
    return {name: each for name, each in found.items() if each}


def _value(gain: Estimate) -> float:
    return gain.value or 1.0


def _levels(document: Tunables, one: SettingEffect) -> dict[str, Level]:
    return {**{factor.factor: factor.default for factor in document.factors}, one.factor: one.level}


def _share(document: Tunables, one: SettingEffect) -> Estimate:
    return proportion(one.n_failed, one.n_failed, document.n_failed, 0.95)


def _rank(document: Tunables, one: SettingEffect) -> Estimate | None:
    (factor,) = (factor for factor in document.factors if factor.factor == one.factor)
    if factor.sensitivity_rank is None:
        return None
    low, place, high = factor.sensitivity_rank
    return Estimate(float(place), float(low), float(high), 0.95, document.n_runs, RANK)
