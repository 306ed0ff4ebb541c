"""`scalograph doctor`: check the machine, measure its noise floor (an A/A study), run the proofs."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, out, printable, say, tell
from scalograph.cli.options import Json
from scalograph.errors import Exit, HostError, StudyError

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from scalograph.machine.proofs.proof import Proof
    from scalograph.protocol.findings import Findings
    from scalograph.protocol.noise_floor import Floor
    from scalograph.run.session import Session


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
        raise StudyError.one("doctor", "--noise and --sanity", "one of them", "call it twice")
    if quick and not noise:
        raise StudyError.one("doctor", "--quick without --noise", "both", "add --noise")
    if noise:
        return measure_noise(json, quick)
    return prove_sanity(json) if sanity else _examine(json)


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

    grid = Table.grid(padding=(0, 2))
    for check in report.checks:  # type: ignore[attr-defined]
        details = printable("; ".join(part for part in (check.found, check.why, check.fix) if part))
        grid.add_row(Text(printable(check.name)), Text(check.status, style=_STYLES[check.status]), Text(details))
    out().print(grid)


# The kept effect is that of as many runs as most studies make.
_NOISE_RUNS = 10


def measure_noise(json: bool, quick: bool) -> int:
    """Run the study `noise-floor` (80 s, `quick` 30 s), print the floor and save it for later studies.

    Returns 5 where too few runs count: then nothing is saved.
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
        _print_noise(measured, conducted)
    return Exit.DONE if save_floor(measured, findings, conducted.results.folder) else Exit.NO_ANSWER


def save_floor(measured: "Floor", findings: "Findings", folder: Path) -> bool:
    """Save the floor where one CPU has one; return whether it was."""
    from scalograph.machine.floor.floor import STUDY, is_reliable
    from scalograph.machine.floor.saved_noise import SavedNoise, save_noise

    single = measured.single_cpu
    if single is None or single.spread is None or not is_reliable(single):
        say("not kept: stop what else runs here (scalograph doctor names the load), and measure again", "yellow")
        return False
    facts = {key: findings.machine.get(key) for key in ("cpu_model", "n_cpus", "kernel")}
    origin = {"study": STUDY, "at": findings.runs.ended or "", "results": str(folder.resolve()), "n": _NOISE_RUNS}
    sd, effect = single.spread.sd_log_percent, single.detectable_percent[_NOISE_RUNS]
    kept = SavedNoise(**origin, **facts, sd_log_percent=sd, minimum_detectable_percent=effect, floor=measured)
    try:
        save_noise(kept)
    except HostError as error:
        say(str(error), "yellow")  # it was measured all the same
    return True


def _print_noise(measured: "Floor", conducted: "Session") -> None:
    out().print(noise_grid(measured))
    for text in measured.warnings:
        say(f"warning: {text}", "yellow")
    for part in measured.parts:
        if part.worst:
            say(f"worst disturbance on {part.n_cpus} CPU{'s' * (part.n_cpus > 1)}: {part.worst}")
    tell(f"Results: {conducted.results.folder}")


def noise_grid(measured: "Floor") -> "Grid":
    """Return the floor as a table: a row for each value, a column for each number of CPUs."""
    from rich.table import Table
    from rich.text import Text

    from scalograph.machine.floor.floor import floor_rows

    shown = Table.grid(padding=(0, 2))
    for cells in floor_rows(measured):
        shown.add_row(*map(Text, cells))
    return shown


_PROOF_STYLES = {"proved": "green", "failed": "red", "not provable": "yellow"}


def prove_sanity(json: bool) -> int:
    """Run the proofs under the machine lock; return 3 where one failed. What is not provable here has not failed."""
    from scalograph.cli.pipeline import machine_lock
    from scalograph.machine.proofs.run_proofs import prove
    from scalograph.run.hosts.host_names import open_host

    with open_host() as host:
        if host.probe.warning:
            say(host.probe.warning, "yellow")
        with machine_lock():
            proofs = prove(host)
    if json:
        from dataclasses import asdict

        emit_json({"proofs": [asdict(proof) for proof in proofs], "sentence": summary_sentence(proofs)})
    else:
        _print_proofs(proofs)
    return Exit.HOST if any(proof.status == "failed" for proof in proofs) else Exit.DONE


def summary_sentence(proofs: "Sequence[Proof]") -> str:
    """Return one sentence about all proofs."""
    n = {status: sum(proof.status == status for proof in proofs) for status in _PROOF_STYLES}
    counts = f"{n['proved']} of {len(proofs)} proved, {n['failed']} failed, {n['not provable']} not provable here"
    if n["failed"]:
        return f"{counts}: do not rely on what the failed ones are about until they are put right."
    if n["not provable"]:
        return f"{counts}: nothing was found wrong; what could not be proved is only assumed."
    return f"{counts}: on this machine a run is what its record says."


def _print_proofs(proofs: "Sequence[Proof]") -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for proof in proofs:
        style = _PROOF_STYLES[proof.status]
        grid.add_row(Text(proof.name), Text(proof.status, style=style), Text(printable(proof_sentence(proof))))
    out().print(grid)
    tell()
    tell(summary_sentence(proofs))


def proof_sentence(proof: "Proof") -> str:
    """Return the outcome of a proof; for a failure also what was expected and the remedy."""
    if proof.status == "failed":
        return f"{proof.what}: not so. Found {proof.found}, expected {proof.expected or 'no refusal'}; {proof.fix}"
    return f"{proof.found}; what would help: {proof.fix}" if proof.fix else proof.found
