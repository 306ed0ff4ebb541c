"""Test the strength of a factor beside others: permutation tests of the strongest candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.tunables.model_array import IntArray, Settings, dummies, indicators
from scalograph.questions.tunables.model_fit import clip_limit, has_enough_runs, pull_in_outliers

FEW, MANY = 199, 999  # permutations; a factor that may be selected is weighed with more
# Probabilities below so many times the asked one are weighed with more.
NEAR = 3
CLIP = 2.5  # residuals beyond so many robust standard deviations count as that: a slowed run decides nothing
_TINY = 1e-12


@dataclass(frozen=True)
class Screening:
    """Runs that compare factors.

    Attributes:
        base: an indicator of each block, shape (runs, blocks).
        columns: of each factor that has several levels in them, shape (runs, settings).
        logs: log scores, those of slowed runs drawn in, shape (runs,).
        blocks: in which each run was made, shape (runs,).
    """

    base: FloatArray
    columns: Mapping[int, FloatArray]
    logs: FloatArray
    blocks: IntArray

    def basis(self, factors: Sequence[int]) -> FloatArray:
        """Return an orthonormal basis of the blocks and these factors."""
        return _basis(np.hstack([self.base, *(self.columns[j] for j in factors)]))

    @cached_property
    def whole(self) -> FloatArray | None:
        """Return a basis of all of them; None where it leaves too few degrees of freedom."""
        basis = self.basis([*self.columns])
        return basis if has_enough_runs(len(self.logs), basis.shape[1]) else None


def screening(rows: Sequence[Settings], logs: FloatArray, blocks: Sequence[int], n_levels: Sequence[int]) -> Screening:
    """Prepare runs as they are weighed; a setting all of whose runs failed has no column.

    `rows`: the level of each factor, run by run; `logs`: log scores, shape (runs,).
    """
    x, names = dummies(rows, n_levels)
    at = {j: [k for k, (factor, _) in enumerate(names) if factor == j] for j in range(len(n_levels))}
    columns = {j: x[:, places] for j, places in at.items() if places}
    return Screening(indicators(blocks), columns, pull_in_outliers(rows, logs, blocks, n_levels), np.asarray(blocks))


class Candidates:
    """Factors that may be selected, beside those that are.

    Of the scores of each the larger one counts, in permuted runs too:

    - beside the selected ones, outliers drawn in: the best for small effects. A large effect of few runs looks like
      outliers there;
    - beside all other factors, where the runs suffice: a large effect is none there, other large ones do not hide it,
      and a factor without effect has none by what it shares with them where failed runs leave the array incomplete.

    Attributes:
        factors: that can be told from the selected ones.
    """

    def __init__(self, runs: Screening, selected: Sequence[int], seed: int) -> None:
        self._runs, self._seed, self._q = runs, seed, runs.basis(selected)
        freedom = len(runs.logs) - self._q.shape[1]
        left = {j: _basis(_project_out(self._q, x.T).T) for j, x in runs.columns.items() if j not in selected}
        # A factor that the selected ones explain, or that leaves no residual, is no candidate.
        self._own = {j: basis for j, basis in left.items() if 0 < basis.shape[1] < freedom}
        self.factors = [*self._own]
        self._residuals = _project_out(self._q, runs.logs[None, :])[0]
        most = clip_limit(self._residuals, freedom, CLIP)
        self._clipped = np.clip(self._residuals, -most, most)

    @cached_property
    def strongest(self) -> int:
        return self.factors[int(np.argmax(self._observed_scores))]

    def p_values(self, alpha: float) -> dict[int, float]:
        """Return the probability that chance makes the strongest candidate as strong as each, exact about `alpha`."""
        p_values = self._permutation_p_values(FEW)
        return self._permutation_p_values(MANY) if min(p_values.values()) <= max(NEAR * alpha, 2 / FEW) else p_values

    @cached_property
    def _observed_scores(self) -> FloatArray:
        return np.asarray(self._scores(np.arange(len(self._residuals))[None, :])[0])

    def _permutation_p_values(self, n: int) -> dict[int, float]:
        draw = np.random.default_rng(self._seed)
        order = np.tile(np.arange(len(self._residuals)), (n, 1))
        for block in np.unique(self._runs.blocks):
            at = np.flatnonzero(self._runs.blocks == block)
            order[:, at] = draw.permuted(order[:, at], axis=1)
        most = self._scores(order).max(axis=1)
        p = [float((1 + np.sum(most >= seen - _TINY)) / (n + 1)) for seen in self._observed_scores]
        return dict(zip(self.factors, p, strict=True))

    def _scores(self, order: IntArray) -> FloatArray:
        """Score each candidate with residuals in these orders; shapes (n, runs) and (n, candidates)."""
        scores = self._score_given_selected(_project_out(self._q, self._clipped[order]))
        if self._runs.whole is None:
            return scores
        return np.maximum(scores, self._score_given_all(self._residuals[order], self._runs.whole))

    def _score_given_selected(self, logs: FloatArray) -> FloatArray:
        total, freedom = _square(logs), logs.shape[1] - self._q.shape[1]
        own = [(_square(logs @ basis), basis.shape[1]) for basis in self._own.values()]
        return np.stack([_strength(x, df, total - x, freedom - df) for x, df in own], axis=1)

    def _score_given_all(self, logs: FloatArray, whole: FloatArray) -> FloatArray:
        rest, freedom = _square(_project_out(whole, logs)), logs.shape[1] - whole.shape[1]
        own = [(_square(logs @ basis), basis.shape[1]) for basis in self._alone.values()]
        return np.stack([_strength(x, df, rest, freedom) for x, df in own], axis=1)

    @cached_property
    def _alone(self) -> dict[int, FloatArray]:
        others = {j: self._runs.basis([k for k in self._runs.columns if k != j]) for j in self.factors}
        return {j: _basis(_project_out(q, self._runs.columns[j].T).T) for j, q in others.items()}


def _strength(own: FloatArray, df: int, rest: FloatArray, freedom: int) -> FloatArray:
    """Return minus log p of F, so that degrees of freedom do not matter."""
    from scipy.special import fdtrc  # it takes a tenth of a second

    if df == 0:
        return np.zeros_like(own)
    f = own / df / np.maximum(rest / freedom, _TINY * np.maximum(own + rest, _TINY))
    return np.asarray(-np.log(np.maximum(fdtrc(df, freedom, f), 1e-300)))


def _square(logs: FloatArray) -> FloatArray:
    return np.asarray(np.square(logs).sum(axis=1))


def _project_out(basis: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the residuals of rows of logs, shape (n, runs)."""
    return np.asarray(logs - (logs @ basis) @ basis.T)


def _basis(columns: FloatArray) -> FloatArray:
    if not columns.shape[1]:
        return columns
    u, size, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, size > 1e-8 * max(1.0, float(size[0]))])


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """Result of the permutation tests.

    Attributes:
        selected: factors that matter, in the order in which they were found.
        p: of each factor, by its place: the probability of one as strong by chance, beside all others; of those that
            are not selected, as of the last step.
    """

    selected: tuple[int, ...]
    p: tuple[float, ...]


def screen(
    rows: Sequence[Settings], logs: FloatArray, blocks: Sequence[int], n_levels: Sequence[int], alpha: float, seed: int
) -> ScreeningResult:
    """Select the factors whose levels differ, the strongest first, each beside those before it.

    The largest score of all candidates is held against its distribution where residuals of the reduced model are
    permuted within blocks, so that the chance of any false selection is `alpha`, whatever the others do. A factor that
    was selected for what it shares with later ones is dropped: failed runs leave an array incomplete.

    `rows`: the level of each factor, run by run; `logs`: log scores, shape (runs,); `alpha`: probability of a false
    selection.

    Source: D. Freedman and D. Lane, A nonstochastic interpretation of reported significance levels, J. Business and
    Economic Statist. 1 (1983); P. H. Westfall and S. S. Young, Resampling-based multiple testing, Wiley 1993.
    """
    runs = screening(rows, logs, blocks, n_levels)
    p = dict.fromkeys(range(len(n_levels)), 1.0)
    selected = _forward(runs, alpha, seed, p)
    while len(selected) > 1:
        beside = {}  # p of each factor beside all others that are selected; 1 where these explain it
        for j in selected[:-1]:
            step = Candidates(runs, [k for k in selected if k != j], seed + len(selected) + j)
            beside[j] = step.p_values(alpha).get(j, 1.0) if step.factors else 1.0
        worst = max(beside, key=beside.__getitem__)
        if beside[worst] <= alpha:
            break
        selected.remove(worst)
        p[worst] = beside[worst]
    return ScreeningResult(tuple(selected), tuple(p.values()))


def _forward(runs: Screening, alpha: float, seed: int, p: dict[int, float]) -> list[int]:
    """Select one factor after the other; `p` takes the p-values of each step for those that are left."""
    selected: list[int] = []
    while True:
        step = Candidates(runs, selected, seed + len(selected))
        if not step.factors:
            return selected
        p |= step.p_values(alpha)
        if p[step.strongest] > alpha:
            return selected
        selected.append(step.strongest)
