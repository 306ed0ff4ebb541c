"""Places of settings and of factors, with all places that each may have: ties are told apart as seldom as promised."""

from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.tunables.model_effects import level_variances
from scalograph.questions.tunables.model_fit import SettingFit


@dataclass(frozen=True, slots=True)
class Ranks:
    """Places from 1 on.

    Attributes:
        place: of each.
        low: the lowest that it may have, all together with the confidence of the fit.
        high: the highest.
    """

    place: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]


def ranks(fit: SettingFit) -> Ranks:
    """Rank the settings by their performance, 1 the worst; the sets follow from all pairs that differ for sure.

    Source: M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, Inference for ranks, Rev. Econ. Stud. 91 (2024): ranks
    from simultaneous intervals of all differences.
    """
    c = fit.covariance
    error = fit.spread * np.sqrt(np.maximum(c.diagonal()[:, None] + c.diagonal()[None, :] - 2 * c, 1e-300))
    one, other = np.triu_indices(len(fit.gains), 1)
    critical = _critical(fit, np.abs(fit.noise[:, one] - fit.noise[:, other]) / error[one, other])
    return _ranked(fit.gains, fit.gains[:, None] - fit.gains[None, :] > critical * error)


def sensitivity_ranks(fit: SettingFit, n_factors: int) -> Ranks:
    """Rank the factors by their sensitivity, 1 the most, by all pairs that differ for sure.

    The standard deviation of a factor's levels is a norm: noise adds to it, or takes from it, its own at most. So the
    difference of two is off by the sum of both at most, whatever the truth: factors of equal effect, or of none, are
    told apart as seldom as the confidence of the fit says.

    Args:
        fit: of all settings.
        n_factors: of the study; one without a known level may have any place.
    """
    at = [[k for k, (j, _) in enumerate(fit.names) if j == factor] for factor in range(n_factors)]
    none = np.zeros(len(fit.noise))
    drawn = np.stack([np.sqrt(level_variances(fit.noise[:, k])) if k else none for k in at], axis=1)
    seen = np.array([float(level_variances(fit.gains[None, k])[0]) if k else np.nan for k in at])
    one, other = np.triu_indices(n_factors, 1)
    typical = np.maximum(drawn.mean(axis=0), 1e-300)
    apart = (drawn[:, one] + drawn[:, other]) / (typical[one] + typical[other])
    error = typical[:, None] + typical[None, :]
    spread = np.sqrt(seen)
    more = spread[:, None] - spread[None, :] > _critical(fit, apart) * error
    without_noise = np.nan_to_num(seen) - np.square(drawn).mean(axis=0)
    return _ranked(-without_noise, more.T)


def _critical(fit: SettingFit, apart: FloatArray) -> float:
    """Units of each pair's own error that no pair exceeds by noise alone; `apart`: of draws, shape (draws, pairs)."""
    return float(np.quantile((apart / fit.studentized).max(axis=1, initial=0.0), fit.confidence))


def _ranked(values: FloatArray, above: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Ranks:
    """Place values from the least on; `above[i, j]` tells that i is more than j for sure."""
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    low, high = 1 + above.sum(axis=1), len(values) - above.sum(axis=0)
    return Ranks(*(tuple(int(x) for x in part) for part in (order + 1, low, high)))
