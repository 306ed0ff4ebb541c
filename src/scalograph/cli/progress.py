"""How a study goes: what runs, what is left, how long, how precise; some lines when nobody looks on."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from scalograph.cli.console import (
    err,
    maybe_unheard,
    printable,
    say,
)
from scalograph.design.planner import Design, Planner
from scalograph.design.search import SearchPlanner
from scalograph.design.sequential import Reached, SequentialPlanner
from scalograph.protocol.record import Record
from scalograph.study.treatment import Run, Treatment
from scalograph.text.units import format_duration
from scalograph.verdict.judge import Judgment

if TYPE_CHECKING:
    from rich.progress import Progress

# Treatments that a line names; a block may end with hundreds.
NAMED = 3
# Where nobody looks on, a block that takes long says so in between.
QUIET_S = 30.0


class LiveProgress:
    """A bar on stderr where that is a terminal, else a sentence at the end of each block, and every half minute.

    Args:
        design: what is run.
        n_done: runs that an earlier start has finished.
        budget_s: time budget in seconds; None is no limit.
        planner: of a study that asks for precision, to say how near that is, or of a search, to say what it knows.
    """

    def __init__(self, design: Design, n_done: int, budget_s: float | None, planner: Planner | None = None) -> None:
        self._total = design.n_runs + design.study.protocol.warmup_runs
        # A search has no last block: it ends when it knows.
        self._of = None if isinstance(planner, SearchPlanner) else design.study.protocol.runs
        self._budget_s = budget_s
        self._planner = planner if isinstance(planner, SequentialPlanner) else None
        self._search = planner if isinstance(planner, SearchPlanner) else None
        self._n_forgone = len(reached.forgone) if (reached := self._reached()) else 0
        self._done = self._before = n_done
        self._began = self._said = time.monotonic()
        self._disturbed = self._failed = 0
        self._block: int | None = None
        console = err()
        self._bar = _bar(console) if console.is_terminal else None

    def __enter__(self) -> "LiveProgress":
        if self._bar:
            self._task = self._bar.add_task("", total=self._total, completed=self._done, left="")
            with maybe_unheard():
                self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            with maybe_unheard():
                self._bar.stop()

    def asked(self, run: Run, n_left: int) -> None:
        """A run begins."""
        self._total = self._done + n_left  # disturbed runs are asked for again
        if self._bar:
            where = f"{self._place(run.block, '/')}  {printable(_levels(run.treatment))[:70]}"
            self._bar.update(self._task, description=where, total=self._total)
        elif self._block is not None and run.block != self._block:
            self._line(" done")
        self._block = run.block

    def told(self, run: Run, record: Record, judgment: Judgment) -> None:
        """A run has ended."""
        self._done += 1
        self._disturbed += judgment.verdict == "contaminated"
        self._failed += judgment.verdict == "failed"
        if self._bar:
            self._bar.update(self._task, completed=self._done, left=self._left())
        elif time.monotonic() - self._said >= QUIET_S:
            self._line("")
        if reached := self._reached():
            self._tell_forgone(run, reached.forgone[self._n_forgone :])
            self._n_forgone = len(reached.forgone)

    def noted(self, text: str) -> None:
        """Something that a person should know; above the bar, where there is one."""
        if self._bar:
            with maybe_unheard():
                self._bar.console.print(Text(printable(text)))
        else:
            say(text)

    def _reached(self) -> Reached | None:
        return self._planner.reached if self._planner else None

    def _tell_forgone(self, run: Run, treatments: Sequence[Treatment]) -> None:
        if not treatments:
            return
        more = f" and {len(treatments) - NAMED} more" if len(treatments) > NAMED else ""
        named = ", ".join(map(_levels, treatments[:NAMED]))
        self.noted(f"block {run.block + 1}: precise enough, no further runs of {named}{more}")

    def _left(self) -> str:
        per_run = (time.monotonic() - self._began) / max(1, self._done - self._before)
        left = per_run * (self._total - self._done)
        if self._budget_s is not None:
            left = min(left, max(0.0, self._budget_s - (time.monotonic() - self._began)))
        about = "at most" if self._planner else "about"
        bad = [f"{n} {word}" for n, word in ((self._disturbed, "disturbed"), (self._failed, "failed")) if n]
        near = [_near(reached, "" if self._bar else " treatments")] if (reached := self._reached()) else []
        near += [self._search.course.state] if self._search and self._search.course.state else []
        return ", ".join([f"{about} {format_duration(max(1, round(left)))} left", *near, *bad])

    def _line(self, done: str) -> None:
        self._said = time.monotonic()
        if self._search:
            return say(f"run {self._done} of about {self._total}, {self._left()}")
        say(f"{self._place(self._block or 0, ' of ')}{done}, run {self._done} of {self._total}, {self._left()}")

    def _place(self, block: int, of: str) -> str:
        if block < 0:
            return "warm-up"
        return f"{'run' if self._search else 'block'} {block + 1}{f'{of}{self._of}' if self._of else ''}"


def _levels(treatment: Treatment) -> str:
    return " ".join(f"{name}={level}" for name, level in treatment.items())


def _near(reached: Reached, noun: str) -> str:
    """The worst interval, and how many treatments need no more runs; a bar has no room for the noun."""
    n, of, asked = reached.n_precise, reached.n_treatments, f"(asked {100 * reached.asked:g} %)"
    return f"all {of}{noun} precise {asked}" if n == of else f"{_worst(reached)} {asked}, {n} of {of}{noun} precise"


def _worst(reached: Reached) -> str:
    if reached.worst is None:
        return "no interval yet"
    # On logs, as the rule looks at it: beyond that it is no share of the value.
    return "beyond +-100 %" if reached.worst >= 1 else f"+-{100 * reached.worst:.2g} %"


def _bar(console: Any) -> "Progress":
    # Where nobody looks on it would only make the start longer.
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    # markup=False: a level is text, whatever brackets it holds
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    return Progress(*columns, console=console, transient=True, refresh_per_second=2)
