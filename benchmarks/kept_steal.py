"""Is what kept runs had on a CPU beyond their CPU time what the hypervisor took, and may it be subtracted?

Switch records count a task as on its CPU while the hypervisor has that; CPU time of a guest does not. Of runs of one
task that never sleeps, the difference is compared with the steal of /proc/stat, in ticks of 10 ms. Then the time less
waits and less that difference is compared with the other clean runs of the same configuration in the same journal.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from command_common import ROOT, Figure, main

from scalograph.analysis.interval import summarize
from scalograph.protocol import journal
from scalograph.protocol.record import Record, RunFigures
from scalograph.verdict.judge import judge

TICK_NS = 10_000_000
TICKS = ((0, 0), (1, 1), (2, 4), (5, 9), (10, 10**6))
# Shares of the time of a run, in percent.
SHARES = ((0, 0.5), (0.5, 2), (2, 5), (5, 10), (10, 20), (20, 100))
QUIET = 0.005  # others are compared with runs that waited for less of their time
FEWEST = 3


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What is read of one run; times in nanoseconds.

    Attributes:
        configuration: its file and levels.
        wall: of the run.
        waited: ready, while another process had the CPU.
        cpu: CPU time of its cgroup.
        on_cpu: by switch records.
        ticks: steal of all CPUs in its time, in ticks.
        is_clean: judged clean.
    """

    configuration: str
    wall: int
    waited: int
    cpu: int
    on_cpu: int
    ticks: int
    is_clean: bool

    @property
    def beyond(self) -> int:
        """Return the time on a CPU that is no CPU time."""
        return self.on_cpu - self.cpu

    @property
    def stolen(self) -> int:
        """Return how much of that can have been taken."""
        return max(0, self.beyond)

    @property
    def undisturbed(self) -> int:
        """Return the time without waits and without what was stolen."""
        return self.wall - self.waited - self.stolen

    @property
    def is_quiet(self) -> bool:
        """Tell whether others are compared with it."""
        return self.is_clean and not self.ticks and self.waited < QUIET * self.wall


def kept_runs(files: Iterable[Path]) -> Iterator[KeptRun]:
    """Yield the runs of one task that never slept, with switch records and the CPU time of a cgroup."""
    for file in files:
        for event in journal.read(file, [], whole=False):
            if event["event"] == "run" and is_single(event["record"].run) and not event["record"].guest:
                yield _read(event["record"], f"{file} {event['configuration']}")


def is_single(run: RunFigures) -> bool:
    """Tell whether a run is one task at work: it was switched away twice at most unless it was preempted."""
    own = (run.n_switches or 0) - (run.n_preemptions or 0)
    known = None not in (run.wall_ns, run.wait_ns, run.cpu_ns, run.per_cpu_ns, run.n_switches, run.n_preemptions)
    is_recorded = run.wait_scope == "preemption" and run.cpu_source == "cgroup" and not run.n_lost_records
    return run.status == "ok" and run.n_tasks == 1 and known and is_recorded and own <= 2


def _read(record: Record, configuration: str) -> KeptRun:
    run, on_cpu = record.run, sum(record.run.per_cpu_ns or ())
    return KeptRun(
        configuration, run.wall_ns or 0, run.wait_ns or 0, run.cpu_ns or 0, on_cpu,
        (run.steal_ns or 0) // TICK_NS, judge(record).verdict == "clean",
    )  # fmt: skip


def levels(runs: Sequence[KeptRun]) -> Iterator[tuple[KeptRun, float, float, float]]:
    """Yield runs with their wall, undisturbed and CPU time, each over the median of the quiet ones beside them."""
    beside = defaultdict(list)
    for run in runs:
        if run.is_quiet:
            beside[run.configuration].append(run)
    for run in runs:
        others = [other for other in beside[run.configuration] if other is not run]
        if len(others) >= FEWEST:
            pairs = ((run.wall, "wall"), (run.undisturbed, "undisturbed"), (run.cpu, "cpu"))
            yield (run, *(value / median(getattr(other, name) for other in others) for value, name in pairs))


def figures(quick: bool) -> Iterator[Figure]:
    """Read the kept journals; the quick version those of one published study."""
    files = sorted((ROOT / "studies").glob("**/journal.jsonl.gz"))
    yield from comparisons(list(kept_runs([file for file in files if not quick or "cpu-surface" in str(file)])))


def comparisons(runs: Sequence[KeptRun]) -> Iterator[Figure]:
    """Compare records with CPU time by ticks, then times with clean ones by the shares stolen and waited."""
    for low, high in TICKS:
        beyond = [run.beyond / 1e6 for run in runs if low <= run.ticks <= high]
        if beyond:
            shown = f"{low}" if low == high else f"{low} to {high}" if high < TICKS[-1][1] else f"{low} and more"
            note = f"{min(beyond):.1f} to {max(beyond):.1f} ms; {len(beyond)} runs"
            yield Figure(f"records less CPU time, ticks of steal: {shown}", median(beyond), "ms", None, note)
    over = max((run.beyond / 1e6 - 10 * (run.ticks + 1) for run in runs), default=0.0)
    yield Figure("  most by which it exceeds its ticks and one more", max(0.0, over), "ms", 0.0)
    unknown = [abs(run.wall - run.waited - run.on_cpu) / run.wall for run in runs]
    yield Figure(
        "time neither on a CPU nor waiting", 100 * median(unknown), "%", None, f"most {100 * max(unknown):.2f}%"
    )
    rows = list(levels(runs))
    for what in ("stolen", "waited"):
        for low, high in SHARES:
            chosen = [row for row in rows if low <= 100 * getattr(row[0], what) / row[0].wall < high]
            if chosen:
                yield _level(f"{what} {low:g} to {high:g}% of the time: undisturbed / clean", chosen)


def _level(name: str, rows: Sequence[tuple[KeptRun, float, float, float]]) -> Figure:
    wall, undisturbed, cpu = (summarize([row[i] for row in rows]) for i in (1, 2, 3))
    ends = "" if undisturbed.low is None else f" [{undisturbed.low:.2f}, {undisturbed.high:.2f}]"
    note = f"{ends}; wall {wall.value:.3f}, CPU time {cpu.value:.3f}; {len(rows)} runs".lstrip("; ")
    return Figure(name, undisturbed.value or 0.0, "x", None, note)


if __name__ == "__main__":
    main(figures, "the journals of one published study")
