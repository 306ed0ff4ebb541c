"""First runs that read from disk what later ones found in memory: flags beside them, and a doubt with its cure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, nan
from statistics import fmean, median

import numpy as np

from scalograph.analysis.cold_start import Cold, cold
from scalograph.analysis.drift import FEWEST_BLOCKS, Drift, drift
from scalograph.analysis.estimate import Flag
from scalograph.analysis.quantiles import t_quantile
from scalograph.findings.answer import Doubt
from scalograph.findings.curves import key
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level

# What a run must have read to count: a megabyte, or so many pages that it waited for (1 to 2 ms on a fast disk).
LEAST_BYTES, LEAST_PAGES = 1_000_000, 16
FEWEST_RUNS = 3  # runs of a treatment: fewer have no typical score to hold one of them against

Key = tuple[Level, ...]


@dataclass(frozen=True)
class Start:
    """A cold start in words: what was seen, in bytes or in pages."""

    seen: Cold
    in_bytes: bool

    def told(self, of: str = "") -> str:
        """What the first runs read, and what became of their scores."""
        runs, scores = (
            ("run", "its score differs") if self.seen.n == 1 else (f"{self.seen.n} runs", "their scores differ")
        )
        return f"the first {runs}{of} {self._read()}, and {scores} by {100 * self.seen.change:+.2g} %"

    def _read(self) -> str:
        """How much, against the later runs."""
        later = self._amount(self.seen.later) if self.seen.later else "none"
        verb = "read" if self.in_bytes else "waited for"
        return f"{verb} {self._amount(self.seen.read)} from disk, the later ones {later}"

    def _amount(self, amount: float) -> str:
        return f"{amount / 1e6:.3g} MB" if self.in_bytes else f"{amount:.0f} pages"


def examine(table: Table, curves: Sequence[Curve], taken: Mapping[Key, Sample]) -> list[Doubt]:
    """Flag each treatment whose first runs were cold.

    Returns:
        A doubt where those of the study were; single treatments are marked.
    """
    name = primary(table)
    found = {k: start for k, s in taken.items() if (start := _start(s.rows(name), partial(s.scores, name)))}
    for curve in curves:
        for point in curve.points:
            if (start := found.get(key(table, curve, point))) is not None:
                point.flags.append(Flag("cold start", start.told()))
    whole = _of_study(table, taken, name)
    if not whole:
        return []
    cure = f"discard them with warmup_runs = {table.study.protocol.warmup_runs + whole.seen.n} (or more)"
    return [Doubt(whole.told(" of the study"), cure)]


def _of_study(table: Table, taken: Mapping[Key, Sample], name: str) -> Start | None:
    """Of all runs that count, in the order in which they were made: each score over the typical of its treatment."""
    typical = {k: median(s.scores(name)) for k, s in taken.items() if len(s.scores(name)) >= FEWEST_RUNS}
    over = {row.run: (row, middle) for k, middle in typical.items() if middle > 0 for row in taken[k].rows(name)}
    made = [over[row.run] for row in table.rows if row.run in over]
    return _start([row for row, _ in made], lambda: [row.scores[name] / middle for row, middle in made])


def _start(rows: Sequence[Row], scores: Callable[[], Sequence[float]]) -> Start | None:
    """By bytes from disk, else by pages waited for; None where neither was measured for all runs."""
    for field, least in (("read_bytes", LEAST_BYTES), ("n_major_faults", LEAST_PAGES)):
        if not rows or (getattr(rows[0], field) or 0) < least:
            continue  # nothing is cold unless the first run is
        read = [amount for row in rows if (amount := getattr(row, field)) is not None]
        if len(read) == len(rows) and (seen := cold(read, scores(), least)):
            return Start(seen, field == "read_bytes")
    return None


# Chance brings about less than this once in a hundred studies; and intervals that are so much too narrow, and then so
# wide (half of it, as a share), mislead.
RARE, NARROW, WIDE = 0.01, 1.15, 0.01
MOST = 500  # of more blocks, neighbors are taken together: what is as slow as this is found all the same


def doubt(table: Table, taken: Sequence[Sample]) -> Iterable[Doubt]:
    """Where runs of the primary response are not independent, and it matters; or where that could not be checked."""
    found = drifted(table, taken)
    if found is None:
        n = len({row.block for sample in taken for row in sample.every})
        if 1 < n < FEWEST_BLOCKS:
            yield Doubt(
                f"{n} blocks are too few to check for drift", f"from {FEWEST_BLOCKS} on they are enough", whole=False
            )
    elif found.p < RARE and found.too_narrow > NARROW:
        half = found.too_narrow * _half(taken, primary(table), table.study.protocol.confidence)
        if half > WIDE:
            wide = f"{found.too_narrow:.2g} times or more (\N{PLUS-MINUS SIGN}{100 * (exp(half) - 1):.2g} % or more)"
            does = f"intervals of single configurations are too narrow, by {wide}; comparisons within blocks hold"
            yield Doubt(f"the machine drifted from block to block (p = {found.p:.2g})", does)


def drifted(table: Table, taken: Sequence[Sample]) -> Drift | None:
    """How alike neighboring blocks are in the primary response; None where it cannot be told."""
    response = primary(table)
    blocks = sorted(set[int]().union(*(sample.blocks(response) for sample in taken)))
    n = min(len(blocks), MOST)
    place = {block: index * n // len(blocks) for index, block in enumerate(blocks)}
    return drift([_series(sample, response, place, n) for sample in taken], table.study.seed % 2**32) if n else None


def _series(sample: Sample, response: str, place: dict[int, int], n: int) -> list[float]:
    """The sample's score in each of n blocks, the mean where it has several; nan where it has none."""
    scores: list[list[float]] = [[] for _ in range(n)]
    for block, score in zip(sample.blocks(response), sample.scores(response), strict=True):
        if score > 0:
            scores[place[block]].append(score)
    return [fmean(found) if found[1:] else found[0] if found else nan for found in scores]


def _half(taken: Sequence[Sample], response: str, confidence: float) -> float:
    """Half the interval of a typical treatment, on logs."""
    every = (values[values > 0] for values in (sample.values(response) for sample in taken))
    logs = [np.log(values) for values in every if values.size > 1]
    halves = [t_quantile(confidence, s.size - 1) * float(s.std(ddof=1)) / s.size**0.5 for s in logs]
    return median(halves) if halves else 0.0
