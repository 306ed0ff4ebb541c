"""Programs whose need is known, and simulated searches for it.

A program takes its work over the quota, and a share that does not depend on it. One with a working set is killed below
it, and just above it is slower by the pages that it reads again. One that has little of both may be slower still.
"""

from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np

from scalograph.design.search_steps import Configuration
from scalograph.questions.asked import amount_levels
from scalograph.questions.size.search_state import SizeState
from simulate.noise import Noise

# Levels -> time over the limit; None where it is killed.
Program = Callable[[Configuration], float | None]
RANGES = {"quota": "0.1:2", "memory": "16M:512M"}


def ladders(names: Sequence[str]) -> Mapping[str, list[float]]:
    """Return the levels of `find size`, by amount."""
    return {name: amount_levels(RANGES[name], name) for name in names}


def program(
    rng: np.random.Generator, names: Sequence[str], shortage: float = 0.0
) -> tuple[Program, Mapping[str, float]]:
    """Draw a program, and return it with what it needs of each amount beside enough of the other.

    `shortage`: by how much longer it takes at the least of both, up to 1.5 times the least of one of them.
    """
    need = {name: float(np.exp(rng.uniform(log(1.2 * x[0]), log(0.8 * x[-1])))) for name, x in ladders(names).items()}
    idle, slope = rng.uniform(0.0, 0.5), rng.uniform(0.0, 4.0)

    def over(levels: Configuration) -> float | None:
        share = 1.0
        if "quota" in need:
            share = idle + (1 - idle) * need["quota"] / float(levels["quota"])
        if "memory" in need:
            room = float(levels["memory"]) / need["memory"]
            if room < 1:
                return None
            scarce = (
                max(0.0, 3 - 2 * room) * max(0.0, 3 - 2 * float(levels["quota"]) / need["quota"]) if shortage else 0
            )
            share *= 1 + shortage * scarce
            share *= 1 + slope * max(0.0, 0.02 - (room - 1)) if "quota" not in need else 1.0
        return share if "quota" in need else 0.5 * share

    return over, need


def search(over: Program, names: Sequence[str], rng: np.random.Generator, noise: Noise) -> SizeState:
    """Simulate the search of `find size`; runs differ by the noise."""
    state = SizeState(ladders(names), 1.0, {})
    while (level := state.next_level) is not None:
        (configuration,) = state.steps[level]
        score = over(configuration)
        if score is None:
            state.observe_failure(level)
        else:
            state.observe(level, score * float(np.exp(noise.run_logs(rng, (1,))[0])))
    return state
