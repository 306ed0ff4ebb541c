"""Fit all settings of all factors at once, robustly, and draw what noise alone would show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import exp
from typing import NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray, trim_note
from scalograph.analysis.contrast import PAIRED, paired_contrast
from scalograph.analysis.estimate import Estimate, unknown_estimate
from scalograph.questions.tunables.model_array import Settings, dummies, indicators

# Residuals beyond so many robust standard deviations weigh no more than that (P. J. Huber, 1981).
HUBER = 2.0
# Degrees of freedom below which nothing is said of the noise.
LEAST_FREEDOM = 3
SEEN_FROM = 2.5  # with more coefficients for each run than this leaves, outliers draw the fit after them
DRAWS, STEPS = 4096, 50
LARGEST = 700.0  # a log of which a float still holds the number: what a program printed may be any
METHOD = "joint robust regression on log scores, simultaneous over all settings"


@dataclass(frozen=True)
class SettingFit:
    """Effects of all settings against their defaults.

    Attributes:
        gains: log of the performance over the default's: of the rate, or of one over the time; shape (settings,).
        covariance: of the gains, for noise of 1.
        sd: noise of a run, as a standard deviation of logs.
        spread: of the gains for `covariance`: `sd`, and what drawing in outliers costs.
        freedom: degrees of freedom of `sd`.
        confidence: of all intervals together.
    """

    names: list[tuple[int, int]]
    gains: FloatArray
    covariance: FloatArray
    sd: float
    spread: float
    freedom: int
    counts: list[int]
    confidence: float
    seed: int

    @property
    def errors(self) -> FloatArray:
        """Return standard errors of the gains, shape (settings,)."""
        return np.asarray(self.spread * np.sqrt(np.diag(self.covariance)))

    @cached_property
    def noise(self) -> FloatArray:
        """Draw gains of programs on which no setting has an effect, shape (draws, settings)."""
        draw = np.random.default_rng(self.seed % 2**63)
        value, vectors = np.linalg.eigh(self.covariance)
        # The symmetric root: vectors of equal values are arbitrary, and differ from CPU to CPU.
        root = (vectors * np.sqrt(np.maximum(value, 0.0))) @ vectors.T
        return np.asarray(self.spread * draw.standard_normal((DRAWS, len(value))) @ root)

    @cached_property
    def t_scale(self) -> FloatArray:
        """Draw what divides `noise` for its spread to be as uncertain as ours, shape (draws, 1)."""
        draw = np.random.default_rng((self.seed + 1) % 2**63)
        return np.asarray(np.sqrt(draw.chisquare(self.freedom, (DRAWS, 1)) / self.freedom))

    @cached_property
    def critical(self) -> float:
        """Return how many standard errors a half-width has, so that all intervals hold together."""
        t = np.abs(self.noise) / np.maximum(self.errors, 1e-300) / self.t_scale
        return float(np.quantile(t.max(axis=1), self.confidence))

    @property
    def widest(self) -> float:
        """Return the largest half-width, as a log."""
        return float(self.critical * self.errors.max(initial=0.0))

    @cached_property
    def surely_within(self) -> float:
        """Return the largest half-width if the noise is as large as it may be, 9 times in 10."""
        from scipy.special import chdtri  # it takes a tenth of a second

        return self.widest * float(np.sqrt(self.freedom / chdtri(self.freedom, 0.9)))

    def gain(self, index: int) -> Estimate:
        """Return the performance with a setting over that of the default."""
        log, half = float(self.gains[index]), self.critical * float(self.errors[index])
        value, low, high = (exp(min(max(x, -LARGEST), LARGEST)) for x in (log, log - half, log + half))
        return Estimate(value, low, high, self.confidence, self.counts[index], METHOD)


def fit(
    rows: Sequence[Settings], logs: FloatArray, blocks: Sequence[int], n_levels: Sequence[int], matter: Sequence[int],
    confidence: float = 0.95, seed: int = 0,
) -> SettingFit | None:  # fmt: skip
    """Fit the effects of all settings at once; None where there are too few runs.

    `rows`: the level of each factor, run by run; `logs`: log performance of each, shape (runs,); `matter`: factors
    that were selected: what these leave is the noise, with what the others may do.
    """  # fmt: skip
    x, names = dummies(rows, n_levels)
    base = indicators(blocks)
    whole = np.hstack([base, x])
    if not names or int(np.linalg.matrix_rank(whole)) < whole.shape[1]:
        return None
    of_matter = [k for k, (j, _) in enumerate(names) if j in matter]
    noise = _noise(np.hstack([base, x[:, of_matter]]), logs)
    inverse = np.linalg.inv(whole.T @ whole)
    if noise is None:
        return None
    beta, _ = _robust(whole, logs, noise.clip)
    n, counts = base.shape[1], [int(c) for c in x.sum(axis=0)]
    return SettingFit(names, beta[n:], inverse[n:, n:], noise.sd, noise.spread, noise.freedom, counts, confidence, seed)


class _Noise(NamedTuple):
    """Noise of a run: its standard deviation, that of estimates, where residuals are drawn in."""

    sd: float
    spread: float
    freedom: int
    clip: float


def _noise(columns: FloatArray, logs: FloatArray) -> _Noise | None:
    n, used = columns.shape
    freedom = n - used
    if freedom < LEAST_FREEDOM:
        return None
    _, residuals = _robust(columns, logs)
    clip = clip_limit(residuals, freedom)
    drawn = np.clip(residuals, -clip, clip)
    sd = float(np.sqrt(np.square(drawn).sum() / freedom))
    return _Noise(sd, sd * _correction(residuals, clip, used), freedom, clip)


def _correction(residuals: FloatArray, clip: float, used: int) -> float:
    """Return Huber's correction for a share of residuals that are drawn in (1981, 7.6.2)."""
    kept = float(np.mean(np.abs(residuals) <= clip))
    return (1 + used / len(residuals) * (1 - kept) / kept) / kept if kept else 1.0


def has_enough_runs(n_runs: int, n_columns: int) -> bool:
    """Tell whether there are enough runs to see outliers beside so many coefficients."""
    return SEEN_FROM * (n_runs - n_columns) >= n_runs


def pull_in_outliers(
    rows: Sequence[Settings], logs: FloatArray, blocks: Sequence[int], n_levels: Sequence[int]
) -> FloatArray:
    """Return the logs with those of slowed runs drawn towards what all settings together make of them.

    Beside the effects of all factors an outlier is seen; beside those of none it is one of many that lie far off. What
    is left of the noise is as much larger as estimates from drawn-in residuals spread more than it tells, so that an F
    of these logs is one (pseudo-values: P. J. Bickel, Another look at robustness, Scand. J. Statist. 3, 1976).
    """
    whole = np.hstack([indicators(blocks), dummies(rows, n_levels)[0]])
    n, used = whole.shape
    if not has_enough_runs(n, used):
        return logs
    _, residuals = _robust(whole, logs)
    clip = clip_limit(residuals, n - used)
    drawn = _correction(residuals, clip, used) * np.clip(residuals, -clip, clip)
    return np.asarray(logs - residuals + drawn)


def clip_limit(residuals: FloatArray, freedom: int, deviations: float = HUBER) -> float:
    """Return the size from which residuals are drawn in: so many robust standard deviations."""
    scale = 1.4826 * float(np.median(np.abs(residuals))) * (len(residuals) / max(1, freedom)) ** 0.5
    return deviations * scale if scale > 0 else np.inf


def _robust(columns: FloatArray, logs: FloatArray, clip: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and residuals; `clip` None has it follow from the residuals."""
    solve = np.linalg.pinv(columns)
    beta = solve @ logs
    for _ in range(STEPS):
        residuals = logs - columns @ beta
        most = clip_limit(residuals, len(logs) - columns.shape[1]) if clip is None else clip
        step = solve @ np.clip(residuals, -most, most)
        beta = beta + step
        if float(np.abs(step).max(initial=0.0)) < 1e-10:
            break
    return beta, logs - columns @ beta


# Pairs of each configuration; the share of them that is set aside at each end, since some runs are slowed.
PAIRS, TRIM = 10, 0.1
# Factors whose settings are confirmed: with three there are seven configurations beside the default.
MOST_CONFIRMED = 3


def choose_candidates(
    fit: SettingFit, selected: Sequence[int], margin: float, left_out: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Choose the best setting of each factor that matters, where it promises a gain; best first.

    `margin`: gain that counts as none, as a share.
    """
    best = dict[int, tuple[float, int]]()
    for (factor, level), gain in zip(fit.names, fit.gains.tolist(), strict=True):
        is_better = gain > max(margin, best.get(factor, (0.0, 0))[0])
        if factor in selected and is_better and (factor, level) not in left_out:
            best[factor] = gain, level
    ordered = sorted(((gain, (factor, level)) for factor, (gain, level) in best.items()), reverse=True)
    return [setting for _, setting in ordered[:MOST_CONFIRMED]]


def factorial(settings: Sequence[tuple[int, int]], n_factors: int) -> list[Settings]:
    """Return the configurations with one of these settings or more, all other factors at their defaults.

    >>> factorial([(0, 2), (2, 1)], 3)
    [(2, 0, 0), (0, 0, 1), (2, 0, 1)]
    """
    groups = (group for k in range(1, len(settings) + 1) for group in combinations(settings, k))
    return [tuple(dict(group).get(j, 0) for j in range(n_factors)) for group in groups]


def confirm_gain(
    blocks: Sequence[Mapping[Settings, float | None]], configuration: Settings, confidence: float
) -> Estimate:
    """Estimate the performance of a configuration over the default, from the blocks that have both.

    `blocks`: log performance of each configuration in each block; None where its run failed.
    """
    default = tuple(0 for _ in configuration)
    both = [(block.get(configuration), block.get(default)) for block in blocks]
    pairs = [(a, b) for a, b in both if a is not None and b is not None]
    if not pairs:
        return unknown_estimate(PAIRED, confidence, 0, "no block has a run of both")
    own, beside = np.array(pairs).T
    return paired_contrast(own, beside, TRIM).estimate(confidence).add_warnings(*trim_note(len(pairs), TRIM))
