"""Moderate variances across contrasts of a study (empirical Bayes, Smyth 2004).

The variances of all contrasts are taken to come from one prior distribution, fitted to them; each contrast gains the
degrees of freedom that the prior is worth. No variance becomes smaller than that of the contrast's own runs.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scalograph.analysis.center import GIVEN, FloatArray
from scalograph.analysis.contrast import Contrast

FEWEST = 3  # contrasts that a prior takes
SHARED = 0.5  # contrasts share baselines and blocks: their variances are worth so many independent ones
_STEPS = 50


def moderate_variances(contrasts: Sequence[Contrast], lenders: Sequence[Contrast] = ()) -> list[Contrast]:
    """Return the contrasts with moderated standard errors and degrees of freedom.

    Unchanged where fewer than three have a spread. `lenders` are the contrasts of the prior, if not the same ones.

    Source: G. K. Smyth, Linear models and empirical Bayes methods for assessing differential expression in microarray
    experiments, Statist. Appl. Genet. Mol. Biol. 3 (2004), section 6.2; unlike there, no variance is made smaller.

    >>> [one] = moderate_variances([Contrast(0.1, 0.01, 4, 5, "t")])
    >>> one.df
    4
    """
    basis = [c for c in lenders or contrasts if 0 < c.df < GIVEN and c.se > 0]
    if len(basis) < FEWEST:
        return list(contrasts)
    df = np.array([c.df for c in basis])
    middle, further = fit_prior(np.array([c.se**2 * c.n for c in basis]), df)
    most = max(float(df.sum()) * SHARED, float(df.max()))
    return [c if c.df <= 0 or c.df >= GIVEN else _moderate(c, middle, further, most) for c in contrasts]


def _moderate(c: Contrast, middle: float, further: float, most: float) -> Contrast:
    own = c.se**2 * c.n
    whole = min(c.df + further, most)
    share = 1.0 if math.isinf(further) else further / (c.df + further)
    variance = max(own, share * middle + (1 - share) * own)
    return replace(c, se=math.sqrt(variance / c.n), df=max(whole, c.df))


def fit_prior(variances: FloatArray, df: FloatArray) -> tuple[float, float]:
    """Return the typical variance, and the degrees of freedom that it is worth: infinite if all agree."""
    from scipy.special import digamma, polygamma  # it takes a tenth of a second

    logs = np.log(variances) - digamma(df / 2) + np.log(df / 2)
    spread = float(logs.var(ddof=1) - polygamma(1, df / 2).mean())
    if spread <= 0:
        return math.exp(float(logs.mean())), math.inf
    further = 2 * _trigamma_inverse(spread)
    return math.exp(float(logs.mean() + digamma(further / 2)) - math.log(further / 2)), further


def _trigamma_inverse(y: float) -> float:
    """Invert trigamma by Newton's method, which rises to the root from below."""
    from scipy.special import polygamma

    x = 0.5 + 1 / y
    for _ in range(_STEPS):
        here = float(polygamma(1, x))
        step = here * (1 - here / y) / float(polygamma(2, x))
        x += step
        if -step < 1e-8 * x:
            break
    return x
