"""The runs of a plan on a host: a run becomes a specification, what comes back the record of its configuration."""

import re
from collections.abc import Collection, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from scalograph.control.apply import find_wrong_masks, read_back
from scalograph.control.process_quotas import find_wrong_quotas
from scalograph.protocol.record import MachineSetting, Record, Values
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.run.captured import PrintedResponses, Score
from scalograph.run.hosts.base import Host, Specification
from scalograph.run.launches import launches
from scalograph.run.plan import Plan
from scalograph.study.levels import Run
from scalograph.study.model import Study
from scalograph.study.output_patterns import printed_name
from scalograph.text.units import unit_of
from scalograph.verdict.judge import judge, requirements

Part = TypeVar("Part", bound=Struct)

# Names of values that are times, rates or shares of time, as workloads call them.
_NAMES = re.compile(r"(.+_)?(s|ms|us|ns|hz|rate|percent|per_minute|rate_second)|ceiling|in_flight")
# Figures of time, beside those whose names end in _ns.
_FIGURES = ("wall_source", "cpu_source", "neighbors", "frequency_hz")


def drop_times(record: Record, study: Study) -> Record:
    """Return what is left of a record whose times are those of no machine: counts, sizes, and how the run ended.

    Args:
        record: of a run, which is returned as it is unless its guest was emulated.
        study: its responses say by their units which values are times or rates.
    """
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


class Runner:
    """Makes the runs of a plan, one after the other, whatever host that is."""

    def __init__(self, planned: Plan, host: Host, score: Score | None = None) -> None:
        """Take a plan, its host, and what reads the output of a harness where a response of the study has a reader."""
        self._planned, self._host = planned, host
        self._printed = PrintedResponses(planned.design.study, score)

    def measure(self, run: Run) -> Record:
        """Make one run and return its record, as journal.md says.

        Raises:
            HostError: a setting is refused, or no further run can be made.
        """
        spec = self.specification(run)
        with self._host.apply_settings(self._planned, run.configuration) as held:
            record = self._printed.read(self._host.measure(spec), spec.is_driver)
        record = record.with_figures(quota_cpus=spec.launches[0].quota_cpus)
        record = self._check_levels(
            spec, record.with_settings([MachineSetting(**vars(setting)) for setting in held or ()])
        )
        return drop_times(self._check_requirements(record), self._planned.design.study)

    def collect_service_ends(self, is_last: bool) -> Sequence[ServicesEnded]:
        """Tell how services ended that stayed up over runs, as `Host.collect_service_ends` does."""
        return self._host.collect_service_ends(is_last) if self._planned.design.study.workload.keep == "block" else ()

    def specification(self, run: Run) -> Specification:
        """Return what the host is asked for a run."""
        study, program = self._planned.design.study, self._planned.program
        return Specification(
            run=run,
            launches=launches(self._planned, run.configuration),
            events=program.events,
            capture=bool(self._printed.responses),
            timeout_s=study.protocol.timeout_s,
            in_callers_folder=study.workload.cwd == "caller",
            steps=program.steps,
            running=program.running,
            reset=study.reset,
            counted=study.is_counted,
            keeps_services=study.workload.keep == "block",
        )

    def _check_requirements(self, record: Record) -> Record:
        """What a guest did otherwise than asked is seen while its record has iterations."""
        if record.guest is None or record.run.status != "ok":
            return record
        judgment = judge(record, requirements(self._planned.design.study))
        return record.failed(judgment.causes[0].text) if judgment.verdict == "failed" else record

    def _check_levels(self, spec: Specification, record: Record) -> Record:
        """A run under levels that were not in force is no run of its configuration."""
        study, facts = self._planned.design.study, self._planned.facts
        wrong = read_back(study, spec.run.configuration, facts, spec.keep_controlled_copies(record))
        wrong += [*find_wrong_masks(spec.launches, record), *find_wrong_quotas(spec.launches, record)]
        return record.failed("; ".join(wrong)) if wrong and record.run.status == "ok" else record
