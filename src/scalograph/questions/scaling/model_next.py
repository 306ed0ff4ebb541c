"""What would one more gain, where only one and n were measured? Two points carry no law, but a bracket."""

from dataclasses import replace

from scalograph.analysis.estimate import Estimate

METHOD = "from 1 and n alone: from coherency alone to Amdahl's law"


def next_gain(serial: Estimate, n: int) -> Estimate | None:
    """Gain in throughput from n to n + 1, as a share; None where the serial fraction has no interval.

    With the serial fraction e, all of it contention (Amdahl) gives S(n + 1) = (n + 1) / (1 + e n); all of it coherency,
    kappa = e / n, gives (n + 1) / (1 + e (n + 1)): the universal scalability law (Gunther 2007, ch. 4) at its ends.
    A fraction below zero counts as none.

    >>> from scalograph.analysis import Estimate
    >>> found = next_gain(Estimate(0.05, 0.0, 0.1, 0.95, 10, ""), 2)
    >>> round(found.low, 3), round(found.high, 3)
    (0.269, 0.5)
    """
    if serial.value is None or serial.low is None or serial.high is None:
        return None
    value, least, most = (max(0.0, e) for e in (serial.value, serial.low, serial.high))
    low, high = _gain(most, n, most * (n + 1)), _gain(least, n, least * n)
    between = (_gain(value, n, value * n) + _gain(value, n, value * (n + 1))) / 2
    return replace(serial, value=between, low=low, high=high, method=METHOD)


def _gain(serial: float, n: int, loss: float) -> float:
    return (n + 1) / (1 + loss) * (1 + serial * (n - 1)) / n - 1
