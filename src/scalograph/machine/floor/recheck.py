"""The quick look before a study: the same work a few times again on one CPU, held against the noise that was kept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from scalograph.machine.floor.changed import ALPHA
from scalograph.machine.floor.floor import STRETCH, STUDY
from scalograph.machine.floor.kept_floor import KeptNoise
from scalograph.machine.floor.second_look import second_look
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.noise_floor import Recheck
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.run.session import Finished, run_unkept
from scalograph.study.declare import declare_shipped
from scalograph.study.responses import windows
from scalograph.verdict.cause import COUNTED

_LEVELS: Mapping[str, list[Any]] = {"label": ["A"], "cpus": [1]}


def recheck(host: Host, kept: KeptNoise, alpha: float = ALPHA) -> Recheck | None:
    """Run the work of the noise floor ten times on one CPU (about 3 s) and hold it against what was kept.

    Args:
        host: to look at.
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
    planned = host.ready(shortened(host.facts()), lambda text: None)
    scores, n_disturbed = scored(run_unkept(planned, Runner(planned, host)))
    return second_look(kept.floor.one.reference, kept.at, scores, n_disturbed, alpha)


def shortened(facts: HostFacts) -> Plan:
    """Plan the study of the floor with one label, one CPU, as many runs as a stretch has, none of them repeated."""
    declared = declare_shipped(STUDY)
    study = declared.study
    factors = {name: study.factors[name].model_copy(update={"levels": levels}) for name, levels in _LEVELS.items()}
    protocol = study.protocol.model_copy(update={"runs": STRETCH, "max_reruns": 0})
    changed = study.model_copy(update={"factors": factors, "protocol": protocol})
    return plan(replace(declared, study=changed), facts)


def scored(runs: Sequence[Finished]) -> tuple[list[float], int]:
    """Return seconds of the runs that count, in order, and how many were disturbed or failed."""
    scores = [median(windows(run.record).wall_s) for run in runs if run.verdict in COUNTED]
    return scores, len(runs) - len(scores)
