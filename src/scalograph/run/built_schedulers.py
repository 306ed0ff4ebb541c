"""Schedulers of sched_ext that ship, built where a level of a study names one."""

from dataclasses import replace

from scalograph.control.consent import machine_controls
from scalograph.control.ext_scheduler import SHIPS, SchedulerControl
from scalograph.run.build import build
from scalograph.run.plan import Plan
from scalograph.study.shipped import shipped
from scalograph.study.workload import load


def with_schedulers(planned: Plan) -> Plan:
    """Return a plan whose facts tell where each program of sched_ext is that a level names.

    Raises:
        HostError: no compiler, sources that do not compile, or the cache cannot be written.
    """
    study, known = planned.design.study, planned.facts.schedulers or {}
    schedulers = [name for name, one in machine_controls(study).items() if isinstance(one, SchedulerControl)]
    named = {str(level) for factor in schedulers for level in study.factors[factor].levels}
    made = {name: _built(name) for name in known if name in named and known[name] == SHIPS}
    if not made:
        return planned
    return replace(planned, facts=planned.facts.model_copy(update={"schedulers": {**known, **made}}))


def _built(name: str) -> str:
    home = shipped(name.replace("_", "-"))
    folder = build(home, load(home))
    assert folder is not None
    return str(folder / "main")
