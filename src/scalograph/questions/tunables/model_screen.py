"""Which factors matter at all? Joint selection by permutation: the strongest first, and none that others explain."""

from collections.abc import Sequence
from dataclasses import dataclass

from scalograph.analysis.center import FloatArray
from scalograph.questions.tunables.model_array import Settings
from scalograph.questions.tunables.model_strength import Candidates, Screening, screening


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

    The largest score of all candidates is held against its distribution where residuals of the reduced model are
    permuted within blocks, so that the chance of any false selection is `alpha`, whatever the others do. A factor that
    was selected for what it shares with later ones is dropped: failed runs leave an array incomplete.

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
    runs = screening(rows, logs, blocks, n_levels)
    p = dict.fromkeys(range(len(n_levels)), 1.0)
    selected = _forward(runs, alpha, seed, p)
    while len(selected) > 1:
        beside = {j: _beside_others(runs, selected, j, alpha, seed) for j in selected[:-1]}
        worst = max(beside, key=beside.__getitem__)
        if beside[worst] <= alpha:
            break
        selected.remove(worst)
        p[worst] = beside[worst]
    return Screened(tuple(selected), tuple(p.values()))


def _forward(runs: Screening, alpha: float, seed: int, p: dict[int, float]) -> list[int]:
    """Select one factor after the other; `p` takes what each step says of those that are left."""
    selected: list[int] = []
    while True:
        step = Candidates(runs, selected, seed + len(selected))
        if not step.factors:
            return selected
        p |= step.p_values(alpha)
        if p[step.strongest] > alpha:
            return selected
        selected.append(step.strongest)


def _beside_others(runs: Screening, selected: Sequence[int], factor: int, alpha: float, seed: int) -> float:
    """Return p of a factor beside all others that are selected; 1 where these explain it."""
    step = Candidates(runs, [j for j in selected if j != factor], seed + len(selected) + factor)
    return step.p_values(alpha).get(factor, 1.0) if step.factors else 1.0
