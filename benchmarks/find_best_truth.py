"""How near `find best` comes to the true best, and how often its set holds it: simulated surfaces of four kinds.

Surfaces: the universal scalability law, the same with a cliff, with an interaction of all factors, and two optima;
over 64 threads, 32 threads x 7 batch sizes, 64 threads x 3 batch sizes x 2 options. Runs differ by the noise, and 3% of
them are slowed by half. Beside it, with as many runs: configurations drawn at random, and optuna's sampler (TPE) where
it can be imported; and the whole grid, ten runs each.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import product

import numpy as np
from simulate.best import GRIDS, KINDS, BestProgram, draw_run, program, search
from statistics_common import Case, Measure, main, share

from scalograph.questions.best.search_state import N_FRESH

NOISES = (0.02, 0.05, 0.1, 0.2)
NEAR, FIFTH, GRID_RUNS = 0.02, 5, 10
# Noise up to which the regret is to be within 2%; above, within a standard error of the fresh runs.
MOST_NOISE = 0.05
CELLS = list(product(KINDS, GRIDS.values()))


@dataclass(frozen=True)
class Outcome:
    """A search: its regrets, as shares, and its runs.

    Attributes:
        regret, random, grid, optuna: of the search, of random runs, of the whole grid, of optuna; None without it.
        holds: whether the set holds the best.
        n_members, n_runs, n_grid: of the set, of all runs, and of the whole grid with ten runs each.
    """

    regret: float
    random: float
    grid: float
    optuna: float | None
    holds: bool
    n_members: int
    n_runs: int
    n_grid: int


@cache
def outcomes(noise: float, n: int) -> list[Outcome]:
    """Search n surfaces, the kinds and grids in turn."""
    return [_outcome(np.random.default_rng([11, i]), *CELLS[i % len(CELLS)], noise) for i in range(n)]


def _outcome(rng: np.random.Generator, kind: str, grid: object, noise: float) -> Outcome:
    made = program(rng, kind, grid)  # type: ignore[arg-type]
    state = search(made, rng, noise)
    assert state.choice is not None
    n_runs, best = len(state.at) + len(state.confirmed) * N_FRESH, int(np.argmin(made.logs))
    runs = np.array([draw_run(rng, log, noise) for log in np.repeat(made.logs, GRID_RUNS)]).reshape(-1, GRID_RUNS)
    return Outcome(
        regret=made.regret(state.choice.winner), random=_random(made, rng, noise, n_runs),
        grid=made.regret(int(np.argmin(np.median(runs, axis=1)))), optuna=_optuna(made, rng, noise, n_runs),
        holds=best in state.choice.members, n_members=len(state.choice.members), n_runs=n_runs, n_grid=runs.size,
    )  # fmt: skip


def _random(made: BestProgram, rng: np.random.Generator, noise: float, n_runs: int) -> float:
    drawn = rng.integers(len(made.logs), size=n_runs)
    return made.regret(int(drawn[np.argmin([draw_run(rng, made.logs[i], noise) for i in drawn])]))


def _optuna(made: BestProgram, rng: np.random.Generator, noise: float, n_runs: int) -> float | None:
    if find_spec("optuna") is None:
        return None
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    index = {tuple(at): i for i, at in enumerate(made.space.at.tolist())}

    def run(trial: optuna.Trial) -> float:
        factors = zip(made.space.names, made.space.levels, strict=True)
        at = [trial.suggest_int(name, 0, len(own) - 1) for name, own in factors]
        return draw_run(rng, made.logs[index[tuple(at)]], noise)

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=int(rng.integers(1 << 30))))
    study.optimize(run, n_trials=n_runs)
    return made.regret(index[tuple(study.best_params[name] for name in made.space.names)])


def _is_near(outcome: Outcome, within: float) -> bool:
    return outcome.regret <= within


def of(noise: float, holds: Callable[[Outcome], bool]) -> Measure:
    """Share of the searches of which something is true; the note has runs and the size of the set."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        every = outcomes(noise, n)
        runs, size = (np.mean([getattr(x, name) for x in every]) for name in ("n_runs", "n_members"))
        return share(sum(map(holds, every)), n, f"{runs:.0f} runs with the fresh ones, set of {size:.0f}")

    return measure


def cases() -> Iterator[Case]:
    for noise in NOISES:
        head = f"{100 * noise:.0f}% noise: "
        within = max(NEAR, noise / N_FRESH**0.5) if noise > MOST_NOISE else NEAR
        near = of(noise, partial(_is_near, within=within))
        yield Case(f"{head}regret within {100 * within:.2g}%", (95.0, 100.0), near)
        yield Case(f"{head}the set holds the best", (95.0, 100.0), of(noise, lambda x: x.holds))
        few = of(noise, lambda x: FIFTH * x.n_runs <= x.n_grid)
        yield Case(f"{head}a fifth of the runs of the grid at most", (100.0, 100.0), few)
        yield Case(f"{head}random runs: regret within 2%", None, of(noise, lambda x: x.random <= NEAR))
        yield Case(f"{head}grid, 10 runs each: regret within 2%", None, of(noise, lambda x: x.grid <= NEAR))
        if find_spec("optuna"):
            yield Case(f"{head}optuna: regret within 2%", None, of(noise, lambda x: (x.optuna or 0.0) <= NEAR))


if __name__ == "__main__":
    if find_spec("optuna") is None:
        print("without optuna; with it: pip install --target DIR optuna; PYTHONPATH=src:DIR", file=sys.stderr)
    main("find_best_truth", list(cases()), n_long=48, n_quick=12)
