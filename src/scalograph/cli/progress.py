"""How a study goes: what runs, what is left, how long; one line a block when nobody looks on."""

import time
from collections.abc import Mapping
from typing import Any

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from scalograph.analysis.verdict import Judgment
from scalograph.cli.console import err, printable, say
from scalograph.design.planner import Design, Run
from scalograph.units import format_duration


class LiveProgress:
    """A bar on stderr where that is a terminal, else a sentence at the end of each block."""

    def __init__(self, design: Design, n_done: int, budget_s: float | None) -> None:
        self._total = design.n_runs + design.study.protocol.warmup_runs
        self._blocks = design.study.protocol.runs
        self._budget_s = budget_s
        self._done = self._before = n_done
        self._began = time.monotonic()
        self._disturbed = self._failed = 0
        self._block: int | None = None
        console = err()
        self._bar = _bar(console) if console.is_terminal else None

    def __enter__(self) -> "LiveProgress":
        if self._bar:
            self._task = self._bar.add_task("", total=self._total, completed=self._done, left="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def asked(self, run: Run, n_left: int) -> None:
        """A run begins."""
        self._total = self._done + n_left  # disturbed runs are asked for again
        if self._bar:
            levels = printable(" ".join(f"{name}={level}" for name, level in run.treatment.items()))
            where = f"block {run.block + 1}/{self._blocks}  {levels[:70]}"
            self._bar.update(self._task, description=where, total=self._total)
        elif self._block is not None and run.block != self._block:
            self._line()
        self._block = run.block

    def told(self, run: Run, record: Mapping[str, Any], judgment: Judgment) -> None:
        """A run has ended."""
        self._done += 1
        self._disturbed += judgment.verdict == "contaminated"
        self._failed += judgment.verdict == "failed"
        if self._bar:
            self._bar.update(self._task, completed=self._done, left=self._left())

    def _left(self) -> str:
        per_run = (time.monotonic() - self._began) / max(1, self._done - self._before)
        left = per_run * (self._total - self._done)
        if self._budget_s is not None:
            left = min(left, max(0.0, self._budget_s - (time.monotonic() - self._began)))
        bad = [f"{n} {word}" for n, word in ((self._disturbed, "disturbed"), (self._failed, "failed")) if n]
        return ", ".join([f"about {format_duration(max(1, round(left)))} left", *bad])

    def _line(self) -> None:
        say(f"block {(self._block or 0) + 1} of {self._blocks} done, run {self._done} of {self._total}, {self._left()}")


def _bar(console: Any) -> Progress:
    # markup=False: a level is text, whatever brackets it holds
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    return Progress(*columns, console=console, transient=True, refresh_per_second=2)
