"""One run of a study as a row of the table."""

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from scalograph.analysis.quantiles import Histogram
from scalograph.analysis.steady import Kind
from scalograph.study.responses import UNDISTURBED
from scalograph.study.scalars import Level
from scalograph.verdict.cause import Cause
from scalograph.verdict.partners import RunPartner
from scalograph.verdict.undisturbed import CpuUse

Key = tuple[Level, ...]


class Row(Struct, frozen=True, gc=False):
    """One run. `scores` has one number for each response that the run yielded; times are seconds.

    `course` is its steady-state behavior, `settled` its first steady iteration, warm-up counted. `wall_s` and `cpu_s`
    are of the whole run; it read `read_bytes` from disk and had `n_major_faults`; `frequency_hz` is that at its end.
    `finish_s` has the end of each worker: copies since the gate, threads that report it (`value finish_ns`) since the
    start of the window. `tail` counts many iterations by size. `last_words` is the last stderr line of a failed run.
    `start_s` counts from the start of the study, by the journal's clock. `taken` is an upper bound of the share that
    interference had of what it wanted, or of its time if that is less; None if unbounded. `changed` has the settings
    that its program changed, in words; `kept_to` says that it used only some CPUs. `settings` are machine settings
    with the values before and after; `counters` are the kernel's. `reclaimed_at` is the memory limit, bytes, at which
    the kernel took pages back. `boot` numbers the boots; `job` is that of a cluster, `lost_jobs` why
    earlier ones ended without the run. `is_planned`: no repeat.
    `undisturbed` has corrected times of its observations, `undisturbed_s` that of the whole run, `open_log` half of the
    distance between their ends, as a log; `cpu_use`: on how many CPUs its tasks ran. `search_s` is the
    undisturbed time that a search took for the run; None if it took the score. `loop_log` is the log of the sentinel's
    loop time, `loop_ns`; NaN unless the run had one task at a time. `partners` work for the run from outside.
    A journal may hold 100,000 rows: timelines and traces stay on disk, at `timeline_line` and `trace_line`. Rows hold
    no cycles, so the garbage collector can skip them.
    """

    run: str
    block: int
    replicate: int
    warmup: bool
    configuration: Mapping[str, Level]
    status: str
    reason: str | None
    verdict: str
    causes: tuple[Cause, ...]
    observations: Mapping[str, tuple[float, ...]]
    scores: Mapping[str, float]
    work: int | None = None
    n_cpus: int = 1
    per_cpu_ns: tuple[int, ...] = ()
    degraded: tuple[tuple[str, str, str], ...] = ()
    setup: tuple[str, ...] = ()
    timeline_line: int | None = None
    n_survivors: int = 0
    course: Kind = "not assessed"
    settled: int | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    read_bytes: int | None = None
    n_major_faults: int | None = None
    frequency_hz: int | None = None
    finish_s: tuple[float, ...] = ()
    tail: Histogram | None = None
    trace_line: int | None = None
    last_words: str = ""
    start_s: float | None = None
    taken: float | None = None
    changed: tuple[str, ...] = ()
    kept_to: str = ""
    settings: tuple[tuple[str, str, str], ...] = ()
    counters: Mapping[str, int] | None = None
    reclaimed_at: int | None = None
    boot: int = 1
    job: str = ""
    lost_jobs: tuple[str, ...] = ()
    is_planned: bool = True
    undisturbed: tuple[float, ...] = ()
    open_log: float = 0.0
    undisturbed_s: float | None = None
    cpu_use: CpuUse = ""
    search_s: float | None = None
    loop_log: float = math.nan
    loop_ns: float | None = None
    tree_ratio: float = 1.0
    partners: tuple[RunPartner, ...] = ()

    @property
    def key(self) -> Key:
        """Return the levels, in the order of the study's factors."""
        return tuple(self.configuration.values())

    @property
    def own_s(self) -> float | None:
        """Return the time of the whole run, undisturbed if the study uses that and the record gives it."""
        is_corrected = UNDISTURBED in self.scores and self.undisturbed_s is not None
        return self.undisturbed_s if is_corrected else self.wall_s

    @property
    def cpus_used(self) -> float | None:
        """Return the mean number of CPUs used, over the time of all processes; None where it is not known."""
        return self.cpu_s / (self.own_s * self.tree_ratio) if self.own_s and self.cpu_s is not None else None

    @property
    def main_cause(self) -> str:
        """Return the first cause, else the verdict: each run counts once."""
        return self.causes[0].cause if self.causes else self.verdict


def row_keys(rows: Sequence[Row]) -> Iterator[Key]:
    """Return the key of each row, computed once per configuration."""
    identities = [id(row.configuration) for row in rows]
    key_of = {identity: row.key for identity, row in dict(zip(identities, rows, strict=True)).items()}
    return map(key_of.__getitem__, identities)
