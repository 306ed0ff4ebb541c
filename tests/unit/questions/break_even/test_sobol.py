"""The points of a spread start: a signal while they are drawn changes none of them, and counts afterwards."""

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import qmc

from scalograph.questions.break_even.model_sobol import sobol


def test_a_signal_while_they_are_drawn_counts_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed, draw = sobol(3, 12, 5), qmc.Sobol.random_base2
    drawn = []

    def interrupted(*given: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        drawn.append(draw(*given))
        return drawn[0]

    monkeypatch.setattr(qmc.Sobol, "random_base2", interrupted)
    before: Callable[..., object] | int | None = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sobol(3, 12, 5)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert undisturbed.shape == (16, 3) and np.array_equal(drawn[0], undisturbed)
