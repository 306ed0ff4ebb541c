"""What a study knows while it runs: the value of a configuration, and after three blocks the answer so far.

It is computed between two runs, by the statistics of the answer, from the scores alone.
"""

from typing import TYPE_CHECKING

from scalograph.analysis.estimate import decimals, decimals_of
from scalograph.analysis.interval import summarize
from scalograph.analysis.stopping import narrow, runs_to
from scalograph.design.planner import Design
from scalograph.design.stopping_rule import score
from scalograph.protocol.record import Record
from scalograph.study.levels import Configuration, Run
from scalograph.study.responses import primary_response
from scalograph.study.scalars import Level
from scalograph.text.cell_numbers import half_share
from scalograph.text.format import format_rounded, significant
from scalograph.text.quantities import plus_minus
from scalograph.text.scale import scale_for
from scalograph.text.units import format_duration
from scalograph.verdict.cause import COUNTED

if TYPE_CHECKING:
    from scalograph.analysis.estimate import Estimate
    from scalograph.findings.leading_estimate import LeadingEstimate
    from scalograph.findings.row import Row

# Blocks before which nothing is said: an interval of fewer is too wide to help.
LEAST_BLOCKS = 3
# A precision that more runs would hardly change is not announced.
WORTHWHILE = 0.9


class EarlyAnswer:
    """The runs of this session, and what they show so far; those of earlier ones are not read again."""

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
