"""The quick look before a study: the same work a few times again on one CPU, held against the noise that was kept."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from scalograph.design.grid import GridPlanner
from scalograph.findings.sample import COUNTED
from scalograph.findings.table import asked
from scalograph.machine.floor.changed import ALPHA
from scalograph.machine.floor.floor import STRETCH, STUDY
from scalograph.machine.floor.kept import KeptNoise
from scalograph.machine.floor.second_look import second_look
from scalograph.protocol.events import Record
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.noise_floor import Recheck
from scalograph.run.hosts.local import LocalHost
from scalograph.run.hosts.ready import build_program
from scalograph.run.interrupts import interruption
from scalograph.run.loop import Host
from scalograph.run.session import Plan, plan
from scalograph.study.declare import Declared, declare_shipped
from scalograph.study.responses import windows
from scalograph.verdict.judge import judge


def recheck(facts: HostFacts, probe: Sequence[str], kept: KeptNoise, alpha: float = ALPHA) -> Recheck | None:
    """Run the work of the noise floor ten times on one CPU (about 3 s) and hold it against what was kept.

    Args:
        facts: of this host.
        probe: program and arguments of the probe.
        kept: what `read_noise` found; its machine must be this one (`KeptNoise.is_of`).
        alpha: chance of a false "higher" or "lower", and of a false "slower" or "faster".

    Returns:
        None where `kept` holds nothing that could be held against: an earlier form, or too few runs.

    Raises:
        HostError: there is no compiler. Whoever calls it has the machine to itself.
        KeyboardInterrupt: a signal came meanwhile.
    """
    if kept.floor is None or kept.floor.one is None or kept.floor.one.reference is None:
        return None
    planned = plan(_shortened(declare_shipped(STUDY)), facts)
    host = LocalHost(planned.design, facts, build_program(planned.program, facts), probe)
    scores, n_disturbed = measured(planned, host)
    return second_look(kept.floor.one.reference, kept.at, scores, n_disturbed, alpha)


def _shortened(declared: Declared) -> Declared:
    """One label, one CPU, as many runs as a stretch of the floor has, none of them repeated."""
    study = declared.study
    factors = {name: study.factors[name].model_copy(update={"levels": levels}) for name, levels in _LEVELS.items()}
    protocol = study.protocol.model_copy(update={"runs": STRETCH, "max_reruns": 0})
    return Declared(study.model_copy(update={"factors": factors, "protocol": protocol}), declared.file)


_LEVELS: Mapping[str, list[Any]] = {"label": ["A"], "cpus": [1]}


def measured(planned: Plan, host: Host) -> tuple[list[float], int]:
    """Seconds of the runs that count, in order, and how many were disturbed or failed.

    Raises:
        KeyboardInterrupt: a run was interrupted.
    """
    planner, judging = GridPlanner(planned.design), partial(judge, asked=asked(planned.design.study))
    scores: list[float] = []
    n_disturbed = 0
    while run := planner.ask():
        record = host.measure(run)
        if record["run"]["status"] == "interrupted":
            raise interruption(host)
        verdict = judging(record).verdict
        planner.tell(run, record, verdict)
        if verdict in COUNTED:
            scores.append(median(window.wall_s for window in windows(Record.model_validate(record))))
        else:
            n_disturbed += 1
    return scores, n_disturbed
