"""Simulated machines that others use too: a CPU of two speeds, and one that is taken for a share of the time."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulate.noise import FloatArray

SPREAD = 0.005  # of the work of runs, on logs
GAP_S = 0.004  # from the end of a run to the start of the next
Program = Literal["worker", "sleeper", "ticker"]
N_PARTS, WORK_S, TICK_S = 20, 0.004, 0.005


@dataclass(frozen=True, slots=True)
class TwoSpeeds:
    """A CPU with fast and slow phases, and a short loop that is timed on it all the time.

    Attributes:
        shortest_s, longest_s: of the phases, log-uniform.
        program, loop: how many times as long each takes in slow phases.
        period_s: from one time of the loop to the next.
        noise: standard deviation of the log of such a time.
    """

    shortest_s: float
    longest_s: float
    program: float = 1.5
    loop: float = 1.25
    period_s: float = 0.008
    noise: float = 0.02

    def phases(self, rng: np.random.Generator, duration_s: float) -> tuple[FloatArray, FloatArray]:
        """Draw the starts of phases, and the seconds that a second of work takes in each, past a duration."""
        mean = (self.longest_s - self.shortest_s) / np.log(self.longest_s / self.shortest_s)
        ends, n = np.zeros(1), int(1.2 * duration_s / mean) + 20
        while ends[-1] < duration_s:
            lengths = np.exp(rng.uniform(np.log(self.shortest_s), np.log(self.longest_s), n))
            ends = np.concatenate([ends, ends[-1] + np.cumsum(lengths)])
        return ends, np.where(np.arange(ends.size) % 2, self.program, 1.0)


@dataclass(frozen=True, slots=True)
class TimedPairs:
    """Pairs of runs, shape (n_cases, 2, n_pairs): of `a`, then of `b`, which ran in random order.

    Attributes:
        times: logs of the times of runs.
        means, speeds: logs of the loop time of a run, as the arithmetic and as the harmonic mean.
    """

    times: FloatArray
    means: FloatArray
    speeds: FloatArray


def time_pairs(
    rng: np.random.Generator, machine: TwoSpeeds, n_cases: int, n_pairs: int, work_s: float, effect: float
) -> TimedPairs:
    """Draw pairs of runs; those of `a` have more work by a share `effect`, and runs follow each other."""
    most_s = work_s * (1 + effect) * machine.program * 1.05 + GAP_S
    slot_s = 2 * n_pairs * most_s + 2 * machine.longest_s
    starts, slowness = machine.phases(rng, slot_s * (n_cases + 1))
    done = np.concatenate([[0.0], np.cumsum(np.diff(starts) / slowness[:-1])])
    now = slot_s * np.arange(n_cases) + 2 * machine.longest_s * rng.random(n_cases)
    times, means, speeds = (np.empty((n_cases, 2, n_pairs)) for _ in range(3))
    every = np.arange(n_cases)
    for pair in range(n_pairs):
        first = rng.integers(2, size=n_cases)
        for member in (first, 1 - first):
            work = work_s * np.exp(SPREAD * rng.standard_normal(n_cases)) * np.where(member == 0, 1 + effect, 1.0)
            took = np.interp(np.interp(now, starts, done) + work, done, starts) - now
            loops = _time_loops(rng, machine, starts, now, took)
            times[every, member, pair] = np.log(took)
            means[every, member, pair] = np.log(np.nanmean(loops, axis=1))
            speeds[every, member, pair] = -np.log(np.nanmean(1 / loops, axis=1))
            now = now + took + GAP_S
    return TimedPairs(times, means, speeds)


def _time_loops(
    rng: np.random.Generator, machine: TwoSpeeds, starts: FloatArray, now: FloatArray, took: FloatArray
) -> FloatArray:
    """Draw the loop times within each run, NaN after its end, shape (n_cases, most)."""
    number = np.arange(int(took.max() / machine.period_s) + 1)
    at = now[:, None] + (number + rng.random((now.size, 1))) * machine.period_s
    is_slow = (np.searchsorted(starts, at, side="right") - 1) % 2 == 1
    loops = np.where(is_slow, machine.loop, 1.0) * np.exp(machine.noise * rng.standard_normal(at.shape))
    return np.where((at < now[:, None] + took[:, None]) | (number == 0), loops, np.nan)


@dataclass(frozen=True, slots=True)
class TakenRuns:
    """Runs of a program on a CPU that others take: seconds as it was, and without all waits for the CPU."""

    wall: FloatArray
    without_waits: FloatArray


def run_program(
    rng: np.random.Generator, program: Program, shape: tuple[int, ...], taken: float, effect: float = 0.0
) -> TakenRuns:
    """Draw runs of twenty parts of 4 ms of work, by a share `effect` more, on a CPU taken for a share of the time.

    A worker only works; a sleeper sleeps for 1 ms after each part; a ticker sleeps until the next multiple of 5 ms, so
    that its sleep is shorter by what a part had to wait, and it goes on at once where it is late. Others have the CPU
    for phases of exponential length, 3 ms apart on average.
    """
    n, mean_s = int(np.prod(shape)), 0.003
    work = WORK_S * (1 + effect) * np.exp(SPREAD * rng.standard_normal(n))
    slot_s = N_PARTS * (WORK_S * (1 + effect) + 0.001) / (1 - taken) * 3 + 0.5
    n_phases = int(1.1 * slot_s * n * (1 - taken) / mean_s) + 100
    lengths = rng.exponential(mean_s, (n_phases, 2)) * [1.0, taken / (1 - taken)]
    times = np.concatenate([[0.0], np.cumsum(lengths.ravel())])
    free = np.concatenate([[0.0], np.cumsum((lengths * [1.0, 0.0]).ravel())])
    begin = slot_s * np.arange(n)
    now, slept = begin.copy(), np.zeros(n)
    for part in range(N_PARTS):
        now = np.interp(np.interp(now, times, free) + work, free, times)
        if part < N_PARTS - 1 and program != "worker":
            until = now + 0.001 if program == "sleeper" else np.maximum(now, begin + TICK_S * (part + 1))
            slept += until - now
            now = until
    return TakenRuns((now - begin).reshape(shape), (N_PARTS * work + slept).reshape(shape))


def quiet_time(program: Program, effect: float = 0.0) -> float:
    """Return the seconds that a program takes with a CPU of its own.

    >>> quiet_time("worker"), round(quiet_time("sleeper"), 6), round(quiet_time("ticker", 0.05), 6)
    (0.08, 0.099, 0.0992)
    """
    work = WORK_S * (1 + effect)
    return {"worker": N_PARTS * work, "sleeper": N_PARTS * work + (N_PARTS - 1) * 0.001,
            "ticker": (N_PARTS - 1) * TICK_S + work}[program]  # fmt: skip
