"""What `run` and `study` share: plan on this host, run with progress, tell what came of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scalograph.cli.console import say
from scalograph.cli.machine_lock import alone
from scalograph.cli.preflight import examined
from scalograph.cli.progress import LiveProgress
from scalograph.control.discover import discover
from scalograph.design.planner import Planner
from scalograph.protocol import results
from scalograph.questions.planners import outlook
from scalograph.run import session
from scalograph.run.hosts.local import LocalHost
from scalograph.run.hosts.probe import find_probe
from scalograph.run.hosts.ready import build_program
from scalograph.run.provenance import prepared
from scalograph.run.quiet_gate import QuietGate
from scalograph.run.session import Conducted, Plan
from scalograph.study.declare import Declared
from scalograph.text.units import format_duration


def run_declared(
    declared: Declared,
    folder: Path | None,
    resume: bool,
    accepted: list[str] | None,
    ceiling: bool = False,
    noise: bool = True,
) -> Conducted:
    """Stops 2 and 3, alone on this machine: two studies at once would measure each other.

    Args:
        declared: what to run.
        folder: of the results; None makes one, or finds the latest.
        resume: go on with these results.
        accepted: differences that are accepted then.
        ceiling: learn first what the machine itself scales to, unless that is known.
        noise: look first whether the machine's noise is as it was kept, if it was.

    Raises:
        HostError: another study holds the machine, or the host refuses something that the study needs.
    """
    with alone():
        return _alone(declared, folder, resume, accepted, ceiling, noise)


def _alone(
    declared: Declared, folder: Path | None, resume: bool, accepted: list[str] | None, ceiling: bool, noise: bool
) -> Conducted:
    planned = session.plan(declared, discover())
    probe = find_probe()
    if probe.warning:
        say(probe.warning, "yellow")
    ready = build_program(planned.program, planned.facts, planned.design.treatments, say)
    planned = replace(planned, program=ready)
    host = LocalHost(planned.design, planned.facts, ready, probe.argv)
    host.check()
    # The folder is made when nothing is left that could refuse: a failed start leaves no empty results.
    earlier = results.latest(declared.study.name, folder) if resume else None
    learned = examined(planned, probe.argv, ceiling, noise)
    made = earlier or session.begin(planned, folder)
    if made.warning:
        say(made.warning, "yellow")
    _announce(planned, made.folder)
    made_by = Path(probe.argv[0]).name if len(probe.argv) == 1 else "degraded"
    gate = QuietGate(planned.design.study.protocol.wait_quiet_s, say)
    accepted = (accepted or []) if resume else None
    done = session.conduct(planned, made, host, made_by, _progress(planned), accepted, gate, learned)
    return replace(done, signal=host.signal or done.signal)


def _announce(planned: Plan, folder: Path) -> None:
    design = planned.design
    budget = design.study.protocol.budget_s
    within = f", within {format_duration(budget)}" if budget is not None else ""
    say(f"{design.study.name}: {outlook(design)}{within}")
    for text in design.dropped:
        say(f"  {text}")
    for name, text in prepared(design, planned.program).items():
        say(f"  {name}: {text}")
    say(f"  results: {folder}")


def _progress(planned: Plan) -> Callable[[int, Planner], LiveProgress]:
    budget_s = planned.design.study.protocol.budget_s
    return lambda n_done, planner: LiveProgress(planned.design, n_done, budget_s, planner)
