"""Search the least of an amount with which a limit is kept, one run after the other.

The limit is kept from some amount on, so that the crossing is one of its reciprocal. A run that failed says that the
amount was too little: a program that is killed for memory keeps no limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log

from scalograph.analysis.crossing import Crossing, Posterior, posterior
from scalograph.study.scalars import Level

# Where the first runs are, as shares of the range by its log, and where the next ones, of the crossing's probability.
FIRST, NEXT = (0.5, 0.8, 0.2), (0.5, 0.3, 0.7)
MOST = 24
# A failed run as a response over its limit: far on the wrong side.
FAILED = 10.0
# Share of runs that something slowed, or that failed for another reason.
LOST = 0.05


@dataclass
class AmountSearch:
    """The search along one amount: its levels, ascending, and the runs so far, None over the limit if one failed."""

    factor: str
    levels: Sequence[float]
    beside: Mapping[str, Level]
    at: list[float] = field(default_factory=list)
    over: list[float | None] = field(default_factory=list)
    crossing: Crossing | None = None
    _posterior: Posterior | None = None

    @property
    def first(self) -> list[float]:
        low, high = self.levels[0], self.levels[-1]
        wanted = [low * exp(share * log(high / low)) for share in FIRST]
        return list(dict.fromkeys(min(self.levels, key=lambda x, at=at: abs(log(x / at))) for at in wanted))  # type: ignore[misc]

    @property
    def next_level(self) -> float | None:
        """Return where the next run tells most; None once the least amount is known.

        A level that was measured less often goes first: a step lies between levels, and one side of it would be
        measured again and again.
        """
        if left := next((level for level in self.first if level not in self.at), None):
            return left
        crossing = self.crossing
        if self._posterior is None or crossing is None or crossing.is_known or len(self.at) >= MOST:
            return None
        wanted = 1 / self._posterior.quantile(NEXT[len(self.at) % len(NEXT)])
        inside = [level for level in self.levels if crossing.low <= 1 / level <= crossing.high]
        return min(
            inside or self.levels, key=lambda level: (self.at.count(level) * bool(inside), abs(log(level / wanted)))
        )

    def enough(self, factor: float) -> float:
        """Return the least level that is so many times the least amount, and no less than its interval's upper end."""
        assert self.crossing is not None
        wanted = max(factor / self.crossing.level, 1 / self.crossing.low) * (1 - 1e-9)
        return next((level for level in self.levels if level >= wanted), self.levels[-1])

    @property
    def n_left(self) -> int:
        """Return how many runs there are still to come, as far as is known."""
        return 0 if self.next_level is None else max(1, 10 - len(self.at))

    def observe(self, level: float, over: float | None) -> None:
        """Add a run. Its amount and its interval are in `crossing`, as reciprocals."""
        self.at.append(level)
        self.over.append(over)
        ends = 1 / self.levels[-1], 1 / self.levels[0]
        scores = [FAILED if each is None else each for each in self.over]
        self._posterior = posterior([1 / each for each in self.at], scores, ends, LOST)
        self.crossing = self._posterior.crossing([1 / each for each in self.levels])
