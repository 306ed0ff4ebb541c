"""Points that are spread evenly over a cube, drawn without being broken off."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, log2
from types import FrameType

import numpy as np

from scalograph.analysis.center import FloatArray

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def sobol(n_axes: int, n: int, seed: int) -> FloatArray:
    """Return at least n points of a scrambled Sobol sequence, a row each, from 0 to 1 on every axis."""
    with _unbroken():
        from scipy.stats import qmc  # half a second, which only this question has to wait for

        return qmc.Sobol(n_axes, rng=np.random.default_rng(abs(seed))).random_base2(ceil(log2(max(n, 2))))


@contextmanager
def _unbroken() -> Iterator[None]:
    """Keep a signal until the end: what a handler raises while scipy reads its table is dropped, with the table."""
    kept: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread():
        ours = {}
    for number in ours:
        signal.signal(number, lambda number, frame: kept.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
    for heard, frame in kept[:1]:
        ours[signal.Signals(heard)](heard, frame)
