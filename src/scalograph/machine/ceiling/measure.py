"""The ceiling of this machine, measured by the path of every study: plan, randomised blocks, probe, verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from scalograph.protocol.facts import HostFacts
from scalograph.protocol.machine_ceiling import Ceiling, Timed
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host
from scalograph.run.loop import Progress
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.run.session import Finished, run_unkept
from scalograph.study.declare import declare_shipped
from scalograph.study.responses import windows
from scalograph.verdict.cause import COUNTED

STUDY = "ceiling"
# Five pairs give an interval of four degrees of freedom: 20 s on two CPUs.
RUNS = 5


def ceiling(
    host: Host, levels: Sequence[int] | None = None, runs: int = RUNS, progress: Progress | None = None
) -> Ceiling:
    """Run what uses one resource of the machine each, on more and more CPUs (20 s on two CPUs).

    Args:
        host: to measure.
        levels: numbers of CPUs; None: 1, 2, 4, 8 and so on, and all.
        runs: of each kind on each number of CPUs.
        progress: who is told how far it is.

    Raises:
        StudyError: a level is beyond the host.
        HostError: there is no compiler. Whoever calls it has the machine to itself.
        KeyboardInterrupt: a signal came meanwhile.
    """
    planned = host.ready(planned_ceiling(host.facts(), levels, runs), lambda text: None)
    return measured(run_unkept(planned, Runner(planned, host), progress))


def planned_ceiling(facts: HostFacts, levels: Sequence[int] | None = None, runs: int = RUNS) -> Plan:
    """The study that ships, with these numbers of CPUs; one CPU, which speedup is taken over, is always among them.

    Raises:
        StudyError: a level is beyond the host.
    """
    declared = declare_shipped(STUDY)
    study = declared.study
    protocol = study.protocol.model_copy(update={"runs": runs})
    factors = dict(study.factors)
    if levels is not None:
        factors["cpus"] = factors["cpus"].model_copy(update={"levels": sorted({1, *levels})})
    changed = study.model_copy(update={"factors": factors, "protocol": protocol})
    return plan(replace(declared, study=changed), facts)


class _Run(NamedTuple):
    """What came of a run; `seconds` None where it failed."""

    kind: str
    n_cpus: int
    block: int
    seconds: float | None
    counts: bool


def measured(runs: Sequence[Finished]) -> Ceiling:
    """Return the ceiling that the runs of such a plan show."""
    found = [
        _Run(str(run.treatment["kind"]), int(run.treatment["cpus"]), run.block, _seconds(record, verdict),
             verdict in COUNTED)
        for run, record, verdict in runs
    ]  # fmt: skip
    return Ceiling(at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), kinds=_kinds(found))


def _seconds(record: Record, verdict: str) -> float | None:
    walls = windows(record).wall_s if verdict != "failed" else ()
    return median(walls) if walls else None


def _kinds(found: Sequence[_Run]) -> dict[str, tuple[Timed, ...]]:
    keys = sorted({(run.kind, run.n_cpus) for run in found})
    names = dict.fromkeys(run.kind for run in found)
    timed = {key: _timed(key[1], [run for run in found if (run.kind, run.n_cpus) == key]) for key in keys}
    return {name: tuple(part for (kind, _), part in timed.items() if kind == name) for name in sorted(names)}


def _timed(n_cpus: int, runs: Sequence[_Run]) -> Timed:
    """Disturbed runs are left out where two others are left, as in every study (answer.sample)."""
    done = [(run.block, run.seconds, run.counts) for run in runs if run.seconds is not None]
    clean = [each for each in done if each[2]]
    taken = clean if len(clean) >= 2 else done
    return Timed(
        n_cpus=n_cpus, scores=tuple(seconds for _, seconds, _ in taken), blocks=tuple(block for block, _, _ in taken),
        n_disturbed=len(done) - len(clean), n_failed=len(runs) - len(done), falls_back=len(taken) > len(clean),
    )  # fmt: skip
