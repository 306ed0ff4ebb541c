"""Places of settings and of factors, with all places that each may have: ties are told apart as seldom as promised."""

from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.tunables.model_fit import DRAWS, SettingFit


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

    The standard deviation of a factor's levels, the share of the noise taken away, errs as the gains do in one
    direction where it is large, and by less where it is small. So a pair differs for sure where the distance is more
    than noise makes in the widest direction of both (benchmarks/statistics_tunables.py: also where factors tie).

    Args:
        fit: of all settings.
        n_factors: of the study; one without a known level may have any place.
    """
    spreads = [deviations(fit, factor) for factor in range(n_factors)]
    variance = [fit.spread**2 * one @ fit.covariance @ one.T for one in spreads]
    square = np.array([float(np.square(one @ fit.gains).sum()) for one in spreads]) - [np.trace(v) for v in variance]
    widest = np.array([np.linalg.norm(v, 2) for v in variance])
    shared = [[fit.spread**2 * np.linalg.norm(a @ fit.covariance @ b.T, 2) for b in spreads] for a in spreads]
    error = np.sqrt(np.maximum(widest[:, None] + widest[None, :] + 2 * np.array(shared), 1e-300))
    one, other = np.triu_indices(n_factors, 1)
    alone = np.random.default_rng((fit.seed + 2) % 2**63).standard_normal((DRAWS, n_factors)) * np.sqrt(widest)
    apart = np.abs(alone[:, one] - alone[:, other]) / np.sqrt(np.maximum(widest[one] + widest[other], 1e-300))
    known = np.array([one.shape[0] > 1 for one in spreads])
    seen = np.where(known, np.sqrt(np.maximum(square, 0.0)), np.nan)
    return _ranked(-square, (seen[:, None] - seen[None, :] > _critical(fit, apart) * error).T)


def deviations(fit: SettingFit, factor: int) -> FloatArray:
    """Return what makes of gains the deviations of a factor's levels; their norm is the standard deviation.

    Shape (levels, settings).
    """
    at = [k for k, (j, _) in enumerate(fit.names) if j == factor]
    levels = np.zeros((len(at) + 1, len(fit.names)))
    levels[range(1, len(at) + 1), at] = 1.0
    return np.asarray((levels - levels.mean(axis=0)) / max(1, len(at)) ** 0.5)


def _critical(fit: SettingFit, apart: FloatArray) -> float:
    """Units of each pair's own error that no pair exceeds by noise alone; `apart`: of draws, shape (draws, pairs)."""
    return float(np.quantile((apart / fit.studentized).max(axis=1, initial=0.0), fit.confidence))


def _ranked(values: FloatArray, above: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Ranks:
    """Place values from the least on; `above[i, j]` tells that i is more than j for sure."""
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    low, high = 1 + above.sum(axis=1), len(values) - above.sum(axis=0)
    return Ranks(*(tuple(int(x) for x in part) for part in (order + 1, low, high)))
