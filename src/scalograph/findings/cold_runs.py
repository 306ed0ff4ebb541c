"""Cold first runs (they read from disk what later ones found in memory) and drift between blocks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, nan
from statistics import fmean, median

import numpy as np

from scalograph.analysis.cold_start import ColdStart, find_cold_start
from scalograph.analysis.drift import FEWEST_BLOCKS, Drift, drift
from scalograph.analysis.estimate import Flag
from scalograph.analysis.quantiles import t_quantile
from scalograph.findings.curves import point_key
from scalograph.findings.row import Key, Row
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.text.warning_catalog import Caveat

# What a run must have read to count: a megabyte, or so many pages that it waited for (1 to 2 ms on a fast disk).
MIN_BYTES, MIN_PAGES = 1_000_000, 16
MIN_RUNS = 3  # runs of a configuration: fewer have no typical score to hold one of them against


@dataclass(frozen=True)
class ColdRuns:
    """Cold first runs, measured in bytes read or in page faults."""

    seen: ColdStart
    in_bytes: bool

    def caveat(self, **more: object) -> Caveat:
        """Return what the first runs read and how far their scores differ."""
        seen, verb = self.seen, "read" if self.in_bytes else "waited for"
        read, later = (self._amount(amount) if amount else "none" for amount in (seen.read, seen.later))
        values = {"n": seen.n, "verb": verb, "read": read, "later": later, "change": seen.change}
        return Caveat("cold runs", {**values, **more})

    def _amount(self, amount: float) -> str:
        return f"{amount / 1e6:.3g} MB" if self.in_bytes else f"{amount:.0f} pages"


def flag_cold_runs(table: Table, curves: Sequence[Curve], samples: Mapping[Key, Sample]) -> list[Caveat]:
    """Flag each configuration whose first runs were cold; return a caveat if those of the study were."""
    name = table.view.primary
    starts = {k: cold for k, s in samples.items() if (cold := _find_start(s.rows(name), partial(s.scores, name)))}
    for curve in curves:
        for point in curve.points:
            if (start := starts.get(point_key(table, curve, point))) is not None:
                point.flags.append(Flag("cold start", start.caveat().text))
    whole = _find_study_start(table, samples, name)
    n_warmup = table.study.protocol.warmup_runs
    return [whole.caveat(whole="study", warmup=n_warmup + whole.seen.n)] if whole else []


def _find_study_start(table: Table, samples: Mapping[Key, Sample], name: str) -> ColdRuns | None:
    """Look at all counted runs in execution order, each score over the median of its configuration."""
    typical = {k: median(s.scores(name)) for k, s in samples.items() if len(s.scores(name)) >= MIN_RUNS}
    over = {row.run: (row, middle) for k, middle in typical.items() if middle > 0 for row in samples[k].rows(name)}
    in_order = [over[row.run] for row in table.rows if row.run in over]
    return _find_start([row for row, _ in in_order], lambda: [row.scores[name] / middle for row, middle in in_order])


def _find_start(rows: Sequence[Row], scores: Callable[[], Sequence[float]]) -> ColdRuns | None:
    """Go by bytes from disk, else by page faults; None where neither was measured for all runs."""
    for field, least in (("read_bytes", MIN_BYTES), ("n_major_faults", MIN_PAGES)):
        if not rows or (getattr(rows[0], field) or 0) < least:
            continue  # nothing is cold unless the first run is
        read = [amount for row in rows if (amount := getattr(row, field)) is not None]
        if len(read) == len(rows) and (seen := find_cold_start(read, scores(), least)):
            return ColdRuns(seen, field == "read_bytes")
    return None


# Chance brings about less than this once in a hundred studies; and intervals that are so much too narrow, and then so
# wide (half of it, as a share), mislead.
RARE, NARROW, WIDE = 0.01, 1.15, 0.01
MAX_BLOCKS = 500  # of more blocks, neighbors are taken together: what is as slow as this is found all the same


def drift_caveats(table: Table, samples: Sequence[Sample]) -> Iterable[Caveat]:
    """Yield a caveat if the machine drifted between blocks, or if that could not be checked."""
    drift = find_drift(table, samples)
    if drift is None:
        n = len({row.block for sample in samples for row in sample.succeeded})
        if 1 < n < FEWEST_BLOCKS:
            yield Caveat("drift unchecked", {"n": n, "enough": FEWEST_BLOCKS}, whole=False)
    elif drift.p < RARE and drift.interval_factor > NARROW:
        factor, confidence = drift.interval_factor, table.view.confidence
        half = factor * _typical_half_width(samples, table.view.primary, confidence)
        if half > WIDE:
            values = {"p": drift.p, "factor": factor, "half": 100 * (exp(half) - 1)}
            yield Caveat("drift", values, whole=table.view.basis != "pairs")  # in pairs, drift cancels


def find_drift(table: Table, samples: Sequence[Sample]) -> Drift | None:
    """Test neighboring blocks for drift of the primary response; None where it cannot be tested."""
    response = table.view.primary
    blocks = sorted(set[int]().union(*(sample.blocks(response) for sample in samples)))
    n = min(len(blocks), MAX_BLOCKS)
    position = {block: index * n // len(blocks) for index, block in enumerate(blocks)}
    means = [_block_means(sample, response, position, n) for sample in samples]
    return drift(means, table.study.seed % 2**32) if n else None


def _block_means(sample: Sample, response: str, position: dict[int, int], n: int) -> list[float]:
    scores: list[list[float]] = [[] for _ in range(n)]
    for block, score in zip(sample.blocks(response), sample.scores(response), strict=True):
        if score > 0:
            scores[position[block]].append(score)
    return [fmean(values) if values[1:] else values[0] if values else nan for values in scores]


def _typical_half_width(samples: Sequence[Sample], response: str, confidence: float) -> float:
    every = (values[values > 0] for values in (sample.values(response) for sample in samples))
    logs = [np.log(values) for values in every if values.size > 1]
    halves = [t_quantile(confidence, s.size - 1) * float(s.std(ddof=1)) / s.size**0.5 for s in logs]
    return median(halves) if halves else 0.0
