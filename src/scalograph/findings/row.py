"""One run of a study as a row of the table."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from scalograph.analysis.steady import Kind
from scalograph.analysis.tail import Histogram
from scalograph.study.scalars import Level
from scalograph.verdict.cause import Cause


class Row(Struct, frozen=True, gc=False):
    """One run. `scores` has one number for each response that the run yielded; times are seconds.

    `course` is how its iterations went, and `settled` the first of the steady state, warm-up iterations counted.
    `wall_s` and `cpu_s` are of the whole run, start-up and all; it read `read_bytes` from disk and waited for
    `n_major_faults` pages; at its end its CPUs ran at `frequency_hz`. `finish_s` has when each of several workers
    ended: copies since the gate, threads that told it (`value finish_ns`) since the start of the window. `tail` counts
    the primary response of many iterations by size. `last_words` is the last line that a failed run wrote to stderr.
    It started `start_s` after the study, by the clock of the journal. `taken` is the share that others had of what it
    wanted, or of its time if it wanted less, at most; None where nothing bounds it. `changed` is what its program
    changed of its settings, in words, and `kept_to` says that it kept to some of its CPUs. `settings` has the name of
    each setting that it changed of the machine, with the values before and after; `counters` are the kernel's. `boot`
    numbers the boots of its machine, from the first of the study. `is_planned`: the design asked for it when it was
    made; others stand for one that was disturbed.
    A journal may hold 100,000 of them: the timeline stays on the disk, and `timeline_line` says where;
    `trace_line` does for a trace of subtasks that several workers did. It holds no cycles, which nobody need look for.
    """

    run: str
    block: int
    replicate: int
    warmup: bool
    treatment: Mapping[str, Level]
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
    boot: int = 1
    is_planned: bool = True

    @property
    def key(self) -> tuple[Level, ...]:
        """Return the levels, in the order of the study's factors."""
        return tuple(self.treatment.values())


def row_keys(rows: Sequence[Row]) -> Iterator[tuple[Level, ...]]:
    """Return the key of each row, computed once per configuration."""
    identities = [id(row.treatment) for row in rows]
    key_of = {identity: row.key for identity, row in dict(zip(identities, rows, strict=True)).items()}
    return map(key_of.__getitem__, identities)
