"""The whole search for break-even on programs whose line is known, as a study makes it: over levels, until it ends."""

import time
from dataclasses import dataclass
from itertools import product
from math import log

import numpy as np

from scalograph.questions.break_even.course import EVEN, BreakEvenCourse
from scalograph.questions.break_even.model import SURE
from scalograph.questions.break_even.truth import ForkJoin, axes, pair
from scalograph.simulate.noise import Noise

# `isolines.RANGES` as levels of a study (first, behind the last, step), and what is fixed where a factor does not vary.
RANGES_OF_LEVELS = ((4, 19, 1), (0, 11, 2), (0, 7, 1), (0, 5, 1))
MIDDLE = (10.0, 4.0, 3.0, 0.0)
# A log ratio of so much is near the line.
NEAR = 0.3


@dataclass(frozen=True, slots=True)
class AskedPairs:
    """What a search as the laboratory makes it came to.

    Attributes:
        decided: it ended with an answer.
        n: pairs.
        wrong: share of the points told wrongly: the slower version wins, by more than `EVEN`, or both are even.
        held: share of the points near the line whose true ratio lies in its interval.
        slowest: longest time from a pair to the next question, in seconds.
    """

    decided: bool
    n: int
    wrong: float
    held: float
    slowest: float


def asked(program: ForkJoin, d: int, rng: np.random.Generator, noise: Noise) -> AskedPairs:
    """The search over a grid of levels until it ends, arguments as of `search`; two axes are elements and workers."""
    free = {1: (0,), 2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}[d]
    at = np.array([*product(*(np.arange(*RANGES_OF_LEVELS[i]) for i in free))], dtype=float)
    whole = np.tile(np.array(MIDDLE), (len(at), 1))
    whole[:, free] = at
    whole = whole[:, : max(d, 3)]
    course = BreakEvenCourse([axes(4)[i] for i in free], at, program.cpus, int(rng.integers(1 << 30)))
    slowest = 0.0
    while (index := course.next_level) is not None:
        score = pair(program, whole[index], rng, noise)
        begin = time.perf_counter()
        course.add(index, score)
        slowest = max(slowest, time.perf_counter() - begin)
    assert course.surface is not None
    true, (mean, sd) = program.log_ratio(whole), course.surface(at)
    known, even = np.abs(mean) > SURE * sd, np.abs(true) < log(1 + EVEN)
    wrong = np.where(known, (np.sign(mean) != np.sign(true)) & ~even, ~even & ~course.is_open(mean, sd))
    near = np.abs(true) < NEAR
    held = np.abs(mean - true) <= SURE * sd
    return AskedPairs(course.decided, len(course.asked), float(wrong.mean()), float(held[near].mean()), slowest)
