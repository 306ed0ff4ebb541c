"""`scalograph doctor`."""

import os
from typing import Annotated

import typer

from scalograph.cli.console import emit_json, out, tell
from scalograph.cli.options import Json

_STYLES = {"granted": "green", "refused": "yellow", "warning": "yellow", "info": ""}


def command(
    noise: Annotated[bool, typer.Option("--noise", help="Measure the noise floor, about 80 s, and keep it.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --noise: fewer runs, about 30 s.")] = False,
    sanity: Annotated[bool, typer.Option("--sanity", help="Prove by fake workloads that measuring works.")] = False,
    json: Json = False,
) -> int:
    """What this machine grants and refuses, what it is, and what to do about it. Takes about 8 s, changes nothing.

    \b
    scalograph doctor
    scalograph doctor --sanity           do pinning, the gate, accounting, containment work here? exit 3 if one does not
    scalograph doctor --noise --quick    how much do runs of the same work differ, and which effects can be seen?
    scalograph doctor --json | jq '.checks[] | select(.status == "refused")'
    """
    if noise and sanity:
        from scalograph.errors import StudyError

        raise StudyError.one("doctor", "--noise and --sanity", "one of them", "call it twice")
    if quick and not noise:
        from scalograph.errors import StudyError

        raise StudyError.one("doctor", "--quick without --noise", "both", "add --noise")
    if noise:
        from scalograph.cli.noise_output import noise as measure

        return measure(json, quick)
    if sanity:
        from scalograph.cli.sanity_output import sanity as prove

        return prove(json)
    return _examine(json)


def _examine(json: bool) -> int:
    from dataclasses import asdict

    from scalograph.machine.cpu_speed import time_slices
    from scalograph.machine.doctor import examine
    from scalograph.run.hosts.host_names import open_host
    from scalograph.run.hosts.local.probe import read_capabilities

    with open_host() as host:
        probe, slices = host.probe, time_slices(os.sched_getaffinity(0))
        report = examine(host.facts(), read_capabilities(probe.argv), slices=slices)
    if json:
        emit_json(asdict(report))
        return 0
    if probe.warning:
        tell(probe.warning, "yellow")
    _print(report)
    return 0


def _print(report: object) -> None:
    from rich.table import Table
    from rich.text import Text

    from scalograph.cli.console import printable

    grid = Table.grid(padding=(0, 2))
    for check in report.checks:  # type: ignore[attr-defined]
        details = printable("; ".join(part for part in (check.found, check.why, check.fix) if part))
        grid.add_row(Text(printable(check.name)), Text(check.status, style=_STYLES[check.status]), Text(details))
    out().print(grid)
