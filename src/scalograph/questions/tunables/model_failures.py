"""Runs that fail are a response: how many of each setting, and whether the setting is why."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.proportion import proportion
from scalograph.questions.tunables.model_array import Settings

# Probability of blaming any setting for failures that come by chance; a setting that is why, and fails in at least that
# share of its runs, gets no more of them.
BLAME, HOPELESS = 0.05, 0.5


@dataclass(frozen=True, slots=True)
class FailedRuns:
    """What became of the runs of a setting.

    Attributes:
        n_failed: of them.
        n: all of them.
        share: that fails, Wilson's interval.
        p: probability of as many by chance, if it failed as the default of its factor does (Fisher's exact test);
            None where none failed.
    """

    n_failed: int
    n: int
    share: Estimate
    p: float | None


def failures(
    rows: Sequence[Settings], failed: Sequence[bool], factor: int, level: int, confidence: float = 0.95
) -> FailedRuns:
    """Count failures of a setting beside those of all runs that have its factor at the default.

    Args:
        rows: the level of each factor, run by run; an array balances the others.
        failed: which of them failed.
        factor: of the setting.
        level: of the setting.
        confidence: of the share that fails.
    """
    own = [bad for row, bad in zip(rows, failed, strict=True) if row[factor] == level]
    default = [bad for row, bad in zip(rows, failed, strict=True) if row[factor] == 0]
    share = proportion(sum(own), sum(own), len(own), confidence)
    return FailedRuns(sum(own), len(own), share, _fisher(own, default) if any(own) else None)


def is_why(p: float | None, n_settings: int) -> bool:
    """Tell whether a setting is why runs fail: beyond chance, as one of so many that may be blamed (Bonferroni)."""
    return p is not None and p * n_settings < BLAME


def _fisher(own: Sequence[bool], default: Sequence[bool]) -> float:
    from scipy.stats import fisher_exact  # it takes half a second

    table = np.array([[sum(bad), len(bad) - sum(bad)] for bad in (own, default)])
    return float(fisher_exact(table, alternative="greater").pvalue)


def hopeless(rows: Sequence[Settings], failed: Sequence[bool], n_levels: Sequence[int]) -> set[tuple[int, int]]:
    """Return the settings that are not worth further runs: they fail, and are why."""
    if not any(failed):
        return set()
    settings = [(j, level) for j, n in enumerate(n_levels) for level in range(1, n)]
    found = {one: failures(rows, failed, *one) for one in settings}
    return {one for one, each in found.items() if is_why(each.p, len(settings)) and each.n_failed >= HOPELESS * each.n}
