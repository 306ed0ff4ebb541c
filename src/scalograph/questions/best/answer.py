"""Answer which configuration is best: the search is replayed from its runs."""

from collections.abc import Sequence
from math import exp

import numpy as np

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.versus import versus
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.sample import replay_runs
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.best.claim import best_claim
from scalograph.questions.best.document import Best, BestConfiguration, BestLine
from scalograph.questions.best.search_state import BestState, begin, cost
from scalograph.questions.best.tables import best_tables
from scalograph.questions.claims import add_failure, why_unanswerable
from scalograph.study.levels import Configuration
from scalograph.text.warning_catalog import Caveat

# Standard deviations that hold 95%, and the share of fresh runs set aside at each end, since some are slowed.
NORMAL, TRIM = 1.96, 0.1
MOST_MEMBERS = 200


def answer(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Answer:
    state = replay_runs(begin(table.study, table.configurations), table)
    document = _Assembly(table, state).best() if state.choice else None
    reason = add_failure(state.stop, table, table.configurations[state.space.default]) if state.stop else ""
    reason = reason or why_unanswerable(table, taken)
    doubts = [] if state.over and not state.stop else [Caveat("nothing known", {"what": "the best configuration"})]
    if document and not state.over:
        doubts = [Caveat("search open", {"n": document.n_runs})]
    return Answer(
        document=document, decided=state.over and not state.stop, claim=best_claim(table, document, reason),
        tables=best_tables(table, document), doubts=doubts,
    )  # fmt: skip


class _Assembly:
    """The document of a search."""

    def __init__(self, table: Table, state: BestState) -> None:
        self._table, self._state = table, state
        self._is_rate = table.view.response.better == "higher"
        self._surface = state.surface
        self._own = [*table.configurations]

    def best(self) -> Best:
        state, choice = self._state, self._state.choice
        assert choice is not None
        winner, default = choice.winner, state.space.default
        cheapest = next((i for i in state.confirmed if i not in (winner, default)), None)
        cheapest = default if default == state.cheapest else cheapest
        members = sorted(choice.members, key=lambda i: (-choice.members[i], i))
        n_fresh = sum(value is not None for block in state.fresh for value in block.values())
        return Best(
            response=self._table.view.primary, decided=state.over, margin=state.margin,
            n_configurations=len(self._own), n_runs=len(state.at), n_fresh=n_fresh, n_excluded=len(state.failing),
            noise=state.noise or 0.0, risk=choice.risk, winner=self._configuration(winner),
            default=self._configuration(default),
            cheapest=None if cheapest is None else self._configuration(cheapest),
            over_winner=None if cheapest is None else self._speed(cheapest, winner),
            members=[self._configuration(i) for i in members[:MOST_MEMBERS]], line=self._line(winner),
        )  # fmt: skip

    def _configuration(self, index: int) -> BestConfiguration:
        state, levels = self._state, self._own[index]
        assert state.choice is not None
        fitted = None
        if self._surface:
            mean, off = float(self._surface.mean[index]), NORMAL * float(self._surface.sd[index])
            low, high = sorted(self._response(mean + x) for x in (-off, off))
            fitted = Estimate(self._response(mean), low, high, 0.95, len(state.at), "Gaussian process over all runs")
        return BestConfiguration(
            levels=self._varying(levels), cost=cost(self._table.study, levels), n=state.at.count(index),
            within=state.choice.members.get(index, 0.0), fitted=fitted, fresh=self._fresh(index),
            speed=None if index == state.space.default else self._speed(index, state.space.default),
        )  # fmt: skip

    def _varying(self, levels: Configuration) -> Configuration:
        return {name: levels[name] for name in self._state.space.names}

    def _response(self, log: float) -> float:
        return exp(-log if self._is_rate else log)

    def _fresh(self, index: int) -> Estimate | None:
        logs = [log for block in self._state.fresh if (log := block.get(index)) is not None]
        confidence = self._table.view.confidence
        return summarize([self._response(log) for log in logs], confidence, trim=TRIM) if len(logs) > 1 else None

    def _speed(self, index: int, other: int) -> Estimate | None:
        """Estimate the speed of a configuration over that of another, from the blocks that have both."""
        both = [(block.get(other), block.get(index)) for block in self._state.fresh]
        times = [(exp(a), exp(b)) for a, b in both if a is not None and b is not None]
        if len(times) < 2:
            return None
        return versus([a for a, _ in times], [b for _, b in times], self._table.view.confidence)

    def _line(self, winner: int) -> BestLine | None:
        """Return the fit along the factor of numbers that has the most levels."""
        space, state = self._state.space, self._state
        able = [j for j, axis in enumerate(space.axes) if axis is not None]
        if self._surface is None or state.choice is None or not able:
            return None
        j = max(able, key=lambda j: (len(space.levels[j]), -j))
        others = [k for k in range(len(space.names)) if k != j]
        on = np.flatnonzero((space.at[:, others] == space.at[winner, others]).all(axis=1)).tolist()
        on.sort(key=lambda i: float(space.levels[j][space.at[i, j]]))
        at = {i: float(space.levels[j][space.at[i, j]]) for i in on}
        mean, sd = self._surface.mean, self._surface.sd
        low, high = ([mean[i] + sign * NORMAL * sd[i] for i in on] for sign in ((1, -1) if self._is_rate else (-1, 1)))
        return BestLine(
            factor=space.names[j], levels=[*at.values()], value=[_round(self._response(mean[i])) for i in on],
            low=[_round(self._response(x)) for x in low], high=[_round(self._response(x)) for x in high],
            runs=[(at[i], _round(self._response(log))) for i, log in zip(state.at, state.logs, strict=True) if i in at],
            members=[at[i] for i in on if i in state.choice.members],
        )  # fmt: skip


def _round(value: float) -> float:
    return float(f"{value:.5g}")
