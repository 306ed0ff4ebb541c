"""What would more give? A bracket, never a point alone; and a refusal where the data cannot carry it."""

from collections.abc import Sequence

from scalograph.analysis.estimate import Estimate, unknown
from scalograph.analysis.law import Law
from scalograph.analysis.profile import limit, lower_end, upper_end
from scalograph.analysis.usl import N_PARAMETERS, Usl

# So many times the largest size that was measured, and no further.
REACH = 2.0
METHOD = "prediction: bracket from coherency alone to Amdahl's law, widened by the profile interval"


def predict(fit: Usl, n: float, boundaries: Sequence[int] = (), confidence: float = 0.95) -> Estimate:
    """Throughput at a size that was not measured.

    Near the last point a curve with only contention and one with only coherency fit alike, and part beyond it: both
    are in the bracket, and so is all that the profile likelihood allows.

    Args:
        fit: the law.
        n: the size, above 1.
        boundaries: sizes up to which the CPUs are of one kind (the last core before siblings are shared, the last of
            a cache, socket or memory node); beyond one the law is another.
        confidence: of the profile interval.

    Returns:
        The estimate; without value where it is refused, and a warning says why.
    """
    largest = fit.law.largest
    if why := _refusal(n, largest, boundaries) or _no_law(fit):
        return unknown(METHOD, confidence, fit.law.n, why)
    ends = [_through(fit.law, n, shape) for shape in ("contention", "coherency")]
    value, top = fit.throughput(n), limit(fit.law.rss, fit.law.n, N_PARAMETERS, confidence)
    if top is None:
        return Estimate(value, None, None, confidence, fit.law.n, METHOD, ("one more size or run makes an interval",))
    if not fit.law.exact:

        def profile(x: float) -> float:
            return fit.law.prediction_profile(n, x)

        ends += [lower_end(profile, value, top, value * 1e-6), upper_end(profile, value, top, value) or value]
    return Estimate(value, min(*ends, value), max(*ends, value), confidence, fit.law.n, METHOD)


def _refusal(n: float, largest: float, boundaries: Sequence[int]) -> str:
    if n <= 1:
        return f"found size {n:g}, expected one above 1"
    if n > REACH * largest:
        return f"{n:g} is more than {REACH:g} times the largest size measured ({largest:g}): measure further"
    crossed = [b for b in boundaries if largest <= b < n]
    if crossed:
        return f"beyond {crossed[0]} the CPUs share what they did not before; nothing was measured there"
    return ""


def _no_law(fit: Usl) -> str:
    """A curve that the points are not of leads nowhere."""
    bad = [flag.partition(":")[0] for flag in fit.flags if flag.startswith(("lack of fit", "superlinear"))]
    return f"{bad[0]}: this law does not hold here, so it predicts nothing" if bad else ""


def _through(law: Law, n: float, shape: str) -> float:
    """Throughput by the law with only one of its two costs."""
    gamma, sigma, kappa = law.reduced(shape)
    return gamma * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))
