"""Does `find commit` name the commit, and after how many builds and runs? Beside a bisection with a threshold.

Simulated histories of 20 to 500 commits: one step or two at random places, noise of 1% to 10% for a run, one run of
twenty slowed by some of it more, drift between blocks, and histories of which a fifth does not build. The size of a
step is in standard deviations of a pair. The bisection measures both ends and each commit so many times, and takes
the middle of the ends as its threshold, as a script for `git bisect run` does.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import log2, sqrt
from statistics import fmean

import numpy as np
from statistics_common import Case, Measure, main, share

from scalograph.questions.commit.search_state import MOST, CommitState, Gap

SIZES, NOISES = (20, 60, 212, 500), (0.01, 0.1)
SLOWED, DRIFT, BROKEN = 0.05, 0.1, 0.2
BUILDS = 3  # beyond log2 of the commits


@dataclass
class History:
    """Commits with the log of their times, and those that do not build."""

    rng: np.random.Generator
    steps: list[tuple[int, float]]
    n: int
    noise: float
    broken: set[int] = field(default_factory=set)

    def run(self, commit: int, drift: float = 0.0) -> float:
        """The log of a time."""
        slowed = abs(self.rng.normal(0, 5 * self.noise)) if self.rng.random() < SLOWED else 0.0
        return sum(size for at, size in self.steps if commit >= at) + self.rng.normal(0, self.noise) + slowed + drift


Draw = Callable[[np.random.Generator], History]


def draw(rng: np.random.Generator, pairs: tuple[float, ...], broken: float = 0.0) -> History:
    """A history with steps of so many standard deviations of a pair."""
    n, noise = int(rng.choice(SIZES)), float(rng.uniform(*NOISES))
    at = sorted(rng.choice(np.arange(1, n), len(pairs), replace=False).tolist())
    steps = [(place, size * sqrt(2) * noise) for place, size in zip(at, pairs, strict=True)]
    return History(rng, steps, n, noise, {i for i in range(1, n - 1) if rng.random() < broken})


@dataclass
class Search:
    """A finished search, its runs, and the builds of commits that build."""

    state: CommitState
    runs: int
    builds: int

    @property
    def placed(self) -> list[Gap]:
        """The steps whose place is known."""
        return [gap for gap in self.state.steps() if not gap.open] if self.state.is_slower else []


def search(history: History) -> Search:
    """The search as the planner makes it."""
    state, runs, last = CommitState([*map(str, range(history.n))]), 0, history.n - 1
    built = {0, last}
    while runs < MOST and (level := state.next_level) is not None:
        if level in history.broken:
            state.observe_failure(level)
            continue
        built.add(level)
        drift = float(history.rng.normal(0, DRIFT))
        version = None if level == last else history.run(level, drift)
        state.observe(level, (history.run(0, drift), version, history.run(last, drift)))
        runs += 2 if version is None else 3
    return Search(state, runs, len(built))


def bisect(history: History, repeats: int, drift: float) -> tuple[int, int]:
    """The commit that a bisection names, and its runs; the machine drifts by so much between commits."""

    def measure(commit: int) -> float:
        at = float(history.rng.normal(0, drift))
        return fmean(history.run(commit, at) for _ in range(repeats))

    low, high = 0, history.n - 1
    threshold, runs = (measure(low) + measure(high)) / 2, 2 * repeats
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if measure(middle) > threshold else (middle, high)
        runs += repeats
    return high, runs


def holds(gap: Gap, place: int, history: History) -> bool:
    """Whether a step is in the smallest possible set: its commit, beside those that do not build."""
    return gap.first < place <= gap.last and all(i in history.broken for i in range(gap.first + 1, gap.last))


def named(history: Draw) -> Measure:
    """Share of right commits."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        done = [(h := history(rng), search(h)) for _ in range(n_cases)]
        right = sum(bool(s.placed) and holds(s.placed[0], h.steps[0][0], h) for h, s in done)
        runs = [s.runs for _, s in done]
        return share(right, n_cases, f"{np.median(runs):.0f} runs, p95 {np.percentile(runs, 95):.0f}")

    return measure


def built(history: Draw) -> Measure:
    """Share of searches within so many builds."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        done = [(h := history(rng), search(h)) for _ in range(n_cases)]
        beyond = [s.builds - log2(h.n) for h, s in done]
        return share(sum(b <= BUILDS for b in beyond), n_cases, f"at most log2 + {max(beyond):.1f}")

    return measure


def seconds(history: Draw) -> Measure:
    """Share of histories of two steps of which the smaller one is placed, or said to be elsewhere."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        right = n_placed = 0
        for _ in range(n_cases):
            h = history(rng)
            done = search(h)
            places = [place for place, _ in h.steps]
            is_placed = all(any(holds(gap, place, h) for gap in done.placed) for place in places)
            # Else the answer shows that the first step is not all.
            right += is_placed or len(done.state.steps()) > len(done.placed) or _is_part(done)
            n_placed += is_placed
        return share(right, n_cases, f"both placed in {100 * n_placed / n_cases:.0f}%")

    return measure


def _is_part(done: Search) -> bool:
    known = done.state.effects
    if known is None or not done.placed:
        return True
    first = done.placed[0].change
    return first.value + known.quantile(0.025) * first.error < known.whole.value


def false(history: Draw) -> Measure:
    """Share of histories without a step in which a commit is named."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        done = [search(history(rng)) for _ in range(n_cases)]
        return share(sum(bool(s.placed) for s in done), n_cases, f"{np.mean([s.runs for s in done]):.0f} runs")

    return measure


def bisected(history: Draw, repeats: int, drift: float) -> Measure:
    """Share of right commits of a bisection."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        done = [(h := history(rng), bisect(h, repeats, drift)) for _ in range(n_cases)]
        right = sum(commit == h.steps[0][0] for h, (commit, _) in done)
        return share(right, n_cases, f"{np.mean([runs for _, (_, runs) in done]):.0f} runs")

    return measure


def cases() -> Iterator[Case]:
    """Ours against its targets, then the bisection."""
    for size in (2, 3, 6):
        one, some = partial(draw, pairs=(size,)), partial(draw, pairs=(size,), broken=BROKEN)
        yield Case(f"step of {size} pairs: right commit", (95.0, 100.0), named(one))
        yield Case(f"step of {size} pairs, a fifth does not build: smallest set", (95.0, 100.0), named(some))
        yield Case(f"step of {size} pairs: builds within log2(n) + {BUILDS}", (95.0, 100.0), built(one))
        for repeats, drift in ((1, 0.0), (5, 0.0), (15, 0.0), (15, DRIFT)):
            moves = ", the machine drifts" * bool(drift)
            yield Case(f"step of {size} pairs: bisection, {repeats} runs each{moves}", None,
                       bisected(one, repeats, drift))  # fmt: skip
    for pair in ((3, 2), (6, 2), (4, 4)):
        yield Case(f"steps of {pair[0]} and {pair[1]} pairs: both, or said to be open", (95.0, 100.0), seconds(
            partial(draw, pairs=pair)))  # fmt: skip
    yield Case("no step: a commit is named", (0.0, 5.0), false(partial(draw, pairs=())))


if __name__ == "__main__":
    main("statistics_commit", list(cases()), n_long=200, n_quick=20)
