"""`scalograph doctor --noise`: measure the noise floor by an A/A study, print and save it."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.cli.console import emit_json, out, say, tell
from scalograph.errors import Exit, HostError

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from scalograph.protocol.findings import Findings
    from scalograph.protocol.noise_floor import Floor
    from scalograph.run.session import Session

# The kept effect is that of as many runs as most studies make.
_RUNS = 10


def noise(json: bool, quick: bool) -> int:
    """Run the study `noise-floor` (80 s, `quick` 30 s), print the floor and save it for later studies.

    Returns:
        The exit code: 5 where too few runs count, and then nothing is kept.

    Raises:
        HostError: another study holds the machine, or the host refuses.
    """
    from scalograph.cli.analyze_steps import analyze
    from scalograph.cli.pipeline import StudyStart, run_declared
    from scalograph.findings import table
    from scalograph.machine.floor.floor import STUDY, noise_floor
    from scalograph.study.declare import declare_shipped

    conducted = run_declared(declare_shipped(STUDY, quick), StudyStart())
    if conducted.reason == "interrupted":
        say("interrupted: nothing is kept", "yellow")
        return Exit.TERMINATED if conducted.signal == signal.SIGTERM else Exit.INTERRUPTED
    findings, _ = analyze(conducted.results.folder)
    measured = noise_floor(table.load(conducted.results.journal, keep_observations=False))
    if json:
        emit_json(measured.model_dump(mode="json"))
    else:
        _print(measured, conducted)
    return Exit.DONE if save_floor(measured, findings, conducted.results.folder) else Exit.SHORT_OF_RUNS


def save_floor(measured: "Floor", findings: "Findings", folder: Path) -> bool:
    """Save the floor where one CPU has one; return whether it was."""
    from scalograph.machine.floor.floor import STUDY, is_reliable
    from scalograph.machine.floor.saved_noise import SavedNoise, save_noise

    single = measured.one
    if single is None or single.spread is None or not is_reliable(single):
        say("not kept: stop what else runs here (scalograph doctor names the load), and measure again", "yellow")
        return False
    facts = {key: findings.machine.get(key) for key in ("cpu_model", "n_cpus", "kernel")}
    origin = {"study": STUDY, "at": findings.runs.ended or "", "results": str(folder.resolve()), "n": _RUNS}
    sd, effect = single.spread.sd_log_percent, single.detectable_percent[_RUNS]
    kept = SavedNoise(**origin, **facts, sd_log_percent=sd, minimum_detectable_percent=effect, floor=measured)
    try:
        save_noise(kept)
    except HostError as error:
        say(str(error), "yellow")  # it was measured all the same
    return True


def _print(measured: "Floor", conducted: "Session") -> None:
    out().print(grid(measured))
    for text in measured.warnings:
        say(f"warning: {text}", "yellow")
    for part in measured.parts:
        if part.worst:
            say(f"worst disturbance on {part.n_cpus} CPU{'s' * (part.n_cpus > 1)}: {part.worst}")
    tell(f"Results: {conducted.results.folder}")


def grid(measured: "Floor") -> "Grid":
    """Return the floor as a table: a row for each value, a column for each number of CPUs."""
    from rich.table import Table
    from rich.text import Text

    from scalograph.machine.floor.floor import floor_rows

    shown = Table.grid(padding=(0, 2))
    for cells in floor_rows(measured):
        shown.add_row(*map(Text, cells))
    return shown
