"""What can be compared: configurations with their scores, whatever they were read from, findings among them."""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.errors import ProtocolError, StudyError
from scalograph.findings.published.reproduced_studies import MOST_CLOCK, recorded_clock
from scalograph.protocol.findings import Curve, FactorDoc, Findings, Point, PointResponse, ResponseDoc, Trust
from scalograph.protocol.plain import Level
from scalograph.questions.registry import QUESTIONS, why_no_curves
from scalograph.study.responses import UNDISTURBED
from scalograph.study.scalars import format_value, suggest, unknown_name_error
from scalograph.text.quantities import count_noun

# What a response may be divided by.
PER = ("clock", "cpu")


class SourceConfiguration(NamedTuple):
    """One configuration of a source.

    Attributes:
        scores: of the counted runs, in the unit of the response; one for a printed value.
        blocks: the block of each score.
        estimate: as the source itself reports it.
        n_cpus: CPUs available to its runs.
        doubt: why it decides nothing; empty where it does.
        loop_logs: log of the sentinel's loop time in each run; NaN where unknown, empty if all are.
        open_log: half of the distance between the ends of its scores, as a log; 0 unless they are corrected.
        spread: given standard deviation of a single score, as a share; 0 where unknown.
    """

    levels: Mapping[str, Level]
    scores: tuple[float, ...]
    blocks: tuple[int, ...]
    estimate: Estimate | None = None
    n_cpus: int | None = None
    doubt: str = ""
    open_log: float = 0.0
    loop_logs: tuple[float, ...] = ()
    spread: float = 0.0


class FailedConfiguration(NamedTuple):
    """A configuration without a measurement: more than half of its runs failed.

    `runs`: failed runs, and of how many.
    """

    levels: Mapping[str, Level]
    runs: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class MeasuredSource:
    """A result, a journal, or a published table.

    Attributes:
        label: what it is called beside others.
        name, title: of its study.
        along: factor of its curves.
        failed: configurations without a measurement.
        facts: facts beside the machine's, by name.
        has_settings: whether the facts tell of the machine, or of how the program was built or run.
        refused: why no verdict is possible; empty where one is.
        trust: the verdict on the study; None of a published table.
        curves: whose laws are compared: those of the primary response that are compared over all points.
        laws_left_out: whether other curves have laws.
        is_shared: whether its times are corrected for other processes.
        varied: what was drawn anew for each block.
        unread: files of it that cannot be read.
    """

    label: str
    name: str
    title: str = ""
    factors: Mapping[str, FactorDoc]
    along: str
    response: ResponseDoc
    configurations: tuple[SourceConfiguration, ...]
    failed: tuple[FailedConfiguration, ...] = ()
    machine: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    has_settings: bool = False
    refused: str = ""
    trust: Trust | None = None
    curves: tuple[Curve, ...] = ()
    laws_left_out: bool = False
    is_shared: bool = False
    varied: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_printed(self) -> bool:
        """Return whether the values are a paper's, without runs."""
        return self.trust is None

    def levels_of(self, factor: str) -> list[Level]:
        """Return the distinct levels of a factor, those of failed configurations included."""
        return list(dict.fromkeys(levels[factor] for levels in self.every_levels()))

    def every_levels(self) -> list[Mapping[str, Level]]:
        """Return the levels of each configuration, failed ones last."""
        return [*(row.levels for row in self.configurations), *(row.levels for row in self.failed)]

    def relabel(self, label: str) -> "MeasuredSource":
        """Return a copy with another label."""
        return replace(self, label=label)


def select_levels(sources: Sequence[MeasuredSource], where: Sequence[str]) -> list[MeasuredSource]:
    """Return sources with only the given levels; a factor that a source lacks does not filter it.

    Raises StudyError: no source has such a factor, or one has no such configuration.
    """
    wanted = _parse_levels(list(dict.fromkeys(name for source in sources for name in source.factors)), where)
    return [_select_levels(source, wanted, where) for source in sources]


def _select_levels(source: MeasuredSource, wanted: Mapping[str, set[str]], where: Sequence[str]) -> MeasuredSource:
    def is_wanted(levels: Mapping[str, Level], names: Collection[str]) -> bool:
        return all(name not in names or format_value(levels[name]) in texts for name, texts in wanted.items())

    kept = [row for row in source.configurations if is_wanted(row.levels, source.factors)]
    failed = [row for row in source.failed if is_wanted(row.levels, source.factors)]
    if not kept and not failed:
        reason = f"no configuration with {', '.join(where)}" if where else "no configuration with a run that counts"
        raise StudyError.one(source.label, reason, "one or more")
    cut = [curve for curve in source.curves if curve.factor in wanted]
    whole = [curve for curve in source.curves if curve.factor not in wanted and is_wanted(curve.group, curve.group)]
    return replace(drop_laws(source, cut), configurations=tuple(kept), failed=tuple(failed), curves=tuple(whole))


def mostly_failed(n_failed: int, n_runs: int) -> bool:
    """Return whether more than half of the runs failed."""
    return 2 * n_failed > n_runs


def drop_laws(source: MeasuredSource, curves: Sequence[Curve]) -> MeasuredSource:
    """Return a source that records that laws of these curves are not comparable."""
    return replace(source, laws_left_out=source.laws_left_out or any(curve.law is not None for curve in curves))


def _parse_levels(factors: Sequence[str], where: Sequence[str]) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for text in where:
        name, equals, level = text.partition("=")
        if not equals or name not in factors:
            expected = f"factor=level, of the factors {', '.join(factors)}"
            raise StudyError.one("--where", f'"{text}"', expected, suggest(name, factors))
        wanted.setdefault(name, set()).add(level)
    return wanted


def divide_scores(source: MeasuredSource, per: str, mhz: float | None = None) -> MeasuredSource:
    """Return a source per "clock" or per "cpu": times become cycles or CPU seconds, rates a share.

    `mhz` is its clock; None reads it from the facts of its machine.

    Raises StudyError: the source has no clock, or no CPUs.
    """
    is_rate = source.response.better == "higher"
    by = [_clock(source, mhz) if per == "clock" else _cpus(source, row) for row in source.configurations]
    factors = [1 / x if is_rate else x for x in by]
    divided = [
        row._replace(
            scores=tuple(score * f for score in row.scores), estimate=row.estimate.rescale(f) if row.estimate else None
        )
        for row, f in zip(source.configurations, factors, strict=True)
    ]
    return replace(drop_laws(source, source.curves), configurations=tuple(divided), curves=())


def _clock(source: MeasuredSource, mhz: float | None) -> float:
    """Return the clock in MHz: the given one, else the highest of the CPUs, else the recorded one."""
    clock = mhz or recorded_clock(source.machine)
    if clock is None or not 0 < clock < MOST_CLOCK:
        fix = "give it for each source: --mhz 2000,2330"
        raise StudyError.one("--per clock", f"{source.label} does not record its clock", "one", fix)
    return float(clock)


def _cpus(source: MeasuredSource, configuration: SourceConfiguration) -> int:
    if not configuration.n_cpus:
        raise StudyError.one("--per cpu", f"{source.label} does not record its CPUs", "how many each run could use")
    return configuration.n_cpus


# Disturbed or invalid verdicts, and the share of such runs above which a study allows no verdict.
_DISTURBED, HALF = ("disturbed", "invalid"), 0.5
_BLOCK = re.compile(r"b(\d+)-")


def findings_source(
    findings: Findings, label: str, name: str | None = None, correct: bool | None = None
) -> MeasuredSource:
    """Return a source of the findings of one study.

    The response is the primary one if `name` is None, or with `correct` False the one that undisturbed time replaced.

    Raises StudyError: it has no such response, or one without a better direction, or it is a search without curves;
    ProtocolError: a point lacks a level of a factor.
    """
    asked = findings.study.question
    if not findings.curves and asked in QUESTIONS and (reason := why_no_curves(asked)):
        fix = "read both answers side by side: scalograph report RESULTS"
        raise StudyError.one(label, f'results of question "{asked}": {reason}', "results with curves", fix)
    if name is None and correct is False:
        name = _wall_response(findings)
    response = _response(findings, label, name)
    # A law is of the primary response.
    is_primary = name in (None, findings.study.primary)
    failed = tuple(_failed_configurations(findings, response.name))
    configurations = tuple(_configurations(findings, response.name))
    rows: list[SourceConfiguration | FailedConfiguration] = [*configurations, *failed]
    names = [factor.name for factor in findings.study.factors]
    facts = {"study or program": findings.study.hash[:12], "drawn anew": ", ".join(findings.study.varied) or "nothing"}
    if lost := next((name for row in rows for name in names if name not in row.levels), None):
        raise ProtocolError(label, f'a point of a curve without a level of "{lost}"', "one of each factor")
    return MeasuredSource(
        label=label, name=findings.study.name, title=findings.study.title,
        factors={factor.name: factor for factor in findings.study.factors},
        along=findings.curves[0].factor if findings.curves else "", response=response, configurations=configurations,
        failed=failed, machine=findings.machine, facts=facts, varied=tuple(findings.study.varied),
        refused=_refusal(findings, response.name), trust=findings.trust,
        curves=tuple(findings.curves) if is_primary else (),
        is_shared=findings.study.corrects not in ("", response.name),
        laws_left_out=not is_primary and any(curve.law is not None for curve in findings.curves),
    )  # fmt: skip


def _wall_response(findings: Findings) -> str | None:
    """Return the response that undisturbed time replaced, which follows it; None in a study without."""
    names = [response.name for response in findings.study.responses]
    return names[names.index(UNDISTURBED) + 1] if findings.study.primary == UNDISTURBED else None


def _response(findings: Findings, label: str, name: str | None) -> ResponseDoc:
    wanted = name or findings.study.primary or next((r.name for r in findings.study.responses), "")
    every = {response.name: response for response in findings.study.responses}
    directed = [response.name for response in every.values() if response.better != "none"]
    if wanted not in every:
        raise unknown_name_error("--response", f'{label} has no "{wanted}"', wanted, directed)
    if every[wanted].better == "none":
        raise unknown_name_error("--response", f'"{wanted}" is neither better higher nor lower', wanted, directed)
    return every[wanted]


def counts_disturbed(findings: Findings, name: str) -> bool:
    """Return whether the study goes by this CPU time, which interference leaves nearly unchanged."""
    return findings.trust.responses.get(name) == "reliable"


def _configurations(findings: Findings, name: str) -> Iterator[SourceConfiguration]:
    by_cpu = counts_disturbed(findings, name)
    for curve in findings.curves:
        for point in curve.points:
            if (response := point.responses.get(name)) and not _is_failed(point, name):
                row = _configuration(curve, point, response, by_cpu)
                yield from [row] if row.scores else []


def _failed_configurations(findings: Findings, name: str) -> Iterator[FailedConfiguration]:
    for curve in findings.curves:
        for point in curve.points:
            if _is_failed(point, name):
                levels = {**curve.group, curve.factor: point.level}
                yield FailedConfiguration(levels, (point.n_failed, _n_runs(point, name)))


def _is_failed(point: Point, name: str) -> bool:
    return mostly_failed(point.n_failed, _n_runs(point, name))


def _n_runs(point: Point, name: str) -> int:
    """Count the failed runs of a point and the successful ones, counted or not."""
    return point.n_failed + (len(point.responses[name].scores) if name in point.responses else 0)


def _configuration(curve: Curve, point: Point, response: PointResponse, by_cpu: bool) -> SourceConfiguration:
    lost = {*response.left_out}
    runs = response.runs + [""] * (len(response.scores) - len(response.runs))
    loops = [math.nan if log is None else log for log in response.loop_logs] or [math.nan] * len(runs)
    every = zip(response.scores, runs, loops, strict=False)
    kept = [(score, run, loop) for score, run, loop in every if run not in lost]
    # Runs of a search have no blocks.
    named = [_BLOCK.match(run) for _, run, _ in kept]
    blocks = [int(match[1]) if match else i for i, match in enumerate(named)]
    rests = response.falls_back or (not by_cpu and any(flag.code == "falls back" for flag in point.flags))
    return SourceConfiguration(
        levels={**curve.group, curve.factor: point.level}, scores=tuple(score for score, *_ in kept),
        blocks=tuple(blocks), estimate=response.estimate, n_cpus=point.n_cpus,
        doubt="includes disturbed runs" if rests else "", open_log=response.open_log,
        loop_logs=tuple(loop for *_, loop in kept) if response.loop_logs else (),
    )  # fmt: skip


def _refusal(findings: Findings, name: str) -> str:
    """Return why the study allows no verdict, whatever its values are; empty where it does."""
    if counts_disturbed(findings, name):
        return ""
    if "unusable" in (findings.trust.level, findings.trust.responses.get(name)):
        sentence = findings.trust.sentence.rstrip(".")
        return f"{sentence[:1].lower()}{sentence[1:]}"
    points = [point.responses[name] for curve in findings.curves for point in curve.points if name in point.responses]
    verdicts = [verdict for response in points for verdict in response.verdicts]
    # Where a value includes corrected runs, what others took is in it.
    n = sum(verdict in (*_DISTURBED, "corrected" * r.falls_back) for r in points for verdict in r.verdicts)
    return f"{n:,} of {count_noun(len(verdicts), 'run')} were disturbed" if n > HALF * len(verdicts) else ""
