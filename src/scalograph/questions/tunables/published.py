"""What settings offer to the claims of a paper: best, worst, failures, and what moves the performance most."""

from collections.abc import Iterator, Mapping, Sequence

from scalograph.analysis.estimate import Estimate, proportion
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import OfferedFigure
from scalograph.questions.tunables.document import GroupContrast, SettingEffect, Tunables
from scalograph.study.published_claim import CONTRAST
from scalograph.text.quantities import inverse

QUANTITIES = {
    "best_gain": "performance of the best setting over the default",
    "worst_gain": "performance of the worst setting over the default, of those that do not fail",
    "worst_other_gain": "performance of the worst setting of the other factors over the default",
    "failed_share": "share of all failed runs that have a setting",
    "sensitivity_rank": "place of a setting's factor by how much it moves the performance, 1 the most",
    CONTRAST: "how much a group of factors moves the performance, over how much another one does",
}
RANK = "places that the factors may have, all together"


def quantities(document: Tunables) -> Mapping[str, Sequence[OfferedFigure]]:
    """Offer figures of the whole study, and of each setting by the levels of all factors that it alone would have.

    Args:
        document: what the search came to.

    Returns:
        By name; none where too few runs were made.
    """
    known = sorted(_known(document), key=_value)
    fresh = sorted((one.alone for one in document.settings if one.alone), key=_value)
    found = {
        "best_gain": [OfferedFigure((fresh or known)[-1])] if known else [],
        "worst_gain": [OfferedFigure(known[0])] if known else [],
        "worst_other_gain": list(_worst_others(document)),
        "failed_share": [
            OfferedFigure(share, _levels(document, one))
            for one in document.settings
            if (share := _share(document, one)) is not None
        ],
        "sensitivity_rank": [
            OfferedFigure(rank, _levels(document, one)) for one in document.settings if (rank := _rank(document, one))
        ],
        CONTRAST: [figure for one in document.contrasts for figure in _contrast(one)],
    }
    return {name: each for name, each in found.items() if each}


def _contrast(one: GroupContrast) -> Iterator[OfferedFigure]:
    """Either group over the other."""
    yield OfferedFigure(one.ratio, of_groups=(one.first, one.second))
    yield OfferedFigure(inverse(one.ratio), of_groups=(one.second, one.first))


def _known(document: Tunables, *without: str) -> list[Estimate]:
    """Gains of settings that do not fail, of all factors but these."""
    return [one.gain for one in document.settings if one.gain and not one.left_out and one.factor not in without]


def _worst_others(document: Tunables) -> Iterator[OfferedFigure]:
    """Beside each setting the worst one of the other factors."""
    for one in document.settings:
        if known := _known(document, one.factor):
            yield OfferedFigure(min(known, key=_value), _levels(document, one))


def _value(gain: Estimate) -> float:
    return gain.value or 1.0


def _levels(document: Tunables, one: SettingEffect) -> dict[str, Level]:
    return {**{factor.factor: factor.default for factor in document.factors}, one.factor: one.level}


def _share(document: Tunables, one: SettingEffect) -> Estimate | None:
    if one.fails is None:
        return None
    return proportion(one.n_failed, one.n_failed, document.n_failed, one.fails.confidence)


def _rank(document: Tunables, one: SettingEffect) -> Estimate | None:
    (factor,) = (factor for factor in document.factors if factor.factor == one.factor)
    confidence = next((other.gain.confidence for other in document.settings if other.gain), None)
    if factor.sensitivity_rank is None or confidence is None:
        return None
    low, place, high = factor.sensitivity_rank
    return Estimate(float(place), float(low), float(high), confidence, document.n_runs, RANK)
