"""A scaling law fitted to any numbers: callable, with intervals, predictions and a chart."""

import html
from collections.abc import Sequence

import numpy as np

from scalograph.analysis import usl
from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.usl import Usl, Weights
from scalograph.analysis.usl_predict import REACH, predict
from scalograph.notebook.picture import Picture, curve_plot

# Of the line: enough for a peak to look round.
_STEPS = 200


def fit_usl(
    n: Sequence[float] | FloatArray,
    throughput: Sequence[float] | FloatArray,
    weights: Weights = "relative",
    confidence: float = 0.95,
) -> "FittedLaw":
    """Fit the universal scalability law to throughputs at sizes.

    Args:
        n: sizes above 0: CPUs, threads, users. Several runs of a size are several points.
        throughput: work per time at each, in any unit.
        weights: `relative`: points err by a share of themselves; `none`: all by the same amount.
        confidence: of the intervals.

    Raises:
        ValueError: there are fewer than three sizes, or a number is out of range.

    >>> fit = fit_usl([1, 2, 4, 8], [10, 18, 29, 39])
    >>> round(float(fit(16)), 1), fit.kappa.n
    (40.2, 4)
    """
    law = usl.fit_usl(n, throughput, weights, confidence)
    return FittedLaw(law, np.asarray(n, dtype=float), np.asarray(throughput, dtype=float), confidence)


class FittedLaw:
    """A fitted law: `fit(n)` is its throughput at sizes `n`.

    Attributes:
        law: with `sigma` (share that is serial), `kappa` (cost of coherency), `gamma` (throughput of one) and `optimum`
            (size of the largest throughput), all estimates; and `flags`, what a reader must know.
    """

    def __init__(self, law: Usl, n: FloatArray, throughput: FloatArray, confidence: float) -> None:
        self.law, self._n, self._throughput, self._confidence = law, n, throughput, confidence

    @property
    def sigma(self) -> Estimate:
        """Return the serial share of the work."""
        return self.law.sigma

    @property
    def kappa(self) -> Estimate:
        """Return the cost of coherency."""
        return self.law.kappa

    @property
    def gamma(self) -> Estimate:
        """Return the throughput of one, in the unit of the data."""
        return self.law.gamma

    @property
    def optimum(self) -> Estimate:
        """Return the size with the largest throughput; only a lower end where the data do not reach it."""
        return self.law.optimum

    def __call__(self, n: float | Sequence[float] | FloatArray) -> FloatArray:
        """Return the throughput of the fitted curve at sizes `n`: an array of their shape."""
        return self.law(np.asarray(n, dtype=float))

    def predict(self, n: float) -> Estimate:
        """Predict the throughput at an unmeasured size, with its interval; refused with a reason."""
        return predict(self.law, n, confidence=self._confidence)

    def plot(self) -> Picture:
        """Draw the points, and the curve as far as predictions reach."""
        sizes = np.linspace(float(self._n.min()), REACH * float(self._n.max()), _STEPS)
        points = self._n.tolist(), self._throughput.tolist()
        return Picture(curve_plot(points, (sizes.tolist(), self(sizes).tolist()), ("size", "throughput")))

    def _parts(self) -> list[tuple[str, str]]:
        return [(name, f"{getattr(self.law, name)}") for name in ("sigma", "kappa", "gamma", "optimum")]

    def __repr__(self) -> str:
        flags = "".join(f"; {flag.text}" for flag in self.law.flags)
        return f"<USL: {', '.join(f'{name} {text}' for name, text in self._parts())}{flags}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self._parts())
        flags = "".join(f"<p>{html.escape(flag.text)}</p>" for flag in self.law.flags)
        return f"<table>{rows}</table>{flags}{self.plot().svg}"
