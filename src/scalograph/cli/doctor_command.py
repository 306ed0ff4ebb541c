"""`scalograph doctor`."""

from pathlib import Path

from scalograph.cli.console import emit_json, out, tell
from scalograph.cli.options import Json

_STYLES = {"granted": "green", "refused": "yellow", "warning": "yellow", "info": ""}


def command(json: Json = False) -> None:
    """What this machine grants and refuses, what it is, and what to do about it. Takes about 5 s, changes nothing.

    \b
    scalograph doctor
    scalograph doctor --json | jq '.checks[] | select(.status == "refused")'
    """
    from dataclasses import asdict

    from scalograph.doctor import examine
    from scalograph.hosts.probe import capabilities, find_probe

    probe = find_probe()
    report = examine(Path("/"), capabilities(probe.argv))
    if json:
        emit_json(asdict(report))
        return
    if probe.warning:
        tell(probe.warning, "yellow")
    _print(report)


def _print(report: object) -> None:
    from rich.table import Table
    from rich.text import Text

    from scalograph.cli.console import printable

    grid = Table.grid(padding=(0, 2))
    for check in report.checks:  # type: ignore[attr-defined]
        said = printable("; ".join(part for part in (check.found, check.why, check.fix) if part))
        grid.add_row(Text(printable(check.name)), Text(check.status, style=_STYLES[check.status]), Text(said))
    out().print(grid)
