"""`scalograph study`."""

from typing import Annotated

import typer

from scalograph.cli.console import emit_json, tell
from scalograph.cli.options import (
    Accept,
    Budget,
    Ceiling,
    Json,
    MaxRuns,
    OutDir,
    Pilot,
    Quick,
    Resume,
    WaitQuiet,
    WhenBusy,
)


def command(
    name: Annotated[str | None, typer.Argument(help="A study that ships.")] = None,
    quick: Quick = False,
    list_: Annotated[bool, typer.Option("--list", help="The studies that ship, and stop.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the study's declaration, and stop.")] = False,
    output: OutDir = None,
    resume: Resume = False,
    accept_difference: Accept = None,
    budget: Budget = None,
    max_runs: MaxRuns = None,
    wait_quiet: WaitQuiet = None,
    when_busy: WhenBusy = None,
    pilot: Pilot = False,
    ceiling: Ceiling = False,
    json: Json = False,
) -> int:
    """A study that ships, all five stops: declare, plan, run, analyze, report.

    \b
    scalograph study --list
    scalograph study thread-scaling --quick
    scalograph study thread-scaling --pilot                    how many runs and iterations does it need?
    scalograph study thread-scaling --show > my-study.toml     a start for your own
    """
    from scalograph.errors import StudyError
    from scalograph.study.declare import declare_shipped

    if list_:
        return _list(json)
    if name is None:
        raise StudyError.one("study", "no name", "a study that ships", "list them with: scalograph study --list")
    declared = declare_shipped(name, quick)
    if show:
        tell(declared.file.read_text(encoding="utf-8").rstrip())
        return 0
    from scalograph.cli.five_stops import run_declared
    from scalograph.cli.outcome import conclude
    from scalograph.cli.overrides import (
        given,
        note_quick,
        overridden,
        refuse_unused,
    )

    note_quick(declared, quick)
    declared = overridden(declared, budget, max_runs, wait_quiet, when_busy)
    refuse_unused(pilot, resume, accept_difference, max_runs, ceiling)
    if pilot:
        from scalograph.cli.pilot_output import run_pilot

        return run_pilot(declared, output, resume, json)
    conducted = run_declared(declared, output, resume, accept_difference, ceiling)
    options = [*["--quick"] * quick, *given(budget, max_runs, wait_quiet, when_busy)]
    return conclude(conducted, json, report=True, command=["scalograph", "study", name, *options])


def _list(json: bool) -> int:
    from scalograph.study.declare import declare_shipped
    from scalograph.study.shipped import shipped_studies

    titles = {name: declare_shipped(name).study.title for name in shipped_studies()}
    if json:
        emit_json(titles)
        return 0
    width = max(map(len, titles), default=0)
    for name, title in titles.items():
        tell(f"{name:<{width}}  {title}")
    return 0
