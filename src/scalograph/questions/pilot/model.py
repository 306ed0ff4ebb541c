"""Estimate noise from a pilot's runs of several configurations, and the sample size that it asks for.

The configurations share the noise and not the level: variances are pooled. A pilot of twelve runs knows a standard
deviation to a quarter at best, and a study planned from its plain value misses the precision half of the time. So
there are enough runs for the interval to be narrow enough in nineteen of twenty configurations: the variance of the
study over that of the pilot is an F variable. Where something slows 3% of the runs by half, which a pilot seldom sees,
it is five of six (benchmarks/statistics_pilot.py).

Source: T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013, section 6 (noise on two levels);
R. H. Browne, On the use of a pilot sample for sample size determination, Statist. Med. 14 (1995) (plan from more than
the pilot's own standard deviation).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri, fdtr, fdtri

from scalograph.analysis.allocate import Spread
from scalograph.analysis.center import FloatArray, Scores, finite_scores, has_logs
from scalograph.analysis.quantiles import t_quantile

SURE = 0.95
MOST_RUNS = 10_000
# Runs that differ by chance alone seem to differ in one pilot of twenty.
CHANCE = 0.05


@dataclass(frozen=True, slots=True)
class Pilot:
    """Noise of a pilot, as standard deviations of logs (0.03 is 3%).

    Attributes:
        sd_score: between runs of one configuration, each a median of iterations.
        iterations: counted ones behind a score, the typical number.
        spread: within and between runs; None where runs have one iteration.
        differ: whether runs differ by more than their iterations explain; without, `spread.between` means nothing.
        between_most: upper bound of the noise between runs, at 95% confidence.
    """

    sd_score: float
    df: int
    iterations: int
    spread: Spread | None = None
    differ: bool = False
    between_most: float = math.inf

    def sd_at(self, iterations: int) -> float:
        """Return `sd_score` of runs with so many iterations; as measured where noise between runs is not known."""
        if self.spread is None or not self.differ:
            return self.sd_score
        return self.sd_score * _sd_of_median(self.spread, iterations) / _sd_of_median(self.spread, self.iterations)


def pilot(configurations: Sequence[Sequence[Scores]]) -> Pilot | None:
    """Estimate the noise of a pilot; None where no configuration has two runs, or a score <= 0 has no log.

    `configurations`: for each, the iterations after warm-up of each of its runs, above zero.

    >>> pilot([[[1.0, 1.1], [1.0, 1.2]], [[5.0, 5.5]]]).df
    1
    """
    scores = [[x for x, _ in map(finite_scores, runs) if x.size] for runs in configurations]
    groups = [[np.log(x) for x in runs] for runs in scores if len(runs) > 1 and has_logs(*runs)]
    if not groups:
        return None
    df = sum(len(runs) - 1 for runs in groups)
    sizes = [x.size for runs in groups for x in runs]
    sd = math.sqrt(_variance_between(groups, np.median))
    noise = Pilot(sd, df, round(float(np.median(sizes))))
    return noise if min(sizes) < 2 else _split_noise(noise, groups, sizes)


def _split_noise(noise: Pilot, groups: Sequence[Sequence[FloatArray]], sizes: Sequence[int]) -> Pilot:
    df_within = sum(sizes) - len(sizes)
    within = sum(float(np.square(x - x.mean()).sum()) for runs in groups for x in runs) / df_within
    means, explained = _variance_between(groups, np.mean), within * float(np.mean([1 / n for n in sizes]))
    spread = Spread(math.sqrt(within), math.sqrt(max(0.0, means - explained)))
    by_chance = 1 - fdtr(noise.df, df_within, means / explained) if explained else float(means == 0)
    most = math.sqrt(max(0.0, means * noise.df / chdtri(noise.df, 1 - CHANCE) - explained))
    return replace(noise, spread=spread, differ=bool(by_chance < CHANCE), between_most=most)


def _variance_between(groups: Sequence[Sequence[FloatArray]], middle: Callable[[FloatArray], object]) -> float:
    middles = [np.array([middle(x) for x in runs]) for runs in groups]
    return sum(float(np.square(m - m.mean()).sum()) for m in middles) / sum(m.size - 1 for m in middles)


def _sd_of_median(spread: Spread, iterations: int) -> float:
    """Return the deviation of a median of iterations, whose variance is about pi / 2m of theirs; theirs for one."""
    share = 1.0 if iterations == 1 else math.pi / 2 / (iterations + math.pi / 2 - 1)
    return math.sqrt(spread.between**2 + spread.within**2 * share)


def noisier_configurations(configurations: Sequence[Sequence[Scores]]) -> list[int]:
    """Return the indices of configurations whose runs vary more than all others, and not by chance."""
    pilots = [pilot([runs]) for runs in configurations]
    indices = []
    for index, own in enumerate(pilots):
        rest = pilot([runs for other, runs in enumerate(configurations) if other != index])
        if own and rest and own.sd_score > rest.sd_score:
            ratio = (own.sd_score / rest.sd_score) ** 2 if rest.sd_score else math.inf
            if (1 - fdtr(own.df, rest.df, ratio)) * len(pilots) < CHANCE:
                indices.append(index)
    return indices


def runs_for(sd: float, df: int, precision: float, confidence: float = 0.95, sure: float = SURE) -> int | None:
    """Return the runs after which an interval is narrow enough with a probability of `sure`.

    Args:
        sd: of log scores, from a pilot; 0 or more.
        df: its degrees of freedom, 1 or more.
        precision: half-width over the value, above zero.
        confidence: nominal coverage of the interval.
        sure: between 0.5 and 1; 0.5 plans from the pilot's own value.

    Returns at least 2; None where more than 10,000 are needed.

    Raises ValueError: the precision is not above zero.

    >>> runs_for(0.03, 8, 0.01), runs_for(0.03, 1000, 0.01)
    (106, 50)
    """
    if not precision > 0:
        raise ValueError(f"precision: found {precision}, expected a share above zero, such as 0.01")
    n = 2
    while half_width_of(sd, n, confidence) * math.sqrt(fdtri(n - 1, df, sure)) > precision:
        n += max(1, n // 50)  # a plan need not be exact to the run
        if n > MOST_RUNS:
            return None
    return n


def half_width_of(sd: float, runs: int, confidence: float = 0.95) -> float:
    """Return the expected half-width over the value of an interval from at least 2 runs."""
    return t_quantile(confidence, runs - 1) * sd / math.sqrt(runs)
