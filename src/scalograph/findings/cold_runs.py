"""First runs that read from disk what later ones found in memory: flags beside them, and a doubt with its cure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from scalograph.analysis.cold_start import Cold, cold
from scalograph.analysis.flag import Flag
from scalograph.findings.curves import key
from scalograph.findings.reason import Doubt
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level

# What a run must have read to count: a megabyte, or so many pages that it waited for (1 to 2 ms on a fast disk).
LEAST_BYTES, LEAST_PAGES = 1_000_000, 16
FEWEST = 3  # runs of a treatment: fewer have no typical score to hold one of them against

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
    typical = {k: median(s.scores(name)) for k, s in taken.items() if len(s.scores(name)) >= FEWEST}
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
