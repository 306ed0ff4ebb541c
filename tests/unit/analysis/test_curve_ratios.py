"""Ratios of two studies of many runs."""

import tracemalloc

import numpy as np

from scalograph.analysis.curve_ratios import BlockedLogs, curve_ratios


def test_memory_grows_with_the_runs_and_not_with_their_square() -> None:
    """Two files of another instrument, whose runs are blocks: one of many runs, many of few."""
    rng = np.random.default_rng(7)
    for sizes in ([20_000], [20_000, *[3] * 200]):
        a, b = ([BlockedLogs(0.03 * rng.standard_normal(n), range(n)) for n in sizes] for _ in range(2))
        tracemalloc.start()
        try:
            assert curve_ratios(a, b).configurations[0].df > 1000
            assert tracemalloc.get_traced_memory()[1] < 30e6
        finally:
            tracemalloc.stop()
