"""Make runs of a plan on a host: a run becomes a specification, and its answer the record of a configuration."""

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace as replace_launch
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from scalograph.control.apply import find_wrong_masks, read_back
from scalograph.control.process_cpus import find_wrong_quotas
from scalograph.protocol.record import CopyEvent, Record, Values
from scalograph.protocol.record_processes import MachineSetting, ServicesEnded
from scalograph.run.caller_environment import draw_variables
from scalograph.run.hosts.base import MAX_OUTPUT_BYTES, Echo, Host, Specification
from scalograph.run.launches import launches
from scalograph.run.plan import Plan
from scalograph.study.fields import engine, printed_name
from scalograph.study.levels import Run
from scalograph.study.model import Response, Study
from scalograph.text.units import format_duration, unit_of
from scalograph.text.warning_catalog import warning_text
from scalograph.verdict.judge import judge, requirements

# Returns the value of a harness from its output, its reader, the benchmark, and the unit; or raises ValueError.
Score = Callable[[str, str, str | None, str], float]
_SHOWN = 60
_LONGEST = 200  # of a pattern, as it was written


class NoValueError(ValueError):
    """The output does not hold the value; the message says what was found and expected."""


class PrintedResponses:
    """The printed responses of a study.

    The output itself is not kept: a journal of thousands of runs would be all output.
    """

    def __init__(self, study: Study, score: Score | None = None) -> None:
        """Prepare patterns. `score` reads the output of a harness, and must be given if a response has a reader."""
        self.responses = {name: r for name, r in study.responses.items() if r.is_printed}
        self._engines = {name: engine(r.pattern) for name, r in self.responses.items() if r.pattern is not None}
        if score is None and any(r.reader for r in self.responses.values()):
            raise ValueError("a response has a reader, and nothing to read it with was passed")
        self._score = score

    def read(self, record: Record, prints: Callable[[CopyEvent], bool] = lambda copy: True) -> Record:
        """Return the record with its values; it has failed if a copy that `prints` did not print one."""
        if not self.responses:  # what was only shown is not kept
            copies = [replace(copy, stdout=None, stdout_truncated=False) for copy in record.copies]
            return replace(record, copies=copies)
        values, wrong = list(record.values), list[str]()
        for copy in filter(prints, record.copies) if record.run.status == "ok" else ():
            try:
                if copy.stdout_truncated:
                    raise NoValueError(f"found more than {MAX_OUTPUT_BYTES >> 20} MiB of output, expected less")
                printed = {printed_name(name): [self._read_value(name, copy.stdout or "")] for name in self.responses}
                values.append(Values(copy_index=copy.copy_index, values=printed))
            except NoValueError as error:
                wrong.append(str(error))
        copies = [replace(copy, stdout=None) for copy in record.copies]
        read = replace(record, copies=copies, values=values)
        return read.mark_failed(wrong[0]) if wrong else read

    def _read_value(self, name: str, text: str) -> float:
        try:
            response = self.responses[name]
            if self._score is not None and response.reader:
                return _read_score(self._score, response, text)
            return read_value(response, self._engines.get(name), text)
        except NoValueError as error:
            raise NoValueError(f"response {name}: {error}") from None


def read_value(response: Response, compiled: "re.Pattern[str] | None", text: str) -> float:
    """Return the value of a response in an output. Raises NoValueError: none, more than one, or no number."""
    if compiled is not None:
        return _parse_number(_match_pattern(compiled, text, str(response.pattern)), "the figure")
    return _parse_number(_resolve_pointer(str(response.pointer), text), "a number")


def _read_score(score: Score, response: Response, text: str) -> float:
    try:
        return _parse_number(score(text, str(response.reader), response.benchmark, response.unit), "a figure")
    except ValueError as error:
        raise NoValueError(str(error)) from error


def _match_pattern(compiled: "re.Pattern[str]", text: str, pattern: str) -> Any:
    matches = [match.group(1) for match, _ in zip(compiled.finditer(text), range(2), strict=False)]
    if not matches:
        raise NoValueError(f"found no match in {_quote_end(text)}, expected one of '{pattern[:_LONGEST]}'")
    if len(matches) > 1:
        raise NoValueError(f"found two matches, {matches[0]!r:.40} and {matches[1]!r:.40}, expected one")
    return matches[0]


def _resolve_pointer(pointer: str, text: str) -> Any:
    try:
        node: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise NoValueError(f"found {_quote_end(text)}, expected one JSON document") from None
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            node = node[int(key)] if isinstance(node, list) and key.isdecimal() else node[key]
        except (KeyError, IndexError, TypeError):
            raise NoValueError(f'found nothing at "{pointer}" (no "{key[:_SHOWN]}"), expected a number') from None
    if isinstance(node, str):
        raise NoValueError(f"found text {node[:_SHOWN]!r}, expected a number")
    return node


def _parse_number(content: Any, expected: str) -> float:
    try:
        if isinstance(content, bool):
            raise ValueError
        value = float(content)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise NoValueError(f"found {str(content)[:_SHOWN]!r}, expected {expected} as a finite number")
    return value


def _quote_end(text: str) -> str:
    return ascii(text[-_SHOWN:]) if text else "no output"


Part = TypeVar("Part", bound=Struct)

# Names of values that are times, rates or shares of time, as workloads call them.
_NAMES = re.compile(r"(.+_)?(s|ms|us|ns|hz|rate|percent|per_minute|rate_second)|ceiling|in_flight")
# Fields of time, beside those whose names end in _ns.
_FIGURES = ("wall_source", "cpu_source", "neighbors", "others", "frequency_hz")


def drop_times(record: Record, study: Study) -> Record:
    """Return a record without its times if its guest was emulated: counts, sizes, and how the run ended."""
    if record.guest is None or record.guest.accelerator == "kvm":
        return record
    timed = {
        printed_name(name) if response.is_printed else response.source.removeprefix("value.")
        for name, response in study.responses.items()
        if unit_of(response.unit)
    }
    return replace(
        record,
        copies=[_drop_time_fields(copy) for copy in record.copies],
        processes=[_drop_time_fields(process) for process in record.processes],
        values=[_drop_time_values(part, timed) for part in record.values],
        run=_drop_time_fields(record.run),
        guest=replace(record.guest, has_times=False),
        iterations=[], phases=[], histograms=[], timeline=None,
    )  # fmt: skip


def _drop_time_fields(part: Part) -> Part:
    names = (name for name in part.__struct_fields__ if name.endswith("_ns") or name in _FIGURES)
    return replace(part, **dict.fromkeys(names))


def _drop_time_values(part: Values, timed: Collection[str]) -> Values:
    kept = {name: numbers for name, numbers in part.values.items() if name not in timed and not _NAMES.fullmatch(name)}
    return replace(part, values=kept)


# A program that takes so many times as long, and as much CPU time, does other work where its output is read.
OTHER_WORK, SHORT_S = 3.0, 2.0


class Runner:
    """Makes the runs of a plan on any host, one after the other.

    `most_limited`: of the runs that succeeded, one under the least quota, in CPUs, and its seconds; None without one.
    """

    most_limited: tuple[float, Run, float] | None = None

    def __init__(
        self, planned: Plan, host: Host, score: Score | None = None, echo: Echo | None = None,
        tries_pipe: bool = False,
    ) -> None:  # fmt: skip
        """`score` reads the output of a harness, if a response of the study has a reader; `echo` is as of a run.

        `tries_pipe`: one short run is made again with its output in a pipe, for `output_note`.
        """
        self._planned, self._host, self._echo = planned, host, echo
        self._tries_pipe, self._note = tries_pipe and planned.design.study.workload.stdout is None, ""
        self._printed = PrintedResponses(planned.design.study, score)

    def measure(self, run: Run) -> Record:
        """Make one run and return its record, as journal.md says.

        Raises HostError: a setting is refused, or no further run can be made.
        """
        spec = self.specification(run)
        with self._host.apply_settings(self._planned, run.configuration) as held:
            record = self._printed.read(self._host.measure(spec), spec.is_driver)
        record = record.replace_values(quota_cpus=spec.launches[0].quota_cpus)
        record = self._check_levels(
            spec, record.replace_settings([MachineSetting(**vars(setting)) for setting in held or ()])
        )
        self._try_pipe(spec, record)
        quota = next((x for each in spec.launches if (x := each.quota_cpus or each.own_quota_cpus)), None)
        if quota and record.run.status == "ok" and (self.most_limited is None or quota < self.most_limited[0]):
            self.most_limited = (quota, run, (record.run.wall_ns or 0) / 1e9)
        return drop_times(self._check_requirements(record), self._planned.design.study)

    def output_note(self) -> str:
        """Return, once, that a program does more work where its output is read; else empty."""
        note, self._note = self._note, ""
        return note

    def _try_pipe(self, spec: Specification, record: Record) -> None:
        """Make the first short run again with its output in a pipe: some programs stop early if nobody reads it."""
        wall_ns = record.run.wall_ns or 0
        is_alike = spec.capture or spec.echo or record.job  # a job step always writes to pipes of its launcher
        if not self._tries_pipe or record.run.status != "ok" or is_alike or not record.run.cpu_ns:
            return
        self._tries_pipe = False
        if 0 < wall_ns < SHORT_S * 1e9:
            piped = self._host.measure(replace_launch(spec, stdout="pipe"))
            pairs = [(piped.run.wall_ns, wall_ns), (piped.run.cpu_ns, record.run.cpu_ns)]
            if piped.run.status == "ok" and all(more and less and more > OTHER_WORK * less for more, less in pairs):
                times = [format_duration((run.wall_ns or 0) / 1e9) for run in (piped.run, record.run)]
                self._note = warning_text("output decides", piped=times[0], null=times[1])

    def collect_service_ends(self, is_last: bool) -> Sequence[ServicesEnded]:
        """Return how kept services ended, as `Host.collect_service_ends` does."""
        return self._host.collect_service_ends(is_last) if self._planned.design.study.workload.keep == "block" else ()

    def specification(self, run: Run) -> Specification:
        study, program = self._planned.design.study, self._planned.program
        drawn = draw_variables(study, run.block)
        started = [
            replace_launch(each, env={**each.env, **drawn}) for each in launches(self._planned, run.configuration)
        ]
        return Specification(
            run=run, launches=tuple(started), events=program.events,
            capture=bool(self._printed.responses), timeout_s=study.protocol.timeout_s,
            in_callers_folder=study.workload.cwd == "caller", steps=program.steps, running=program.running,
            reset=study.reset, counted=study.is_counted, keeps_services=study.workload.keep == "block",
            watches_speed=study.watches_speed, echo=self._echo, stdout=study.workload.stdout,
            given_folder=study.workload.given_folder,
        )  # fmt: skip

    def _check_requirements(self, record: Record) -> Record:
        """Fail a run of a guest that did otherwise than asked: seen while its record has iterations."""
        if record.guest is None or record.run.status != "ok":
            return record
        judgment = judge(record, requirements(self._planned.design.study))
        return record.mark_failed(judgment.causes[0].text) if judgment.verdict == "failed" else record

    def _check_levels(self, spec: Specification, record: Record) -> Record:
        """Fail a run whose levels were not in force: it is no run of its configuration."""
        study, facts = self._planned.design.study, self._planned.facts
        wrong = read_back(study, spec.run.configuration, facts, spec.keep_controlled_copies(record))
        wrong += [*find_wrong_masks(spec.launches, record), *find_wrong_quotas(spec.launches, record)]
        return record.mark_failed("; ".join(wrong)) if wrong and record.run.status == "ok" else record
