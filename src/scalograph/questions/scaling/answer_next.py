"""What limits a curve beyond its largest size: how much is serial, and what one more would gain."""

from collections.abc import Sequence
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.serial_fraction import karp_flatt
from scalograph.analysis.usl import Usl
from scalograph.analysis.usl_predict import Boundary, crossed, predict
from scalograph.protocol.findings import Curve, Point
from scalograph.questions.scaling.model_boundaries import NO_CPU
from scalograph.questions.scaling.model_next import next_gain


def beyond(curve: Curve, fit: Usl | None, limits: Sequence[Boundary]) -> dict[str, Any]:
    """Tell what is serial, and what one more would gain; nothing past a boundary of the machine that was not measured.

    Args:
        curve: with its speedups.
        fit: its law.
        limits: boundaries of the machine along the curve.

    Returns:
        The fields `serial`, `next_size` and `next` of the curve, as far as they are known.
    """
    measured = [point for point in curve.points if point.speedup and point.speedup.value]
    measured.sort(key=lambda point: int(point.level))
    serial = _serial(fit, measured, limits) if len(measured) > 1 else None
    if serial is None:
        return {}
    first, last = int(measured[0].level), int(measured[-1].level)
    if crossed(last, last + 1, limits) or any(b.begins == NO_CPU and b.after <= last for b in limits):
        return {"serial": serial}
    if fit is not None:
        gained: Estimate | None = predict(fit, last + 1, limits, serial.confidence, over=last).plus(-1)
    else:
        gained = next_gain(serial, last) if first == 1 else None
    return {"serial": serial, "next": gained, "next_size": last + 1 if gained else None}


def _serial(fit: Usl | None, measured: Sequence[Point], limits: Sequence[Boundary]) -> Estimate | None:
    """The law's; of two sizes, and where there are more workers than CPUs, by Karp and Flatt up to the last CPU."""
    n_cpus = next((limit.after for limit in limits if limit.begins == NO_CPU), int(measured[-1].level))
    inside = [point for point in measured if int(point.level) <= n_cpus]
    if fit is not None and len(inside) == len(measured):
        return fit.sigma
    last = inside[-1] if len(inside) > 1 else measured[-1]
    growth = min(int(last.level), n_cpus) / min(int(measured[0].level), n_cpus)
    return karp_flatt(last.speedup, growth) if last.speedup and growth > 1 else None
