"""How often is each case of a sweep's answer false, and how often is it said where it is true, over 20 regimes?

A regime is a kind of noise, shapes of curves, 3 to 30 runs of each configuration, and 5 to 135 configurations on four
CPUs. A case is MISSED where even the 99.9% lower end of its false share is above 5%; an effect of twice the least that
the study says is visible is to be said in 80%.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.stats import beta
from simulate.runs import amdahl, usl
from simulate.scaling import SHAPES, Shape, check_sentences, simulate_regime
from simulate.two_studies import Kind

from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.visible_effect import detectable_percent, estimate_noise

N, N_QUICK = 100, 8
N_SAID = 50  # studies of an effect, of which 80% are to say it
MOST_FALSE, LEAST_SAID, CONFIDENCE = 5.0, 80.0, 0.999


def smt(n: float) -> float:
    """Four cores, of which each gains a quarter by a second thread."""
    return min(n, 4) + 0.25 * max(min(n, 8) - 4, 0)


def roof(n: float) -> float:
    """A smooth approach to 3, as of a memory that is shared."""
    return float(n / (1 + (n / 3) ** 4) ** 0.25)


ALL: Mapping[str, Shape] = {
    **SHAPES, "amdahl .05": lambda n: amdahl(min(n, 4), 0.05), "amdahl .5": lambda n: amdahl(min(n, 4), 0.5),
    "amdahl .95": lambda n: amdahl(min(n, 4), 0.95), "usl": lambda n: usl(n, 0.05, 0.02), "smt": smt, "roof": roof,
    "superlinear": lambda n: min(n, 4) ** 1.15, "kink": lambda n: n if n <= 2 else 2 + 0.1 * (n - 2),
}  # fmt: skip
MIXED = tuple(ALL)
SMOOTH, ABRUPT = ("amdahl .05", "amdahl .5", "amdahl .95", "usl"), ("cliff", "kink", "odd-even", "smt")


class Regime(NamedTuple):
    """A kind of noise, the shapes that curves have in turn, runs of each configuration, and curves."""

    kind: Kind
    shapes: Sequence[str]
    n_runs: int
    n_curves: int

    def __str__(self) -> str:
        shapes = "mixed" if self.shapes is MIXED else ", ".join(self.shapes)
        return f"{self.kind}; {shapes}; {self.n_runs} runs of {5 * self.n_curves}"


REGIMES = [
    Regime("normal", ("flat",), 5, 8), Regime("normal", ("flat",), 3, 1), Regime("normal", ("flat",), 5, 27),
    Regime("normal", MIXED, 5, 27), Regime("normal", ("linear", "superlinear"), 10, 4),
    Regime("lognormal", ("flat",), 5, 8), Regime("lognormal", MIXED, 10, 8), Regime("lognormal", SMOOTH, 30, 4),
    Regime("outliers", ("flat",), 5, 8), Regime("outliers", ABRUPT, 10, 8), Regime("outliers", MIXED, 30, 3),
    Regime("modes", ("flat",), 3, 8), Regime("modes", MIXED, 5, 8), Regime("modes", ("cap", "roof"), 30, 4),
    Regime("autocorrelated", ("flat", "amdahl .95"), 5, 8), Regime("autocorrelated", MIXED, 5, 8),
    Regime("step", SMOOTH, 5, 8), Regime("drift", ABRUPT, 5, 8), Regime("ticks", ("flat", "amdahl .95"), 5, 8),
    Regime("ticks", MIXED, 10, 8),
]  # fmt: skip
FLAT = [Regime(kind, ("flat",), 5, 8) for kind in ("normal", "outliers", "modes", "autocorrelated", "drift", "ticks")]


def lower_end(hits: int, n: int) -> float:
    """The one-sided lower end of a share, in percent, by Clopper and Pearson."""
    return 100 * float(beta.ppf(1 - CONFIDENCE, hits, n - hits + 1)) if hits else 0.0


def count_false(regime: Regime, n: int) -> dict[str, list[bool]]:
    """Return for each case of the studies that say it whether it is false there."""
    rng, answers = np.random.default_rng(crc32(str(regime).encode())), defaultdict[str, list[bool]](list)
    for study in range(n):
        shapes = [ALL[regime.shapes[(study + i) % len(regime.shapes)]] for i in range(regime.n_curves)]
        table = simulate_regime(rng, shapes, regime.kind, regime.n_runs)
        for case, is_false in check_sentences(table, shapes).items():
            answers[case].append(bool(is_false))
    return answers


def visible_effect(rng: np.random.Generator, regime: Regime) -> float:
    """The least effect that studies of flat curves say is visible, as a ratio: the median of five."""
    shapes = [SHAPES["flat"]] * regime.n_curves
    percents = []
    for _ in range(5):
        table = simulate_regime(rng, shapes, regime.kind, regime.n_runs)
        noise = estimate_noise(table, [*samples_by_configuration(table).values()])
        percents.append(detectable_percent(noise, len(table.configurations), table.view.confidence) if noise else 0.0)
    return 1 + median(percents) / 100


def count_said(regime: Regime, case: str, n: int) -> tuple[int, float]:
    """Return how many studies say of the one curve that differs that it does, and by how much it does."""
    rng = np.random.default_rng(crc32(f"{case} {regime}".encode()))
    ratio = visible_effect(rng, regime) ** 2
    differing: Mapping[str, Callable[[float], float]] = {
        "faster": lambda n: ratio if n >= 4 else 1.0, "slower": lambda n: 1 / ratio if n >= 8 else 1.0,
        "decline": lambda n: 4 / ratio if n == 16 else min(n, 4),
    }  # fmt: skip
    shapes = [differing[case], *[SHAPES["flat"]] * (regime.n_curves - 1)]
    tables = (simulate_regime(rng, shapes, regime.kind, regime.n_runs) for _ in range(n))
    return sum(case in check_sentences(table, shapes) for table in tables), ratio


def figures(n: int, n_said: int) -> Iterator[dict[str, object]]:
    """Yield a figure for each case of each regime that is said, then for each effect."""
    for regime in REGIMES:
        for case, answers in sorted(count_false(regime, n).items()):
            hits, lower = sum(answers), lower_end(sum(answers), n)
            verdict = "MISSED" if lower > MOST_FALSE else "reached"
            yield {"case": case, "regime": str(regime), "said": len(answers), "value": 100 * hits / n,
                   "lower": lower, "verdict": verdict, "n": n, "name": f"{case} is false: {regime}"}  # fmt: skip
    for regime in FLAT:
        for case in ("faster", "slower", "decline"):
            hits, ratio = count_said(regime, case, n_said)
            if ratio == 1:  # all runs have one value: nothing is visible
                continue
            value = 100 * hits / n_said
            verdict = "MISSED" if value < LEAST_SAID else "reached"
            yield {"case": case, "regime": f"{regime.kind}, an effect of {ratio:.3g}×", "said": hits, "value": value,
                   "verdict": verdict, "n": n_said, "name": f"{case} is said: {regime.kind}"}  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{N_QUICK} studies of each regime")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    parser.add_argument("--n", type=int, help=f"studies of each regime; {N}")
    args = parser.parse_args()
    n = N_QUICK if args.quick else args.n or N
    if not args.json:
        print(f"{'case':14} {'regime':62} {'said':>5} {'% false':>8} {'from':>6}  verdict")
    for figure in figures(n, min(n, N_SAID)):
        if args.json:
            print(json.dumps(figure), flush=True)
        else:
            lower = f"{figure['lower']:6.1f}" if "lower" in figure else " said "
            row = f"{figure['case']:14} {figure['regime']:62} {figure['said']:>5} {figure['value']:>8.0f} {lower}"
            print(f"{row}  {figure['verdict']}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
