"""Simulate searches among settings with known effects."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from scalograph.questions.tunables.model_array import FactorSpace, Settings
from scalograph.questions.tunables.search_state import TunablesState
from scalograph.study.model import SCREENING, PlanKind
from simulate.noise import Noise
from simulate.runs import run_scores

# Factors of three levels each, and what the best level of an active one gains at least and at most, as a log.
N_FACTORS, GAINS = 11, (0.06, 0.09)


@dataclass(frozen=True)
class TunedProgram:
    """A program that settings make faster or slower.

    Attributes:
        gains: log performance of each level of each factor; the first one, the default, has 0.
        fails: setting with which every run fails, by the places of its factor and its level.
    """

    gains: tuple[tuple[float, ...], ...]
    fails: tuple[int, int] | None = None

    @property
    def active(self) -> set[int]:
        """Return the factors that have an effect."""
        return {j for j, levels in enumerate(self.gains) if any(levels)}

    @property
    def space(self) -> FactorSpace:
        """Return its factors, as a study has them."""
        names = tuple(f"f{j}" for j in range(len(self.gains)))
        return FactorSpace(names, tuple(tuple(range(len(levels))) for levels in self.gains), {}, names)

    def log(self, settings: Settings) -> float:
        """Return the log performance of a configuration, without noise."""
        return sum(levels[k] for levels, k in zip(self.gains, settings, strict=True))

    def works(self, settings: Settings) -> bool:
        """Tell whether runs of a configuration succeed."""
        return self.fails is None or settings[self.fails[0]] != self.fails[1]


def program(rng: np.random.Generator, n_active: int, n_levels: Sequence[int] = (3,) * N_FACTORS) -> TunedProgram:
    """Draw a program: of each active factor one level gains, and each other one half of that or loses as much."""
    active = set(rng.permutation(len(n_levels))[:n_active].tolist())
    gains = []
    for j, n in enumerate(n_levels):
        best, own = float(rng.uniform(*GAINS)), [0.0] * n
        for level in range(1, n) if j in active else ():
            own[level] = best * float(rng.choice([-0.5, 0.5]))
        if j in active:
            own[int(rng.integers(1, n))] = best
        gains.append(tuple(own))
    return TunedProgram(tuple(gains))


def search(
    program_: TunedProgram, rng: np.random.Generator, noise: Noise, plan: PlanKind = SCREENING, n_runs: int = 3
) -> TunablesState:
    """Search as the planner does, to its end."""
    state = TunablesState(program_.space, int(rng.integers(1 << 30)), plan, 0.01, n_runs)
    while (level := state.next_level) is not None:
        settings = state.steps[level]
        if program_.works(settings):
            state.observe(level, float(run_scores(rng, (1,), noise)[0]) * exp(-program_.log(settings)))
        else:
            state.observe_failure(level)
    return state
