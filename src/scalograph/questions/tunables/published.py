"""Offer best, worst, failures and ranks of settings to published claims."""

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
    """Offer values of the whole study, and of each setting by the levels that it alone would have.

    Returns:
        By name; none where too few runs were made.
    """
    gains = sorted(_gains(document), key=_value)
    fresh = sorted((setting.alone for setting in document.settings if setting.alone), key=_value)
    offers = {
        "best_gain": [OfferedFigure((fresh or gains)[-1])] if gains else [],
        "worst_gain": [OfferedFigure(gains[0])] if gains else [],
        "worst_other_gain": list(_worst_others(document)),
        "failed_share": [
            OfferedFigure(share, _levels(document, setting))
            for setting in document.settings
            if (share := _share(document, setting)) is not None
        ],
        "sensitivity_rank": [
            OfferedFigure(rank, _levels(document, setting))
            for setting in document.settings
            if (rank := _rank(document, setting))
        ],
        CONTRAST: [figure for setting in document.contrasts for figure in _contrast(setting)],
    }
    return {name: each for name, each in offers.items() if each}


def _contrast(contrast: GroupContrast) -> Iterator[OfferedFigure]:
    """Offer either group over the other."""
    yield OfferedFigure(contrast.ratio, of_groups=(contrast.first, contrast.second))
    yield OfferedFigure(inverse(contrast.ratio), of_groups=(contrast.second, contrast.first))


def _gains(document: Tunables, *without: str) -> list[Estimate]:
    """List gains of settings that do not fail, excluding these factors."""
    return [
        setting.gain
        for setting in document.settings
        if setting.gain and not setting.left_out and setting.factor not in without
    ]


def _worst_others(document: Tunables) -> Iterator[OfferedFigure]:
    for setting in document.settings:
        if gains := _gains(document, setting.factor):
            yield OfferedFigure(min(gains, key=_value), _levels(document, setting))


def _value(gain: Estimate) -> float:
    return gain.value or 1.0


def _levels(document: Tunables, setting: SettingEffect) -> dict[str, Level]:
    return {**{factor.factor: factor.default for factor in document.factors}, setting.factor: setting.level}


def _share(document: Tunables, setting: SettingEffect) -> Estimate | None:
    if setting.fails is None:
        return None
    return proportion(setting.n_failed, setting.n_failed, document.n_failed, setting.fails.confidence)


def _rank(document: Tunables, setting: SettingEffect) -> Estimate | None:
    (factor,) = (factor for factor in document.factors if factor.factor == setting.factor)
    confidence = next((other.gain.confidence for other in document.settings if other.gain), None)
    if factor.sensitivity_rank is None or confidence is None:
        return None
    low, rank, high = factor.sensitivity_rank
    return Estimate(float(rank), float(low), float(high), confidence, document.n_runs, RANK)
