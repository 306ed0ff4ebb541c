"""Offer best, worst, failures and ranks of settings to published claims."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate, proportion
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import NOTHING, OfferedValue
from scalograph.questions.tunables.document import SettingEffect, Tunables
from scalograph.study.model import PAIRED
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


def quantities(document: Tunables) -> Mapping[str, Sequence[OfferedValue]]:
    """Offer values of the study, and of each setting by the levels that it alone would have; by name."""
    gains, narrows = sorted(_gains(document), key=_value), document.plan == PAIRED
    fresh = sorted((setting.alone for setting in document.settings if setting.alone), key=_value)
    offers: dict[str, list[OfferedValue]] = {
        "best_gain": [OfferedValue((fresh or gains)[-1], narrows=narrows)] if gains else [],
        "worst_gain": [OfferedValue(gains[0], narrows=narrows)] if gains else [],
        "worst_other_gain": [], "failed_share": [], "sensitivity_rank": [], CONTRAST: [],
    }  # fmt: skip
    if gains:
        all_ = OfferedValue(gains[0], _levels(document), narrows=narrows, without=NOTHING)
        offers["worst_other_gain"].append(all_)
    for setting in document.settings:
        others, fails, levels = _gains(document, setting.factor), setting.fails, _levels(document, setting)
        if others:
            worst = OfferedValue(min(others, key=_value), levels, narrows=narrows, without=setting.factor)
            offers["worst_other_gain"].append(worst)
        if fails is not None:
            share = proportion(setting.n_failed, setting.n_failed, document.n_failed, fails.confidence)
            offers["failed_share"].append(OfferedValue(share, levels))
        if rank := _rank(document, setting):
            offers["sensitivity_rank"].append(OfferedValue(rank, levels))
    for x in document.contrasts:  # either group over the other
        offers[CONTRAST] += [OfferedValue(x.ratio, of_groups=(x.first, x.second))]
        offers[CONTRAST] += [OfferedValue(inverse(x.ratio), of_groups=(x.second, x.first))]
    return {name: each for name, each in offers.items() if each}


def _gains(document: Tunables, *without: str) -> list[Estimate]:
    return [s.gain for s in document.settings if s.gain and not s.left_out and s.factor not in without]


def _value(gain: Estimate) -> float:
    return gain.value or 1.0


def _levels(document: Tunables, *settings: SettingEffect) -> dict[str, Level]:
    defaults = {factor.factor: factor.default for factor in document.factors}
    return {**defaults, **{setting.factor: setting.level for setting in settings}}


def _rank(document: Tunables, setting: SettingEffect) -> Estimate | None:
    (factor,) = (factor for factor in document.factors if factor.factor == setting.factor)
    confidence = next((other.gain.confidence for other in document.settings if other.gain), None)
    if factor.sensitivity_rank is None or confidence is None:
        return None
    low, rank, high = factor.sensitivity_rank
    return Estimate(float(rank), float(low), float(high), confidence, document.n_runs, RANK)
