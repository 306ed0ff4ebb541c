"""Noise of known size: between iterations, between runs, and of a few slowed runs."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

FloatArray = NDArray[np.float64]
Truth = Literal["median", "geometric", "mean"]


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of iterations within a run, of runs, and of the few runs that something slows down.

    Attributes:
        within: standard deviation of log times between the iterations of a run (0.02 is 2%).
        between: standard deviation of log times between runs.
        slow_share: share of the runs that are slowed as a whole, 0 to 1.
        slow_factor: time of a slowed run over that of an undisturbed one, above zero.
    """

    within: float
    between: float
    slow_share: float = 0.0
    slow_factor: float = 1.5

    def run_logs(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Draw log deviations of whole runs from the undisturbed one, of this shape."""
        logs = self.between * rng.standard_normal(shape)
        if self.slow_share > 0:
            logs += math.log(self.slow_factor) * (rng.random(shape) < self.slow_share)
        return logs

    def iteration_logs(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Draw log deviations of iterations from their run, of this shape."""
        return self.within * rng.standard_normal(shape)

    def score_sd(self, n_iterations: int) -> float:
        """Return the standard deviation of log scores of runs that are not slowed, a score being a median.

        The median of m normal values has a variance of about pi / 2m; exactly 1 for m = 1.
        """
        median_share = 1.0 if n_iterations == 1 else math.pi / 2 / (n_iterations + math.pi / 2 - 1)
        return math.sqrt(self.between**2 + self.within**2 * median_share)

    def truth(self, of: Truth, n_iterations: int = 20) -> float:
        """Return the true median, geometric or arithmetic mean of scores, in units of the undisturbed typical time.

        >>> Noise(0.0, 0.0, 0.5, 1.5).truth("mean")
        1.25
        """
        p, shift, sd = self.slow_share, math.log(self.slow_factor), self.score_sd(n_iterations)
        if of == "geometric":
            return math.exp(p * shift)
        if of == "mean":
            return math.exp(sd**2 / 2) * (1 + p * (self.slow_factor - 1))
        if p == 0 or sd == 0:
            return 1.0 if p <= 0.5 else self.slow_factor

        def excess(x: float) -> float:
            return float((1 - p) * ndtr(x / sd) + p * ndtr((x - shift) / sd)) - 0.5

        span = 10 * sd + abs(shift)
        return math.exp(float(brentq(excess, -span, span)))


QUIET = Noise(within=0.0, between=0.0)
LOW = Noise(within=0.02, between=0.03)
HIGH = Noise(within=0.05, between=0.03, slow_share=0.03, slow_factor=1.5)
NOISES = {"low": LOW, "high": HIGH}
