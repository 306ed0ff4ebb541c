"""A command line as a study, before it is written as TOML."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scalograph.study.levels import SOME_HOST, LevelsError, needs_host, parse_levels
from scalograph.study.scalars import Level

# Options of their own, in the order in which the curve is looked for: what counts workers before what they run on.
WORKERS = ("threads", "jobs", "copies")
# Names of factors that count what works at once.
COUNTED = (
    *WORKERS, "processes", "procs", "workers", "clients", "users", "tasks", "connections", "forks", "jvms", "nodes",
    "parallelism", "concurrency", "p", "n_threads", "num_threads", "nproc", "np",
)  # fmt: skip


# What is read of every command: response, where it is read where it is the first and where it is not, unit, direction,
# title.
OWN = (
    ("wall", "window.wall", "run.wall", "s", "lower", "wall time"),
    ("cpu", "window.cpu", "run.cpu", "s", "lower", "CPU time"),
    ("cpu_percent", "run.cpu_percent", "run.cpu_percent", "%", "none", "CPU usage"),
    ("memory", "run.max_rss", "run.max_rss", "bytes", "none", "peak memory"),
)
# Of a place in the output: the name of a harness, and behind a blank which of its benchmarks.
HARNESS = re.compile(r"@([a-z0-9-]+)(?: +(.*))?", re.DOTALL)


@dataclass(frozen=True)
class PrintedFigure:
    """A value to read from the output.

    `place` is a pattern; a JSON pointer where it begins with /; where it is one of `HARNESS`, the harness that
    printed it, and which of its benchmarks.
    """

    name: str
    unit: str
    better: str
    place: str


@dataclass(frozen=True)
class CommandStudy:
    """A command and what is to vary; `factors` are levels as text by name.

    `copies` is a count; levels of copies stand among the factors. Texts with units are as people write them.
    `subcommand` is
    the command that asked, and `question` the one that the study answers; `roles` of factors and the `baseline` are of
    one that compares two versions. `lists` stand in place of the text of their factors; `controls` and `titles` are of
    factors; `plan` is that of the question, `title`
    its form.
    """

    command: tuple[str, ...]
    factors: dict[str, str] = field(default_factory=dict)
    copies: int = 1
    per_worker: bool = False
    responses: tuple[PrintedFigure, ...] = ()
    steps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    env_all: bool = False
    input: str = ""
    ok_exits: tuple[int, ...] = (0,)
    protocol: dict[str, str | int] = field(default_factory=dict)
    question: str = "sweep"
    subcommand: str = "measure"
    roles: dict[str, str] = field(default_factory=dict)
    baseline: tuple[str, str] | None = None
    lists: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    controls: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    plan: str | None = None
    title: str = ""

    @property
    def worker_factor(self) -> tuple[str, int] | None:
        """Return the factor that counts workers (else CPUs) in several levels, and its smallest count.

        Other numbers may be sizes, of which more is more work: they have no speedup.

        Other numbers may be a size, of which more is more work: they have no speedup.
        """
        for name in sorted(self.factors, key=lambda name: name == "cpus"):
            counts = _counts(self.factors[name]) if name in (*COUNTED, "cpus") else []
            if len(counts) > 1:
                return name, min(counts)
        return None

    @property
    def reference(self) -> tuple[str, Level] | None:
        """Return the factor whose versions are compared, and the first of them.

        Texts are versions; numbers are where they count no workers and nothing else varies.
        """
        if self.question != "sweep":
            return None
        several = {name: levels for name, text in self.factors.items() if len(levels := _levels(text)) > 1}
        for name, levels in several.items():
            if all(isinstance(level, str) for level in levels) or (len(several) == 1 and self.worker_factor is None):
                return name, levels[0]
        return None


def _counts(text: str) -> list[int]:
    """Return levels if all are counts; "all" is many."""
    levels = _levels(text)
    return [n for n in levels if type(n) is int] if all(type(n) is int and n >= 1 for n in levels) else []


def _levels(text: str) -> list[Level]:
    try:
        return parse_levels(text, SOME_HOST if needs_host(text) else None)
    except LevelsError:
        return []  # told where the study is checked
