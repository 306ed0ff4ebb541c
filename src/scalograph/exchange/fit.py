"""Fit scaling laws to throughputs at sizes: one document for people and machines."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from scalograph.analysis.estimate import NO_LAW, Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.analysis.speedup_points import karp_flatt
from scalograph.analysis.usl import Usl, Weights, fit_usl
from scalograph.analysis.usl_predict import REACH, predict
from scalograph.errors import StudyError
from scalograph.exchange.csv_points import Points


def laws(points: Points, weights: Weights, confidence: float, asked: Sequence[float] = ()) -> dict[str, Any]:
    """Fit the scaling laws to throughputs at sizes.

    Args:
        points: the measured throughputs.
        weights: which errors are equal (analysis.usl).
        confidence: of the intervals.
        asked: sizes to predict; if empty, as far as the data reach.

    Returns:
        `sigma`, `kappa`, `gamma`, `optimum` (estimates), `residual`, `flags` and their `codes`, `holds` (whether the
        law does), `predictions`, and `points`: `size`, `throughput`, `fitted`, and over the smallest size `speedup`,
        `efficiency`, `serial_fraction`.

    Raises:
        StudyError: there are too few sizes.
    """
    try:
        fit = fit_usl(points.sizes, points.rates, weights, confidence)
    except ValueError as error:
        raise StudyError.one("points", str(error), "", "measure more sizes, or name other columns") from error
    sizes = asked or (REACH * max(points.sizes),)
    return {
        "sigma": asdict(fit.sigma), "kappa": asdict(fit.kappa), "gamma": asdict(fit.gamma),
        "optimum": asdict(fit.optimum), "residual": fit.residual, "weights": weights,
        "flags": [flag.text for flag in fit.flags], "codes": [flag.code for flag in fit.flags],
        "holds": not any(flag.code in NO_LAW for flag in fit.flags),
        "points": list(_points(points, fit, confidence)),
        "predictions": [{"size": n, **asdict(predict(fit, n, confidence=confidence))} for n in sizes],
    }  # fmt: skip


def _points(points: Points, fit: Usl, confidence: float) -> list[dict[str, Any]]:
    sizes, rates = np.asarray(points.sizes), np.asarray(points.rates)
    first, *_ = every = [float(n) for n in np.unique(sizes)]
    return [
        {
            "size": n,
            "throughput": asdict(summarize(rates[sizes == n].tolist(), confidence)),
            "fitted": fit.throughput(n),
            **_speedup_fields(ratio(rates[sizes == n], rates[sizes == first], confidence), n / first),
        }
        for n in every
    ]


def _speedup_fields(speedup: Estimate, growth: float) -> dict[str, Any]:
    if growth == 1:
        return {"speedup": None, "efficiency": None, "serial_fraction": None}
    efficiency = speedup.rescale(1 / growth)
    return {
        "speedup": asdict(speedup),
        "efficiency": asdict(efficiency),
        "serial_fraction": asdict(karp_flatt(speedup, growth)),
    }
