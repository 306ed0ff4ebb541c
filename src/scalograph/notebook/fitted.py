"""A scaling law fitted to numbers measured anywhere: callable, with its intervals, predictions and picture."""

import html
from collections.abc import Sequence

import numpy as np

from scalograph.analysis import usl
from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.usl import Usl, Weights
from scalograph.analysis.usl_predict import REACH, predict
from scalograph.notebook.drawn import Drawn, curve_plot

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
        """Share of the work that is serial."""
        return self.law.sigma

    @property
    def kappa(self) -> Estimate:
        """Cost of coherency."""
        return self.law.kappa

    @property
    def gamma(self) -> Estimate:
        """Throughput of one, in the unit of the data."""
        return self.law.gamma

    @property
    def optimum(self) -> Estimate:
        """Size with the largest throughput; no value but a lower end where the data do not reach it."""
        return self.law.optimum

    def __call__(self, n: float | Sequence[float] | FloatArray) -> FloatArray:
        """Return the throughput of the fitted curve at sizes `n`, without an interval: an array of their shape."""
        return self.law(np.asarray(n, dtype=float))

    def predict(self, n: float) -> Estimate:
        """Return the throughput at a size that was not measured, with its interval; refused with a reason."""
        return predict(self.law, n, confidence=self._confidence)

    def plot(self) -> Drawn:
        """Return a picture of the points, and of the curve as far as predictions reach."""
        sizes = np.linspace(float(self._n.min()), REACH * float(self._n.max()), _STEPS)
        points = self._n.tolist(), self._throughput.tolist()
        return Drawn(curve_plot(points, (sizes.tolist(), self(sizes).tolist()), ("size", "throughput")))

    def _parts(self) -> list[tuple[str, str]]:
        return [(name, f"{getattr(self.law, name)}") for name in ("sigma", "kappa", "gamma", "optimum")]

    def __repr__(self) -> str:
        flags = "".join(f"; {flag.text}" for flag in self.law.flags)
        return f"<USL: {', '.join(f'{name} {text}' for name, text in self._parts())}{flags}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self._parts())
        flags = "".join(f"<p>{html.escape(flag.text)}</p>" for flag in self.law.flags)
        return f"<table>{rows}</table>{flags}{self.plot().svg}"
