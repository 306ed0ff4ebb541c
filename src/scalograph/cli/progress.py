"""Show how a study goes: a live line on a terminal, a quiet line every half minute elsewhere; and a first answer."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from scalograph.analysis.estimate import decimals, decimals_of
from scalograph.analysis.interval import summarize
from scalograph.analysis.stopping import narrow, runs_to
from scalograph.cli.console import err, printable, say
from scalograph.design.planner import Design, Planner
from scalograph.design.search import SearchPlanner
from scalograph.design.sequential import PrecisionProgress, SequentialPlanner
from scalograph.design.stopping_rule import score
from scalograph.protocol.record import Record
from scalograph.run.plan import Plan
from scalograph.study.levels import Configuration, Run
from scalograph.study.responses import primary_response
from scalograph.study.scalars import Level
from scalograph.text.cell_numbers import half_share
from scalograph.text.escape import encodable
from scalograph.text.format import format_rounded, significant
from scalograph.text.quantities import plus_minus
from scalograph.text.scale import scale_for
from scalograph.text.units import format_duration
from scalograph.verdict.cause import COUNTED
from scalograph.verdict.judge import Judgment

if TYPE_CHECKING:
    from rich.live import Live

    from scalograph.analysis.estimate import Estimate
    from scalograph.findings.leading_estimate import LeadingEstimate
    from scalograph.findings.row import Row

# Blocks before which nothing is said: an interval of fewer is too wide to help.
LEAST_BLOCKS = 3
# A precision that more runs would hardly change is not announced.
WORTHWHILE = 0.9


class EarlyAnswer:
    """The runs of this session, and what they show so far; those of earlier ones are not read again.

    It is computed between two runs, by the statistics of the answer, from the scores alone.
    """

    def __init__(self, design: Design) -> None:
        self._design, study = design, design.study
        self._response = primary_response(study)
        self._unit, self._precision = study.responses[self._response].unit, study.protocol.precision
        self._runs: list[tuple[Run, str, float | None, str]] = []
        self._scores: dict[tuple[Level, ...], list[tuple[float, str]]] = {}
        self._n_at_look = -1

    @property
    def is_current(self) -> bool:
        """Tell whether no run was finished since the last text."""
        return self._n_at_look == len(self._runs)

    def observe(self, run: Run, record: Record, verdict: str) -> None:
        """Take a finished run; warm-up does not count."""
        if not run.warmup:
            is_ok = record.run.status == "ok"
            number = score(self._design.study, record) if is_ok else None
            self._runs.append((run, verdict, number, record.run.status))
            if number is not None:
                self._scores.setdefault(tuple(run.configuration.values()), []).append((number, verdict))

    def value_text(self, configuration: Configuration) -> str:
        """Return the value of a configuration so far, such as "31.2 ms ±4%"; empty without one."""
        runs = self._scores.get(tuple(configuration.values()), [])
        clean = [n for n, verdict in runs if verdict in COUNTED]
        values = clean if len(clean) > 1 else [n for n, _ in runs]
        return _value(summarize(values), self._unit) if values else ""

    def text(self, seconds_per_run: float | None = None, n_left: int = 0) -> str:
        """Say what is known so far, and what the runs that are left will bring; empty before three blocks.

        `seconds_per_run` is None where it is not known.
        """
        self._n_at_look = len(self._runs)
        if len({run.block for run, *_ in self._runs}) < LEAST_BLOCKS:
            return ""
        leading = self._leading()
        if leading is None or leading.n_blocks < LEAST_BLOCKS or leading.estimate.low is None:
            return ""
        return so_far(leading, self._unit, _more(leading, self._design, seconds_per_run, n_left))

    def _leading(self) -> "LeadingEstimate | None":
        # Not imported before it is needed: a study of seconds would take longer.
        from scalograph.findings.leading_estimate import leading_estimate
        from scalograph.findings.sample import samples_by_configuration
        from scalograph.findings.table import Table

        design = self._design
        counts = [design.study.protocol.runs] * len(design.configurations)
        table = Table(design.study, "", {}, [*design.configurations], counts, rows=[*self._rows()])
        return leading_estimate(table, samples_by_configuration(table))

    def _rows(self) -> "list[Row]":
        from scalograph.findings.row import Row

        return [
            Row(
                run.run, run.block, run.replicate, False, run.configuration, status, None, verdict, (), {},
                {} if number is None else {self._response: number}, n_cpus=self._design.n_cpus,
            )
            for run, verdict, number, status in self._runs
        ]  # fmt: skip


def so_far(leading: "LeadingEstimate", unit: str, more: str = "") -> str:
    """Say what is known so far; `more` is what further runs will bring."""
    estimate = leading.estimate
    scale = scale_for("" if leading.is_ratio else unit, [estimate.value])
    value, low, high = (None if x is None else x * scale.factor for x in (estimate.value, estimate.low, estimate.high))
    digits = min(decimals(value, low, high), decimals_of(value or 0.0, 3))
    many, start, end = (format_rounded(x, digits) for x in (value, low, high))
    shown = f"about {many}\N{MULTIPLICATION SIGN}" if leading.is_ratio else f"about {many} {scale.unit}".rstrip()
    over = f" {leading.over}" if leading.over else ""
    weak = ", from disturbed runs" if leading.falls_back else ""
    first = f"{leading.levels}: " if leading.levels else ""
    ends = f"{start} or more" if high is None else f"{start}\N{EN DASH}{end}"
    return f"{first}{shown}{over} so far ({ends}){weak}{more and f'; {more}'}"


def _more(leading: "LeadingEstimate", design: Design, seconds_per_run: float | None, n_left: int) -> str:
    """Say how long it is to a precision: that which is asked for, else that of the planned end."""
    half, precision = leading.half_width, design.study.protocol.precision
    if half is None or seconds_per_run is None or not n_left:
        return ""
    n_blocks = n_left / max(design.block_size, 1)
    if precision is not None and half > precision:
        n_blocks = min(n_blocks, runs_to(half, leading.n_blocks, precision))
    reached = narrow(half, leading.n_blocks, n_blocks)
    if reached > WORTHWHILE * half:
        return ""
    more_s = max(round(n_blocks * design.block_size * seconds_per_run), 1)
    return f"{format_duration(more_s)} more for {plus_minus(reached)}"


def _value(estimate: "Estimate", unit: str) -> str:
    scale, half = scale_for(unit, [estimate.value]), half_share(estimate)
    shown = f"{significant((estimate.value or 0.0) * scale.factor)} {scale.unit}".rstrip()
    return shown if half is None else f"{shown} {plus_minus(half)}"


# Configurations that a line names; a block may end with hundreds.
NAMED = 3
# Where nobody looks on, a line is said no sooner after the last.
QUIET_S = 30.0
# A study that is over sooner needs no first answer; the next one costs as long at most.
SOON_S = 2.0
# What is noted again and again is said once, then counted.
AGAIN = {"busy": "busy blocks", "disturbed": "unusable blocks"}
VERDICTS = ("clean", "corrected", "unverified", "disturbed", "invalid", "failed")
GAP = "  "


class LiveProgress:
    """Show progress: live lines on a terminal, periodic lines elsewhere.

    Earlier sessions finished `n_done` runs and used `spent_s` seconds of the time limit; None without a limit. The
    `planner` shows precision reached, or the state of a search. `called` begins the line, where the study is one of
    several; with `is_plain` lines are printed also on a terminal, where others print beside us.
    """

    def __init__(
        self, design: Design, n_done: int = 0, limit_s: float | None = None, spent_s: float = 0.0,
        planner: Planner | None = None, called: str = "", is_plain: bool = False,
    ) -> None:  # fmt: skip
        self._called = called
        self._total = design.n_runs + design.study.protocol.warmup_runs
        self._limit_s, self._spent_s = limit_s, spent_s
        self._planner = planner if isinstance(planner, SequentialPlanner) else None
        self._search = planner if isinstance(planner, SearchPlanner) else None
        self._n_skipped = len(reached.skipped) if (reached := self._precision()) else 0
        self._done, self._n_timed = n_done, 0
        self._began = self._printed_at = self._looked_at = time.monotonic()
        # Seconds outside of runs in which we waited: they say nothing of how long the others take.
        self._waited_s = 0.0
        self._waits_since: float | None = None
        self._run_began = self._finished_at = self._began
        self._counts, self._notes = Counter[str](), Counter[str]()
        self._phase, self._levels, self._now, self._first = "setup", "", "", ""
        self._answer = EarlyAnswer(design)
        console = err()
        self._encoding = console.encoding
        self._live = _live(self) if console.is_terminal and not console.is_dumb_terminal and not is_plain else None

    def __enter__(self) -> "LiveProgress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def __rich__(self) -> Text:
        """Return the live lines, cut where the terminal is narrow."""
        lines = filter(None, [self._line(), self._first])
        return Text(encodable("\n".join(lines), self._encoding), no_wrap=True, overflow="ellipsis")

    def phase_began(self, name: str) -> None:
        """Show what goes on between runs; it is no part of the rate of runs."""
        self._phase, self._waits_since, self._levels, self._now = name, time.monotonic(), "", ""

    def run_started(self, run: Run, n_left: int) -> None:
        """Show a run that begins, and before a block what is known so far."""
        now = time.monotonic()
        self._waited_s += 0.0 if self._waits_since is None else now - self._waits_since
        self._waits_since, self._phase = None, "warm-up" if run.warmup else ""
        self._total = self._done + n_left  # disturbed runs are asked for again
        self._levels = printable(_levels(run.configuration))
        if self._live:
            self._now = self._answer.value_text(run.configuration)
            if not self._answer.is_current and now - self._looked_at >= SOON_S:
                self._look()
        self._run_began = time.monotonic()

    def run_finished(self, run: Run, record: Record, judgment: Judgment) -> None:
        """Count a finished run, and print the line where it is due."""
        self._done, self._n_timed = self._done + 1, self._n_timed + 1
        self._finished_at = time.monotonic()
        self._counts[judgment.verdict] += 1
        self._answer.observe(run, record, judgment.verdict)
        if not self._live and self._finished_at - self._printed_at >= QUIET_S:
            self._printed_at = self._finished_at
            self._now = self._answer.value_text(run.configuration)
            self._look()
            say(GAP.join(filter(None, [self._line(), self._first])))
        if reached := self._precision():
            self._report_skipped(run, reached.skipped[self._n_skipped :])
            self._n_skipped = len(reached.skipped)

    def run_warned(self, text: str, about: str = "") -> None:
        """Print a warning, above the live line where there is one; repeated kinds are counted."""
        self._notes[about] += 1
        if about in AGAIN and self._notes[about] > 1:
            return
        named = f"{self._called}: {text}" if self._called else text
        if self._live:
            self._live.console.print(Text(printable(named)))
        else:
            say(named)

    def _look(self) -> None:
        """Estimate from the runs so far, between two runs: nothing else works while one is measured."""
        n_left, limit_s = self._total - self._done, self._limit_left_s()
        each = self._seconds_per_run()
        if each and limit_s is not None:
            n_left = min(n_left, max(0, int(limit_s / each)))
        self._first = printable(self._answer.text(each, n_left))
        self._looked_at = time.monotonic()

    def _precision(self) -> PrecisionProgress | None:
        return self._planner.progress if self._planner else None

    def _report_skipped(self, run: Run, configurations: Sequence[Configuration]) -> None:
        if not configurations:
            return
        more = f" and {len(configurations) - NAMED} more" if len(configurations) > NAMED else ""
        named = ", ".join(map(_levels, configurations[:NAMED]))
        self.run_warned(f"block {run.block + 1}: precise enough, no further runs of {named}{more}")

    def _line(self) -> str:
        about = "~" if self._search else ""
        counts = ", ".join(f"{verdict} {n}" for verdict in VERDICTS if (n := self._counts[verdict]))
        again = [f"{text}: {n}" for key, text in AGAIN.items() if (n := self._notes[key]) > 1]
        near = [near_text(reached)] if (reached := self._precision()) else []
        near += [self._search.state.summary] if self._search and self._search.state.summary else []
        left = eta_text(self._left_s(), self._limit_s, self._limit_left_s(), self._planner is not None)
        share = f" {100 * self._done // max(self._total, 1)}%" if self._done else ""
        parts = [f"[{self._done}/{about}{self._total}]{share}", left if self._done < self._total else ""]
        current = f"current: {self._now}" if self._now else ""
        parts += [self._phase, self._levels, counts, current, *near, *again]
        return GAP.join(filter(None, [self._called, *parts]))

    def _left_s(self) -> float | None:
        """Estimate seconds of the runs that are left, below 0 where the last one is late; None is unknown."""
        each = self._seconds_per_run()
        if each is None:
            return None
        is_running = self._waits_since is None and self._run_began >= self._finished_at
        return each * (self._total - self._done) - (time.monotonic() - self._run_began) * is_running

    def _seconds_per_run(self) -> float | None:
        """Return the mean time of a run with what it needs around it, but without waiting; None before the first."""
        return (self._finished_at - self._began - self._waited_s) / self._n_timed if self._n_timed else None

    def _limit_left_s(self) -> float | None:
        return None if self._limit_s is None else self._limit_s - self._spent_s - (time.monotonic() - self._began)


def eta_text(
    runs_s: float | None, limit_s: float | None = None, left_s: float | None = None, at_most: bool = False
) -> str:
    """Say when all runs are done; and the limit, where that ends the study before.

    `left_s` is what is left of the limit, below 0 past it. `at_most`: the study may end sooner.

    >>> eta_text(80), eta_text(80, 600, 500), eta_text(80, at_most=True)
    ('ETA 1 min 20 s', 'ETA 1 min 20 s', 'ETA at most 1 min 20 s')
    >>> eta_text(800, 600, 500), eta_text(30, 600, -12), eta_text(-3)
    ('ETA 13 min 20 s  limit 10 min, 8 min 20 s left', 'limit 10 min, over by 12 s', 'ETA late by 3 s')
    """
    if limit_s is not None and left_s is not None and left_s <= -1:
        return f"limit {format_duration(limit_s)}, over by {format_duration(round(-left_s))}"
    eta = ""
    if runs_s is not None:
        late = round(runs_s) < 0
        eta = (
            f"ETA {'late by ' if late else 'at most ' if at_most else ''}{format_duration(max(abs(round(runs_s)), 1))}"
        )
    if limit_s is None or left_s is None or (runs_s is not None and runs_s <= left_s):
        return eta
    rest = f", {format_duration(max(round(left_s), 1))} left" if runs_s is not None else ""
    return GAP.join(filter(None, [eta, f"limit {format_duration(limit_s)}{rest}"]))


def show_progress(
    planned: Plan, called: str = "", is_plain: bool = False
) -> Callable[[int, float, Planner], LiveProgress]:
    """Make the progress of a planned study from the runs and the seconds of earlier sessions, and its planner."""
    limit_s = planned.design.study.protocol.budget_s
    return lambda n_done, spent_s, planner: LiveProgress(
        planned.design, n_done, limit_s, spent_s, planner, called, is_plain
    )


def _levels(configuration: Configuration) -> str:
    return " ".join(f"{name}={level}" for name, level in configuration.items())


def near_text(reached: PrecisionProgress) -> str:
    """Describe the widest interval and how many configurations are precise."""
    n, of, asked = reached.n_precise, reached.n_configurations, f"(asked {100 * reached.asked:g}%)"
    if n == of:
        return f"all {of} precise {asked}"
    if reached.worst is None:
        widest = "no interval yet"
    else:  # on logs, as the rule looks at it: beyond 1 it is no share of the value
        widest = f"beyond {plus_minus(1.0)}" if reached.worst >= 1 else plus_minus(reached.worst)
    return f"{widest} {asked}, {n} of {of} precise"


def _live(shown: LiveProgress) -> "Live":
    # Where nobody looks on it would only make the session longer.
    from rich.live import Live

    return Live(shown, console=err(), transient=True, refresh_per_second=2)
