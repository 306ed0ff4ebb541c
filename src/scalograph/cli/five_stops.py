"""What `run` and `study` share: plan on this host, run with progress, tell what came of it."""

from collections.abc import Callable
from pathlib import Path

from scalograph.cli.console import say
from scalograph.cli.machine_lock import alone
from scalograph.cli.preflight import examined
from scalograph.cli.progress import LiveProgress
from scalograph.design.planner import Planner
from scalograph.protocol import results
from scalograph.run.begin import begin
from scalograph.run.hosts.base import Host
from scalograph.run.hosts.host_names import LOCAL, connected
from scalograph.run.plan import Plan, plan
from scalograph.run.provenance import prepared
from scalograph.run.quiet_gate import QuietGate
from scalograph.run.runner import Runner
from scalograph.run.session import Session, run_session
from scalograph.study.declare import Declared
from scalograph.text.units import format_duration


def run_declared(
    declared: Declared,
    folder: Path | None,
    resume: bool,
    accepted: list[str] | None,
    ceiling: bool = False,
    noise: bool = True,
    host: str = LOCAL,
) -> Session:
    """Stops 2 and 3, alone on this machine: two studies at once would measure each other.

    Args:
        declared: what to run.
        folder: of the results; None makes one, or finds the latest.
        resume: go on with these results.
        accepted: differences that are accepted then.
        ceiling: learn first what the machine itself scales to, unless that is known.
        noise: look first whether the machine's noise is as it was kept, if it was.
        host: name of the host that runs it.

    Raises:
        HostError: another study holds the machine, or the host refuses something that the study needs.
    """
    with alone(), connected(host) as machine:
        return _alone(declared, folder, resume, accepted, ceiling, noise, machine)


def _alone(
    declared: Declared,
    folder: Path | None,
    resume: bool,
    accepted: list[str] | None,
    ceiling: bool,
    noise: bool,
    host: Host,
) -> Session:
    planned = plan(declared, host.facts())
    if host.probe.warning:
        say(host.probe.warning, "yellow")
    planned = host.ready(planned, say)
    # The folder is made when nothing is left that could refuse: a failed start leaves no empty results.
    earlier = results.latest(declared.study.name, folder) if resume else None
    learned = examined(planned, host, ceiling, noise)
    made = earlier or begin(planned, folder)
    if made.warning:
        say(made.warning, "yellow")
    _announce(planned, made.folder)
    gate = QuietGate(planned.design.study.protocol.wait_quiet_s, say, host.look)
    accepted = (accepted or []) if resume else None
    runner, name = Runner(planned, host), host.probe.name
    return run_session(planned, made, runner, name, _progress(planned), accepted, gate, learned)


def _announce(planned: Plan, folder: Path) -> None:
    design = planned.design
    budget = design.study.protocol.budget_s
    within = f", within {format_duration(budget)}" if budget is not None else ""
    say(f"{design.study.name}: {planned.runs.outlook()}{within}")
    for text in design.dropped:
        say(f"  {text}")
    for name, text in prepared(design, planned.program).items():
        say(f"  {name}: {text}")
    say(f"  results: {folder}")


def _progress(planned: Plan) -> Callable[[int, Planner], LiveProgress]:
    budget_s = planned.design.study.protocol.budget_s
    return lambda n_done, planner: LiveProgress(planned.design, n_done, budget_s, planner)
