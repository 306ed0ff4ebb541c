"""The saved ceiling of this machine, measured anew for another machine, probe or workload."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict, Field

from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.machine_ceiling import Ceiling, Timed
from scalograph.protocol.noise_floor import noise_file, read_saved, write_saved
from scalograph.run.hosts.base import Host
from scalograph.run.loop import Progress
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.run.session import FinishedRun, run_in_memory
from scalograph.study.declare import declare_shipped
from scalograph.study.program import program
from scalograph.study.responses import windows
from scalograph.verdict.cause import COUNTED
from scalograph.verdict.undisturbed import corrected_times

STUDY = "ceiling"
# Five pairs give an interval of four degrees of freedom: 20 s on two CPUs.
RUNS = 5


def measure_ceiling(
    host: Host, levels: Sequence[int] | None = None, runs: int = RUNS, progress: Progress | None = None
) -> Ceiling:
    """Run what uses one resource of the machine each, on more and more CPUs (20 s on two CPUs).

    `levels` are numbers of CPUs; None: 1, 2, 4, 8 and so on, and all. `runs` are of each kind on each number of CPUs.
    Whoever calls it has the machine to itself. Raises StudyError: a level is beyond the host; HostError: there is no
    compiler; KeyboardInterrupt: a signal came meanwhile.
    """
    planned = host.ready(plan_ceiling(host.facts(), levels, runs), lambda text: None)
    return build_ceiling(run_in_memory(planned, Runner(planned, host), progress))


def plan_ceiling(facts: HostFacts, levels: Sequence[int] | None = None, runs: int = RUNS) -> Plan:
    """Plan the shipped study on these numbers of CPUs, and always on one, which speedup is taken over.

    Raises StudyError if a level is beyond the host.
    """
    declared = declare_shipped(STUDY)
    study = declared.study
    protocol = study.protocol.model_copy(update={"runs": runs})
    factors = dict(study.factors)
    if levels is not None:
        factors["cpus"] = factors["cpus"].model_copy(update={"levels": sorted({1, *levels})})
    changed = study.model_copy(update={"factors": factors, "protocol": protocol})
    return plan(replace(declared, study=changed), facts)


# Block, seconds (None where it failed), and whether it counts.
Outcome = tuple[int, float | None, bool]


def build_ceiling(runs: Sequence[FinishedRun]) -> Ceiling:
    """Build the ceiling from the runs of such a plan."""
    outcomes: dict[tuple[str, int], list[Outcome]] = {}
    for run, record, verdict in runs:
        walls = windows(record).wall_s if verdict != "failed" else ()
        walls = (corrected_times(record, "window.wall", 0) or walls) if verdict in COUNTED else walls
        group = outcomes.setdefault((str(run.configuration["kind"]), int(run.configuration["cpus"])), [])
        group.append((run.block, median(walls) if walls else None, verdict in COUNTED))
    kinds: dict[str, tuple[Timed, ...]] = {}
    for kind, n_cpus in sorted(outcomes):
        kinds[kind] = (*kinds.get(kind, ()), _combine_runs(n_cpus, outcomes[kind, n_cpus]))
    return Ceiling(at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), kinds=kinds)


def _combine_runs(n_cpus: int, runs: Sequence[Outcome]) -> Timed:
    """Combine runs; disturbed ones are excluded where two others are left, as in every study (answer.sample)."""
    done = [(block, seconds, counts) for block, seconds, counts in runs if seconds is not None]
    clean = [each for each in done if each[2]]
    taken = clean if len(clean) >= 2 else done
    return Timed(
        n_cpus=n_cpus, scores=tuple(seconds for _, seconds, _ in taken), blocks=tuple(block for block, _, _ in taken),
        n_disturbed=len(done) - len(clean), n_failed=len(runs) - len(done), falls_back=len(taken) > len(clean),
    )  # fmt: skip


_MAX_BYTES = 1 << 20


class SavedCeiling(BaseModel):
    """A ceiling, and of what: a home folder may be shared by many machines."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str = Field(max_length=64, description="of machine, kernel, probe and workload")
    ceiling: Ceiling


def machine_ceiling(host: Host, *, fresh: bool = False, environ: Mapping[str, str] = os.environ) -> Ceiling:
    """Return the saved ceiling of this machine, kernel, probe and workload; measure it without one, or if `fresh`.

    A warning says where it is not saved: disturbed, or the folder cannot be written. Whoever calls it has the machine
    to itself. Raises HostError: there is no compiler; KeyboardInterrupt: a signal came meanwhile.
    """
    wanted = ceiling_key(host.facts(), host.probe.argv)
    kept = None if fresh else read_ceiling(environ)
    if kept is not None and kept.key == wanted:
        return kept.ceiling
    ceiling, warning = measure_ceiling(host), ""
    if ceiling.is_sound:
        try:
            write_saved(ceiling_file(environ), SavedCeiling(key=wanted, ceiling=ceiling))
        except HostError as error:
            warning = str(error)
    else:
        warning = "the ceiling is not saved: too few of its runs were undisturbed; stop other programs"
    return ceiling.model_copy(update={"warnings": (*ceiling.warnings, *filter(None, [warning]))})


def ceiling_key(facts: HostFacts, probe: Sequence[str]) -> str:
    """Hash what a ceiling is of. The kernel makes processes and gives pages, so another one is another machine."""
    here = [facts.cpu_model, facts.kernel, [cpu.model_dump() for cpu in facts.cpus], list(probe[1:])]
    digest = hashlib.sha256(repr(here).encode())
    try:
        with Path(probe[0]).open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    except OSError:
        digest.update(str(Path(probe[0])).encode())  # found on PATH: its name has to do
    declared = declare_shipped(STUDY)
    digest.update(program(declared.study.workload, declared.folder).sources)
    return digest.hexdigest()


def ceiling_file(environ: Mapping[str, str] = os.environ) -> Path:
    return noise_file(environ).with_name("ceiling.json")


def read_ceiling(environ: Mapping[str, str] = os.environ) -> SavedCeiling | None:
    """Read the saved ceiling; None where there is none, or none that can be read."""
    return read_saved(ceiling_file(environ), SavedCeiling, _MAX_BYTES)
