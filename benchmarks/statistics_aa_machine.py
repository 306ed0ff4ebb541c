"""How often does one program under two labels seem to differ on this machine? Ten pairs of runs, in random order.

`statistics_aa_drift.py` asks this of simulated noise; here the noise is what this machine has. Runs that the verdict
calls disturbed are left out, as in a study.
"""

import random
from pathlib import Path

from probe_common import Figure
from probe_rounds import Round, main
from verdict_common import SEED, Work, judged, wilson

from scalograph.analysis.comparisons import compare

SECONDS, PAIRS, COMPARISONS = 0.03, 10, 10


def one_round(folder: Path, number: int) -> Round:
    """P-values of ten comparisons, with and without the runs that were flagged."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    argv = work.argv(SECONDS, 1)
    found: dict[str, list[float]] = {"clean": [], "all": [], "flagged": []}
    for _ in range(COMPARISONS):
        pairs = [_pair(argv, draw) for _ in range(PAIRS)]
        found["flagged"].append(sum(flag == 1.0 for pair in pairs for _, flag in pair))
        for name, values in (("clean", p_value(pairs, leave_out=True)), ("all", p_value(pairs, leave_out=False))):
            found[name] += [] if values is None else [values]
    return found


Run = tuple[float, float]


def _pair(argv: list[str], draw: random.Random) -> list[Run]:
    """A run of A and one of B, made in random order."""
    made = {label: judged(argv) for label in draw.sample("AB", 2)}
    return [made["A"], made["B"]]


def p_value(pairs: list[list[Run]], *, leave_out: bool) -> float | None:
    """That A and B differ, from pairs; a flagged run leaves its pair without a score."""
    a, b = ([None if leave_out and flag == 1.0 else wall for wall, flag in runs] for runs in zip(*pairs, strict=True))
    return compare(a, b, paired=True).p_value


def figures(found: Round) -> list[Figure]:
    """Shares that seem to differ at 95%, with their intervals."""
    n_runs = 2 * PAIRS * len(found["flagged"])
    flagged = f"{sum(found['flagged']):.0f} of {n_runs} runs flagged"
    names = {"clean": ("comparisons that seem to differ", ("<=", 6.0)), "all": ("the same, with flagged runs", None)}
    return [_share(name, found[key], target, flagged) for key, (name, target) in names.items()]


def _share(name: str, p_values: list[float], target: tuple[str, float] | None, note: str) -> Figure:
    n = len(p_values)
    hits = sum(p < 0.05 for p in p_values)
    low, high = wilson(hits, n) if n else (0.0, 100.0)
    return Figure(name, 100 * hits / n if n else None, "%", target, f"95%: {low:.1f} to {high:.1f}%; {note}", n)


if __name__ == "__main__":
    main("statistics_aa_machine", one_round, figures, rounds=(100, 2))
