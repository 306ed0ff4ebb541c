import math
import random

import pytest
from scipy.optimize import brentq

from scalograph.analysis.crossing import crossing


def test_a_crossing_is_where_scipy_finds_it() -> None:
    rng = random.Random(5)
    for _ in range(200):
        root, power, steep = 10 ** rng.uniform(-6, 6), rng.choice([1, 2, 3, 7]), 10 ** rng.uniform(-3, 3)
        low, high = root * rng.uniform(0, 0.99), root * rng.uniform(1.01, 9)

        def f(x: float, root: float = root, power: int = power, steep: float = steep) -> float:
            return steep * ((x / root) ** power - 1)

        for ends in ((low, high), (high, low)):
            assert crossing(f, *ends) == pytest.approx(brentq(f, low, high, rtol=1e-13), rel=1e-9)


def test_a_crossing_is_found_in_few_steps_also_where_a_function_is_no_parabola() -> None:
    seen: list[float] = []

    def f(x: float) -> float:
        seen.append(x)
        return math.atan(50 * (x - 0.3)) + (x > 0.3) * 0.5

    assert crossing(f, 0.0, 1.0) == pytest.approx(0.3, rel=1e-9) and len(seen) < 50


@pytest.mark.parametrize(("low", "high"), [(2.0, 3.0), (1.0, 2.0)])
def test_an_end_may_be_the_crossing(low: float, high: float) -> None:
    assert crossing(lambda x: x - 2, low, high) == pytest.approx(2.0, rel=1e-9)
