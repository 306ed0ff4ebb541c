"""How a study goes: what runs, how many of how many, how long still; one live line, or a few where nobody looks on."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from scalograph.cli.console import err, printable, say
from scalograph.design.planner import Design, Planner
from scalograph.design.search import SearchPlanner
from scalograph.design.sequential import Reached, SequentialPlanner
from scalograph.protocol.record import Record
from scalograph.study.treatment import Run, Treatment
from scalograph.text.quantities import counted
from scalograph.text.units import format_duration
from scalograph.verdict.judge import Judgment

if TYPE_CHECKING:
    from rich.live import Live

# Configurations that a line names; a block may end with hundreds.
NAMED = 3
# Where nobody looks on, a line is said no sooner after the last.
QUIET_S = 30.0
# What is noted again and again is said once, then counted.
AGAIN = {"busy": "busy again", "disturbed": "mostly disturbed again"}


class LiveProgress:
    """A line on stderr that is always true where that is a terminal, else one now and then.

    Args:
        design: what is run.
        n_done: runs that an earlier start has finished.
        left_s: seconds of the time budget that earlier starts have left; None is no limit.
        planner: of a study that asks for precision, to say how near that is, or of a search, to say what it knows.
        called: what the line begins with, where the study is one of several.
    """

    def __init__(
        self, design: Design, n_done: int, left_s: float | None, planner: Planner | None = None, called: str = ""
    ) -> None:
        self._called = called
        self._total = design.n_runs + design.study.protocol.warmup_runs
        self._left_s = left_s
        self._planner = planner if isinstance(planner, SequentialPlanner) else None
        self._search = planner if isinstance(planner, SearchPlanner) else None
        self._n_forgone = len(reached.forgone) if (reached := self._reached()) else 0
        self._done = self._before = n_done
        self._began = self._said = self._told = time.monotonic()
        self._went_wrong, self._noted = Counter[str](), Counter[str]()
        self._levels = ""
        console = err()
        self._live = _live(self) if console.is_terminal and not console.is_dumb_terminal else None

    def __enter__(self) -> "LiveProgress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def __rich__(self) -> Text:
        """What the live line says now; its end is cut where the terminal is narrow."""
        return Text(f"{self._line()}  {self._levels}", no_wrap=True, overflow="ellipsis")

    def asked(self, run: Run, n_left: int) -> None:
        """Tell that a run begins."""
        self._total = self._done + n_left  # disturbed runs are asked for again
        self._levels = printable(_levels(run.treatment))

    def told(self, run: Run, record: Record, judgment: Judgment) -> None:
        """Tell that a run has ended."""
        self._done += 1
        self._told = time.monotonic()
        word = {"contaminated": "disturbed", "failed": "failed"}.get(judgment.verdict)
        self._went_wrong.update([word] if word else [])
        if not self._live and self._told - self._said >= QUIET_S:
            self._said = self._told
            say(self._line())
        if reached := self._reached():
            self._tell_forgone(run, reached.forgone[self._n_forgone :])
            self._n_forgone = len(reached.forgone)

    def noted(self, text: str, about: str = "") -> None:
        """Tell what a person should know; above the live line, where there is one."""
        self._noted[about] += 1
        if about in AGAIN and self._noted[about] > 1:
            return
        if self._live:
            self._live.console.print(Text(printable(text)))
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

    def _line(self) -> str:
        about = "about " if self._search else ""
        wrong = [f"{self._went_wrong[word]} {word}" for word in ("disturbed", "failed") if self._went_wrong[word]]
        again = [f"{said}: {counted(n - 1, 'time')}" for key, said in AGAIN.items() if (n := self._noted[key]) > 1]
        near = [_near(reached)] if (reached := self._reached()) else []
        near += [self._search.course.state] if self._search and self._search.course.state else []
        left = left_text(*self._times(), at_most=self._planner is not None) if self._done < self._total else ""
        run = f"run {self._done} of {about}{self._total}"
        return ", ".join(filter(None, [self._called, run, left, *near, *wrong, *again]))

    def _times(self) -> tuple[float | None, float | None]:
        """Seconds until all runs are done, by those that are, and until the budget ends; None is not known."""
        now, n = time.monotonic(), self._done - self._before
        until = self._told + (self._told - self._began) / n * (self._total - self._done) if n else None
        return until and until - now, None if self._left_s is None else self._began + self._left_s - now


def left_text(runs_s: float | None, budget_s: float | None, at_most: bool = False) -> str:
    """Say how long it will still take, and past its time how long it is over.

    Args:
        runs_s: seconds that the runs to come take; below 0 where the one under way takes longer than those before.
        budget_s: seconds that are left of the budget; None is no limit.
        at_most: whether it may end sooner.

    >>> left_text(80, None), left_text(80, 30), left_text(None, 30)
    ('about 1 min 20 s left', 'about 30 s left', 'at most 30 s left')
    >>> left_text(80, -12), left_text(-3, None), left_text(None, None)
    ('over the budget by 12 s', 'over by 3 s', '')
    """
    known = [s for s in (runs_s, budget_s) if s is not None]
    if not known:
        return ""
    seconds = round(min(known))
    if seconds < 0:
        return f"over {'the budget ' if budget_s is not None and budget_s < 0 else ''}by {format_duration(-seconds)}"
    return f"{'at most' if at_most or runs_s is None else 'about'} {format_duration(max(seconds, 1))} left"


def _levels(treatment: Treatment) -> str:
    return " ".join(f"{name}={level}" for name, level in treatment.items())


def _near(reached: Reached) -> str:
    """The worst interval, and how many configurations need no more runs."""
    n, of, asked = reached.n_precise, reached.n_treatments, f"(asked {100 * reached.asked:g} %)"
    return f"all {of} precise {asked}" if n == of else f"{_worst(reached)} {asked}, {n} of {of} precise"


def _worst(reached: Reached) -> str:
    if reached.worst is None:
        return "no interval yet"
    # On logs, as the rule looks at it: beyond that it is no share of the value.
    return "beyond +-100 %" if reached.worst >= 1 else f"+-{100 * reached.worst:.2g} %"


def _live(shown: LiveProgress) -> "Live":
    # Where nobody looks on it would only make the start longer.
    from rich.live import Live

    return Live(shown, console=err(), transient=True, refresh_per_second=2)
