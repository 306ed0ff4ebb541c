"""Which settings matter? Searches among eleven factors of which it is known what each does.

Of an active factor one level gains 6 to 9%; of the other ones each gains half of that or loses as much. Beside it
the published protocol, every setting alone: 33 settings three times, and ten runs of the default. And searches that
end after a block of 30 runs, 9 of which fail because of a level.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import exp, log

import numpy as np
from simulate.noise import HIGH, LOW
from simulate.tunables import N_FACTORS, TunedProgram, program, search
from statistics_common import SEED, Case, Measure, main, share

from scalograph.questions.tunables.model_fit import confirm_gain, factorial
from scalograph.questions.tunables.model_groups import sensitivity_ranks
from scalograph.study.model import ONE_AT_A_TIME, SCREENING, PlanKind

NOISES = {"low": LOW, "high": HIGH}
# Runs by which both of two are to be found: blocks of 27 of the array and 3 of the default.
ASKED = {"low": 60, "high": 90}
BLOCK = 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a search: after how many runs all that matter were found, and what else was said."""

    found_after: int | None
    false: bool
    held: bool
    covers: tuple[bool, ...]
    ranks_hold: bool
    ranks_tell: bool
    n_runs: int


@cache
def outcomes(noise: str, n_active: int, plan: PlanKind, n: int) -> tuple[Outcome, ...]:
    """Search among the settings of n programs."""
    rng = np.random.default_rng([SEED, n_active, len(noise), len(plan)])
    return tuple(_outcome(noise, n_active, plan, rng) for _ in range(n))


def _outcome(noise: str, n_active: int, plan: PlanKind, rng: np.random.Generator) -> Outcome:
    made = program(rng, n_active, (4 if plan == ONE_AT_A_TIME else 3,) * N_FACTORS)
    state = search(made, rng, NOISES[noise], plan)
    after = next((k for k, said in enumerate(state.looks, 1) if made.active <= {*said}), None)
    fit = state.fit_settings()
    assert fit is not None
    gains = zip([made.gains[j][level] for j, level in fit.names], map(fit.gain, range(len(fit.names))), strict=True)
    fresh = factorial(state.candidates, N_FACTORS) if state.candidates else []
    said, may_be = sensitivity_ranks(fit, N_FACTORS), _places(made)
    return Outcome(
        found_after=None if after is None else (BLOCK if plan == SCREENING else len(state.observations)) * after,
        false=bool({*state.selected} - made.active),
        held=all((e.low or 0) <= exp(x) <= (e.high or 0) for x, e in gains),
        covers=tuple(confirm_gain(state.pairs, one, state.confidence).contains(exp(made.log(one))) for one in fresh),
        ranks_hold=all(low <= a and b <= high for (low, _, high), (a, b) in zip(said, may_be, strict=True)),
        ranks_tell=all(said[j][2] <= n_active for j in made.active),
        n_runs=len(state.observations),
    )


@cache
def first_looks(noise: str, n_active: int, n: int) -> tuple[tuple[bool, bool], ...]:
    """Search with eight factors one of whose levels fails: whether the first block finds all that matter, or others."""
    rng = np.random.default_rng([SEED, n_active, len(noise), 8])
    found = []
    for _ in range(n):
        made = _large(rng, n_active)
        said = {*search(made, rng, NOISES[noise]).looks[0]}
        found.append((made.active <= said, bool(said - made.active)))
    return tuple(found)


def _large(rng: np.random.Generator, n_active: int) -> TunedProgram:
    """Draw a program with effects of 5 to 8 times, of one level each."""
    levels, fails = (2, 3, *(2,) * 6), (7, 1)
    gains = [[0.0] * n for n in levels]
    for j in rng.permutation(len(levels) - 1)[:n_active].tolist():
        gains[j][int(rng.integers(1, levels[j]))] = float(rng.choice([-1, 1]) * rng.uniform(log(5), log(8)))
    return TunedProgram(tuple(map(tuple, gains)), fails)


def looked(noise: str, n_active: int, told: Callable[[bool, bool], bool]) -> Measure:
    """Share of the first looks of which something is true: that all that matter are found, and that others are."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        return share(sum(told(*one) for one in first_looks(noise, n_active, n)), n, "30 runs, 9 fail")

    return measure


def _places(made: TunedProgram) -> list[tuple[int, int]]:
    """The places by sensitivity that each factor has, first and last where some tie."""
    true = [float(np.std(levels, ddof=1)) for levels in made.gains]
    return [(1 + sum(x > own for x in true), sum(x >= own for x in true)) for own in true]


def of(noise: str, n_active: int, plan: PlanKind, told: Callable[[Outcome], bool]) -> Measure:
    """Share of the searches of which something is true; the note has their runs."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        found = outcomes(noise, n_active, plan, n)
        runs = np.mean([one.n_runs for one in found])
        return share(sum(map(told, found)), n, f"{runs:.0f} runs in all")

    return measure


def covered(noise: str) -> Measure:
    """Share of the intervals of confirmed gains that hold the truth."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        every = [hit for k in (1, 2, 4) for one in outcomes(noise, k, SCREENING, n) for hit in one.covers]
        return share(sum(every), len(every), f"{len(every)} gains")

    return measure


def cases() -> Iterator[Case]:
    for noise, asked in ASKED.items():

        def in_time(one: Outcome, most: int = asked) -> bool:
            return one.found_after is not None and one.found_after <= most

        yield Case(f"{noise} noise: 2 of 11 found in {asked} runs", (98.0, 100.0), of(noise, 2, SCREENING, in_time))
        yield Case(f"{noise} noise: 4 of 11 found", None, of(noise, 4, SCREENING, lambda one: bool(one.found_after)))
        for k in (0, 1, 2, 4):
            name = f"{noise} noise, {k} active: any other is said to matter"
            yield Case(name, (0.0, 6.0), of(noise, k, SCREENING, lambda one: one.false))
        yield Case(f"{noise} noise: confirmed gains are covered", (93.0, 97.0), covered(noise))
        held = of(noise, 2, SCREENING, lambda one: one.held)
        yield Case(f"{noise} noise: intervals of all settings hold together", (93.0, 100.0), held)
        for k in (0, 4):
            held = of(noise, k, SCREENING, lambda one: one.ranks_hold)
            yield Case(f"{noise} noise, {k} active: sets of ranks of all factors hold", (93.0, 100.0), held)
        told = of(noise, 2, SCREENING, lambda one: one.ranks_tell)
        yield Case(f"{noise} noise: two that matter surely have ranks 1 and 2", None, told)
        large = looked(noise, 2, lambda found, others: found and not others)
        yield Case(f"{noise} noise: two effects of 5 to 8 times found in 30 runs, no other", (95.0, 100.0), large)
        none = looked(noise, 0, lambda found, others: others)
        yield Case(f"{noise} noise, a level fails, 0 active: any is said to matter in 30 runs", (0.0, 6.0), none)
        name = f"{noise} noise, one at a time"
        yield Case(
            f"{name}: 2 of 11 found in 109 runs", None, of(noise, 2, ONE_AT_A_TIME, lambda one: bool(one.found_after))
        )
        yield Case(f"{name}: any other is said to matter", None, of(noise, 0, ONE_AT_A_TIME, lambda one: one.false))


if __name__ == "__main__":
    main("statistics_tunables", list(cases()), n_long=200, n_quick=25)
