"""What share of the work does not get faster with more CPUs?"""

from dataclasses import replace

from scalograph.analysis.estimate import Estimate, unknown


def karp_flatt(gain: Estimate, growth: float) -> Estimate:
    """Return the experimentally determined serial fraction (1/S - 1/p) / (1 - 1/p), S the speedup on p times the CPUs.

    It falls as S rises, so the interval of S carries over with its ends exchanged. Below zero, S is above p.
    If the baseline itself runs on several CPUs, it is the fraction of that program, not of the sequential one.

    Args:
        gain: the speedup.
        growth: p, CPUs in use over those of the baseline.

    Returns:
        The fraction, 0 for perfect scaling, 1 for none; no value if p <= 1.

    Source: A. H. Karp and H. P. Flatt, Measuring parallel processor performance, CACM 33 (1990), eq. 2.

    >>> karp_flatt(Estimate(1.6, 1.5, 1.7, 0.95, 5, "t"), 2.0).value
    0.25
    """
    method = "serial fraction (Karp-Flatt)"
    if growth <= 1:
        short = "need more CPUs than the baseline uses for a serial fraction"
        return unknown(method, gain.confidence, gain.n, short)

    def fraction(s: float | None) -> float | None:
        return None if s is None or s <= 0 else (1 / s - 1 / growth) / (1 - 1 / growth)

    value, low, high = fraction(gain.value), fraction(gain.high), fraction(gain.low)
    return replace(gain, value=value, low=low, high=high, method=f"{method}, {gain.method}")
