"""Which factors matter at all? Joint forward selection by permutation, on scores whose outliers are drawn in."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.tunables.model_array import Settings, dummies, indicators
from scalograph.questions.tunables.model_fit import clip_at, drawn_in

# Permutations; a factor that would be selected, or nearly, is weighed with more.
FEW, MANY = 199, 999
# Residuals beyond so many robust standard deviations count as that: a slowed run decides nothing.
CLIP = 2.5
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Screened:
    """What the permutations say.

    Attributes:
        selected: factors that matter, in the order in which they were found.
        p: of each factor, by its place: the probability of one as strong by chance, beside all others; of those that
            are not selected, as of the last step.
    """

    selected: tuple[int, ...]
    p: tuple[float, ...]


def screen(
    rows: Sequence[Settings], logs: FloatArray, blocks: Sequence[int], n_levels: Sequence[int], alpha: float, seed: int
) -> Screened:
    """Select the factors whose levels differ, the strongest first, each beside those before it.

    The largest F of all candidates is held against its distribution where residuals of the reduced model are permuted
    within blocks, so that the chance of any false selection is `alpha`, whatever the others do.

    Args:
        rows: the level of each factor, run by run.
        logs: log scores, shape (runs,).
        blocks: in which each run was made.
        n_levels: of each factor.
        alpha: probability of a false selection.
        seed: of the permutations.

    Source: D. Freedman and D. Lane, A nonstochastic interpretation of reported significance levels, J. Business and
    Economic Statist. 1 (1983); P. H. Westfall and S. S. Young, Resampling-based multiple testing, Wiley 1993.
    """
    x, names = dummies(rows, n_levels)
    columns = {j: x[:, [k for k, (factor, _) in enumerate(names) if factor == j]] for j in range(len(n_levels))}
    base, logs = indicators(blocks), drawn_in(rows, logs, blocks, n_levels)
    selected: list[int] = []
    p = dict.fromkeys(columns, 1.0)
    while left := [j for j in columns if j not in selected and columns[j].shape[1]]:
        reduced = np.hstack([base, *(columns[j] for j in selected)])
        step = _ScreenStep(reduced, [columns[j] for j in left], logs, blocks, seed + len(selected))
        if not step.candidates:
            break
        found = step.p_values(FEW)
        if min(found) <= max(alpha, 2 / FEW):
            found = step.p_values(MANY)
        p |= {left[k]: found[place] for place, k in enumerate(step.candidates)}
        best = left[step.candidates[step.strongest]]
        if p[best] > alpha:
            break
        selected.append(best)
    return Screened(tuple(selected), tuple(p[j] for j in range(len(n_levels))))


class _ScreenStep:
    """One step: candidates beside a reduced model."""

    def __init__(
        self, reduced: FloatArray, columns: Sequence[FloatArray], logs: FloatArray, blocks: Sequence[int], seed: int
    ) -> None:
        self._q, self._blocks, self._seed = _basis(reduced), np.asarray(blocks), seed
        bases = [_basis(self._residual(x.T).T) for x in columns]
        freedom = len(logs) - self._q.shape[1]
        # A factor that the reduced model explains, or that leaves no residual, is no candidate.
        self.candidates = [k for k, b in enumerate(bases) if 0 < b.shape[1] < freedom]
        self._bases, self._freedom = [bases[k] for k in self.candidates], freedom
        residuals = self._residual(logs[None, :])[0]
        most = clip_at(residuals, freedom, CLIP)
        self._residuals = np.clip(residuals, -most, most)
        self._seen = self._scores(self._residual(self._residuals[None, :]))[0]

    @property
    def strongest(self) -> int:
        """Return its place among the candidates."""
        return int(np.argmax(self._seen))

    def p_values(self, n: int) -> list[float]:
        """Return the probability of each one's strength, or more, as the strongest of all by chance."""
        draw = np.random.default_rng(self._seed)
        permuted = np.repeat(self._residuals[None, :], n, axis=0)
        for block in np.unique(self._blocks):
            at = np.flatnonzero(self._blocks == block)
            permuted[:, at] = draw.permuted(permuted[:, at], axis=1)
        most = self._scores(self._residual(permuted)).max(axis=1)
        return [float((1 + np.sum(most >= seen - _TINY)) / (n + 1)) for seen in self._seen]

    def _residual(self, logs: FloatArray) -> FloatArray:
        """What the reduced model leaves of rows of logs, shape (n, runs)."""
        return np.asarray(logs - (logs @ self._q) @ self._q.T)

    def _scores(self, residuals: FloatArray) -> FloatArray:
        """Strength of each candidate, shape (n, candidates): minus log p of its F, so that degrees do not matter."""
        from scipy.special import fdtrc  # it takes a tenth of a second

        whole = np.square(residuals).sum(axis=1)
        found = []
        for basis in self._bases:
            df, left = basis.shape[1], self._freedom - basis.shape[1]
            own = np.square(residuals @ basis).sum(axis=1)
            f = own / df / np.maximum((whole - own) / left, _TINY * np.maximum(whole, _TINY))
            found.append(-np.log(np.maximum(fdtrc(df, left, f), 1e-300)))
        return np.stack(found, axis=1)


def _basis(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what the columns span."""
    if not columns.shape[1]:
        return columns
    u, size, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, size > 1e-8 * max(1.0, float(size[0]))])
