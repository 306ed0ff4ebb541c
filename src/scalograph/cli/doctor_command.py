"""`scalograph doctor`: check the machine, measure its noise floor (an A/A study), run the proofs."""

import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, out, printable, say, tell
from scalograph.cli.options import TIME_LIMIT, HostName, Json, WaitLock
from scalograph.errors import Exit, HostError, StudyError
from scalograph.run.hosts.host_names import LOCAL

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from scalograph.machine.doctor_summary import Summary
    from scalograph.machine.examine import Report
    from scalograph.machine.proofs.proof import Proof
    from scalograph.protocol.findings import Findings
    from scalograph.protocol.noise_floor import Floor
    from scalograph.run.session import Session


_STYLES = {
    "granted": "green", "refused": "yellow", "warning": "yellow", "proved": "green", "failed": "red",
    "not provable": "yellow",
}  # fmt: skip
# A terminal may be narrower; a command is never broken.
_FIRST_WIDTH = 76


def command(
    all_checks: Annotated[bool, typer.Option("--all", help="Print every check")] = False,
    noise: Annotated[bool, typer.Option("--noise", help="Measure the noise floor and save it (80 s)")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --noise: fewer runs (30 s)")] = False,
    budget: Annotated[str | None, typer.Option("--budget", metavar="TIME", help=f"With --noise: {TIME_LIMIT}")] = None,
    sanity: Annotated[bool, typer.Option("--sanity", help="Prove with test programs that measuring works")] = False,
    cpus: Annotated[
        bool, typer.Option("--cpus", help="Measure each CPU alone and in pairs: which are unlike?")
    ] = False,
    host: HostName = LOCAL,
    wait_lock: WaitLock = None,
    json: Json = False,
) -> int:
    """Check what this machine can measure, with the three most useful fixes. Takes 5 s and changes nothing.

    \b
    scalograph doctor                    can this machine measure, and what should I fix first?
    scalograph doctor --all              every check, with reasons and fixes
    scalograph doctor --noise --quick    how much do runs of the same work differ, and which effects can be detected?
    scalograph doctor --sanity           do pinning, the gate, accounting, containment work here? exit 3 if one does not
    scalograph doctor --cpus             which CPUs are slower, and which share a core, as measured
    scalograph doctor --json | jq '.checks[] | select(.status == "refused")'
    """
    from scalograph.cli.overrides import seconds_of

    given = {"--all": all_checks, "--noise": noise, "--sanity": sanity, "--cpus": cpus}
    modes = [name for name, is_on in given.items() if is_on]
    if len(modes) > 1:
        raise StudyError.one("", f"{modes[0]} and {modes[1]} exclude each other", "", "run two commands")
    for name, is_given in {"--quick": quick, "--budget": budget is not None}.items():
        if is_given and not noise:
            raise StudyError.one("", f"{name} shortens --noise only", "", "add --noise")
    if host != LOCAL:
        return _examine_elsewhere(host, modes, json, seconds_of("--wait-lock", wait_lock))
    if noise:
        return measure_noise(json, quick, budget)
    if cpus:
        return measure_cpus(json, seconds_of("--wait-lock", wait_lock))
    return prove_sanity(json) if sanity else _examine(all_checks, json)


def _examine(all_checks: bool, json: bool) -> int:
    from dataclasses import asdict

    from scalograph.cli.user_defaults import defaults_file, read_defaults
    from scalograph.machine.doctor import examine
    from scalograph.machine.doctor_summary import summarize
    from scalograph.machine.examine import time_slices
    from scalograph.run.hosts.host_names import open_host
    from scalograph.run.hosts.local.probe import read_capabilities
    from scalograph.system.runtimes import ask_installed

    with open_host() as host:
        probe, slices, facts = host.probe, time_slices(os.sched_getaffinity(0)), host.facts()
        capabilities = read_capabilities(probe.argv)
        believed = {} if facts.cpu_quota is None else ask_installed()
        report = examine(
            facts, capabilities, slices=slices, has_probe=probe.warning is None, believed=believed
        )  # fmt: skip
    summary = summarize(report, facts)
    file, defaults = defaults_file(), read_defaults()
    if json:
        emit_json({**asdict(report), **asdict(summary), "defaults": {"file": str(file), "values": defaults}})
    elif all_checks:
        _print_checks(report)
    else:
        print_summary(summary, len(report.checks))
    if os.access(file, os.R_OK) and not json:
        tell(f"Your defaults ({file}): {', '.join(f'{key} {value}' for key, value in defaults.items()) or 'none'}")
    return 0


def _examine_elsewhere(name: str, modes: Sequence[str], json: bool, wait_s: float | None) -> int:
    """Print what another host is and which controls it refuses, as a study there would find it."""
    from scalograph.run.hosts.host_names import open_host

    if modes:
        raise StudyError.one("", f"{modes[0]} and --host exclude each other", "", "start scalograph on that machine")
    with open_host(name, wait_s) as host:
        facts = host.facts()
    if json:
        emit_json({"machine": facts.machine(), "refused": facts.refused})
        return Exit.DONE
    jvms = ", ".join(jvm.build for jvm in facts.jvms)
    texts = {"CPUs": f"{facts.n_cpus}, {facts.cpu_model}", "kernel": facts.kernel, "JVMs": jvms or "none"}
    rows = [[part, "info", text or "not visible"] for part, text in texts.items()]
    out().print(_grid([*rows, *([f"control: {part}", "refused", reason] for part, reason in facts.refused.items())]))
    return Exit.DONE


def print_summary(summary: "Summary", n_checks: int) -> None:
    """Print the five lines, the remedies with their commands, and where the rest is."""
    for line in summary.summary:
        tell(f"{line.name:<12}  {line.state:<8}  {line.text}", "" if line.is_good else "yellow")
    tell()
    tell("Do first:" if summary.first else "Nothing to fix. Start with: scalograph measure --cpus 1:all -- ./prog")
    for number, remedy in enumerate(summary.first, 1):
        what = ". ".join(f"{text[:1].upper()}{text[1:]}" for text in (remedy.what, remedy.gain)) + "."
        tell(fill(printable(what), _FIRST_WIDTH, initial_indent=f"{number}. ", subsequent_indent="   "))
        tell(f"   $ {remedy.command}")
    tell()
    tell(f"All {n_checks} checks: scalograph doctor --all")


def _print_checks(report: "Report") -> None:
    rows = []
    for check in report.checks:
        fix = f"{check.fix}: {check.command}" if check.command else check.fix
        rows.append([check.name, check.status, "; ".join(filter(None, (check.found, check.why, fix)))])
    out().print(_grid(rows))


def _grid(rows: Iterable[Iterable[str]]) -> "Grid":
    """Lay out rows; a status has its color."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for cells in rows:
        grid.add_row(*(Text(printable(text), style=_STYLES.get(text, "")) for text in cells))
    return grid


# The kept effect is that of as many runs as most studies make.
_NOISE_RUNS = 10


def measure_noise(json: bool, quick: bool, budget: str | None = None) -> int:
    """Run the study `noise-floor` (80 s, `quick` 30 s), print the floor and save it for later studies.

    Returns 5 where too few runs count: then nothing is saved.
    """
    from scalograph.cli.analyze_steps import analyze
    from scalograph.cli.overrides import override_protocol
    from scalograph.cli.pipeline import StudyStart, run_declared
    from scalograph.findings import table
    from scalograph.machine.floor.floor import STUDY, noise_floor
    from scalograph.study.declare import declare_shipped

    conducted = run_declared(override_protocol(declare_shipped(STUDY, quick), budget), StudyStart())
    if conducted.reason == "interrupted":
        say("interrupted: nothing is saved", "yellow")
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
    from scalograph.protocol.noise_floor import SavedNoise, save_noise

    single = measured.single_cpu
    if single is None or single.spread is None or not is_reliable(single):
        say("not saved: stop other programs (scalograph doctor names the load), and measure again", "yellow")
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
    from scalograph.machine.floor.floor import floor_rows

    return _grid(floor_rows(measured))


def measure_cpus(json: bool, wait_s: float | None = None) -> int:
    """Measure the CPUs under the machine lock, print their classes and save them for later studies."""
    from scalograph.cli.pipeline import machine_lock
    from scalograph.machine.cpu_classes import class_rows, class_sentences, measure_classes
    from scalograph.protocol.measured_cpus import save_classes
    from scalograph.run.hosts.host_names import open_host

    with open_host() as host, machine_lock(wait_s):
        facts = host.facts()
        classes = measure_classes(facts, say)
    if json:
        emit_json(classes.model_dump(mode="json"))
    else:
        out().print(_grid(class_rows(classes)))
        tell("\n".join(["", *class_sentences(classes, facts)]))
    try:
        save_classes(classes)
    except HostError as error:
        say(str(error), "yellow")  # it was measured all the same
    return Exit.DONE


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
    n = {status: sum(proof.status == status for proof in proofs) for status in ("proved", "failed", "not provable")}
    counts = f"{n['proved']} of {len(proofs)} proved, {n['failed']} failed, {n['not provable']} not provable here"
    if n["failed"]:
        return f"{counts}: do not rely on what the failed ones are about until they are put right."
    if n["not provable"]:
        return f"{counts}: nothing was found wrong; what could not be proved is only assumed."
    return f"{counts}: on this machine a run is what its record says."


def _print_proofs(proofs: "Sequence[Proof]") -> None:
    out().print(_grid((proof.name, proof.status, proof_sentence(proof)) for proof in proofs))
    tell()
    tell(summary_sentence(proofs))


def proof_sentence(proof: "Proof") -> str:
    """Return the outcome of a proof; for a failure also what was expected and the remedy."""
    if proof.status == "failed":
        return f"{proof.what}: not so. Found {proof.found}, expected {proof.expected or 'no refusal'}; {proof.fix}"
    return f"{proof.found}; what would help: {proof.fix}" if proof.fix else proof.found
