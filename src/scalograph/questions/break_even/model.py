"""Where is parallel as fast as sequential? The line of break-even over several factors, from few pairs of runs.

Each pair gives g = ln(T_par / T_seq) at a point. The surface is a mechanistic mean (`isoline_mean`) with what is not
known of its parameters, and a smooth rest: a Gaussian process whose kernel holds the slopes of the mean by its
parameters. The next pair is made where the sign of g is least sure, near the line: the straddle rule.

Sources: B. Bryan et al., Active learning for identifying function threshold boundaries, NIPS 18 (2005), for the rule;
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006), 2.7, for the kernel of a mean
that is not known.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.quantiles import t_quantile
from scalograph.questions.break_even.model_mean import USUAL, Axis, Mean, fit_mean, size_powers

# A point is decided where the interval of g leaves 0 out: 95%.
SURE = 1.96
# Residuals beyond so many times their usual size are outliers, and pulled in to that.
OUTLIER = 3.5
# Standard deviations that are tried: of a pair, and of the smooth rest; reach of the rest along each axis, in log2.
NOISE_RANGE, REST_RANGE, REACH_RANGE = (0.01, 0.5), (0.02, 1.0), (0.7, 20.0)
# Few pairs lie near any mean that bends, and seem to have little noise: the belief in the usual one gives way to less
# reluctantly, and to more more easily (standard deviations of its log).
STILLER, NOISIER = 0.4, 0.8
DIGITS = 9
# A gain that is less, in logs, even with endless work, is none: the formula would name a line far outside.
LEAST_GAIN = 0.02
# Pairs after which the hyperparameters are fitted anew.
EVERY = 5


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Standard deviations of a pair's noise and of the smooth rest; log2 reach of the rest on each axis."""

    noise: float
    rest: float
    reach: FloatArray


class RatioSurface:
    """Gaussian process of ln(T_par / T_seq), fitted to pairs of runs."""

    def __init__(
        self, x: FloatArray, g: FloatArray, axes: Sequence[Axis], cpus: int, earlier: "RatioSurface | None" = None
    ) -> None:
        """Fit g, the log ratio of each pair, at rows of x: log2 of each factor, shape (pairs, axes).

        `cpus`: that workers can use at once. `earlier`: a fit to all these pairs but the last ones. Its parameters are
        reused but for every fifth pair, and start the search there; the mean is fitted anew every twentieth.
        """
        from scipy.linalg import cho_factor, cho_solve  # a plan fits nothing, and need not wait for it

        self.x = x
        self.mean: Mean = fit_mean(x, g, axes, cpus, earlier.mean if earlier and len(x) % 20 else None)
        self._slopes = self.mean.slopes(x)
        rest = g - self.mean(x)
        usual = max(1.4826 * float(np.median(np.abs(rest - np.median(rest)))), USUAL)
        self._rest = _winsorize(x, rest, OUTLIER * usual)
        self._prior = self.mean.sd**2
        self._known = (self._slopes * self._prior) @ self._slopes.T
        before = earlier.parameters if earlier else None
        self.parameters: Hyperparameters = before if before and len(x) % EVERY else self._fit_parameters(before)
        # How noisy pairs are is known from these alone: the fewer, the wider (Student's t).
        self._wider = t_quantile(0.95, max(len(x) - 2 * x.shape[1] - 1, 2)) / SURE
        covariance = _kernel(x, x, self.parameters) + self._known + self.parameters.noise**2 * np.eye(len(x))
        self._factor = cho_factor(covariance, lower=True)
        self._alpha = cho_solve(self._factor, self._rest)

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict g at each row: its mean, and the standard deviation of which `SURE` are 95%."""
        from scipy.linalg import cho_solve

        slopes = self.mean.slopes(at)
        across = _kernel(at, self.x, self.parameters) + (slopes * self._prior) @ self._slopes.T
        own = self.parameters.rest**2 + (slopes**2 * self._prior).sum(axis=1)
        variance = own - np.einsum("ij,ji->i", across, cho_solve(self._factor, across.T, check_finite=False))
        return self.mean(at) + across @ self._alpha, self._wider * np.sqrt(np.maximum(variance, 1e-12))

    def _fit_parameters(self, earlier: Hyperparameters | None) -> Hyperparameters:
        from scipy.linalg import cho_factor, cho_solve
        from scipy.optimize import minimize

        d = self.x.shape[1]
        apart, ones = (self.x[:, None, :] - self.x[None, :, :]) ** 2, np.eye(len(self.x))
        bounds = [tuple(np.log(pair)) for pair in (NOISE_RANGE, REST_RANGE, *[REACH_RANGE] * d)]

        def cost(logs: FloatArray) -> float:
            smooth = np.exp(2 * logs[1] - 0.5 * apart @ np.exp(-2 * logs[2:]))
            covariance = smooth + self._known + np.exp(2 * logs[0]) * ones
            factor = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
            fitted = 0.5 * self._rest @ cho_solve(factor, self._rest, check_finite=False)
            fitted += np.log(np.diag(factor[0])).sum()
            beyond = logs[0] - np.log(USUAL)
            belief = (beyond / (NOISIER if beyond > 0 else STILLER)) ** 2 + (logs[1] - np.log(0.08)) ** 2
            return float(fitted + (belief + ((logs[2:] - np.log(4)) ** 2).sum()) / 2)

        start = np.log([earlier.noise, earlier.rest, *earlier.reach] if earlier else [USUAL, 0.08, *[4.0] * d])
        best = minimize(cost, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 12}).x
        return Hyperparameters(float(np.exp(best[0])), float(np.exp(best[1])), np.exp(best[2:]))


def _kernel(a: FloatArray, b: FloatArray, parameters: Hyperparameters) -> FloatArray:
    columns = zip((a / parameters.reach).T, (b / parameters.reach).T, strict=True)
    parts = ((at[:, None] - other[None, :]) ** 2 for at, other in columns)
    return np.asarray(parameters.rest**2 * np.exp(-0.5 * sum(parts)))


def _winsorize(x: FloatArray, rest: FloatArray, most: float) -> FloatArray:
    """Pull outliers in to `most`, unless several pairs at one point agree."""
    keys = [(tuple(at), np.sign(r)) for at, r in zip(x, rest, strict=True)]
    counts = Counter(key for key, r in zip(keys, rest, strict=True) if abs(r) > most)
    pairs = zip(keys, rest, strict=True)
    return np.array([r if abs(r) <= most or counts[key] > 1 else most * key[1] for key, r in pairs])


def straddle_score(mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Score points by the straddle rule; rounded, so that other linear algebra has the same ties."""
    return np.asarray(np.round(SURE * sd - np.abs(mean), DIGITS))


def least_work(mean: Mean, others: Mapping[int, float]) -> float | None:
    """Return the work above which parallel wins: the product of all sizes, each to its power `size_powers(mean)`.

    `others`: log2 of each factor that is no size, by its axis. None where the workers never make up for their cost.
    """
    x = np.array([[others.get(i, (axis.low + axis.high) / 2) for i, axis in enumerate(mean.axes)]])
    start, worker, work, call = mean.parts(x)[:, 0]
    cost = np.exp(start) + np.exp(worker) - np.exp(call)
    if work > -LEAST_GAIN or cost <= 0:
        return None
    sizes = sum(
        p * (axis.low + axis.high) / 2 * np.log(2) for (i, p) in size_powers(mean).items() for axis in [mean.axes[i]]
    )
    return float(np.exp(np.log(cost) - np.log1p(-np.exp(work)) + sizes))


BITS = 30
# The first direction numbers of each axis: as many as 16 points take.
_DIRECTIONS = ((1, 1, 1, 1), (1, 3, 5, 15), (1, 3, 3, 9), (1, 3, 1, 5))
MOST_AXES, MOST_POINTS = len(_DIRECTIONS), 16


def sobol_points(n_axes: int, n: int, seed: int) -> FloatArray:
    """Draw at least n (up to 16) scrambled Sobol points, a row each, from 0 to 1 on up to 4 axes.

    Raises ValueError: more axes or points than that.
    """
    if n_axes > MOST_AXES or n > MOST_POINTS:
        raise ValueError(f"found {n_axes} axes and {n} points, expected at most {MOST_AXES} and {MOST_POINTS}")
    # scipy draws with a child of the generator that it is given.
    rng, digits = np.random.default_rng(abs(seed)).spawn(1)[0], ceil(log2(max(n, 2)))
    shifts = rng.integers(2, size=(n_axes, BITS), dtype=np.uint32)[:, ::-1]
    below = np.tril(rng.integers(2, size=(n_axes, BITS, BITS), dtype=np.uint32), -1)
    index = np.arange(2**digits)
    coded = (index ^ index >> 1)[:, None] >> np.arange(digits) & 1  # Gray code: shape (points, digits)
    axes = []
    for numbers, shift, lower in zip(_DIRECTIONS, shifts, below, strict=False):
        scaled = np.array([number << (BITS - 1 - j) for j, number in enumerate(numbers[:digits])])
        directions = (lower + np.eye(BITS, dtype=np.uint32)) @ (scaled >> np.arange(BITS - 1, -1, -1)[:, None] & 1)
        bits = (coded @ directions.T + shift) % 2
        axes.append(bits @ 0.5 ** np.arange(1, BITS + 1))  # exact: these are sums of different powers of two
    return np.stack(axes, axis=1)
