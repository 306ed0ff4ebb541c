"""`scalograph profile`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, out, say, tell
from scalograph.cli.options import Dangerous, HostName, Json, MachineWide, WaitLock, Where
from scalograph.errors import Exit, HostError, StudyError
from scalograph.run.hosts.host_names import LOCAL, check_name

if TYPE_CHECKING:
    from scalograph.control.machine_control import Consent
    from scalograph.profile.values import Profile
    from scalograph.protocol.results import Results
    from scalograph.run.hosts.base import Host
    from scalograph.run.plan import Plan

# What the recorder of a JVM can be asked for.
LEAST_S, MOST_S, PERIOD_S = 0.001, 1.0, 0.01
Study = Annotated[Path | None, typer.Option("--study", help="Study file, if it has its own workload beside it")]
Iterations = Annotated[
    int | None, typer.Option(min=1, max=1_000_000, help="Iterations per run (default: as in the study)")
]


def command(
    source: Annotated[Path, typer.Argument(metavar="RESULTS", help="Results folder of a study")],
    where: Where = None,
    study: Study = None,
    period: Annotated[str, typer.Option("--period", help="Sampling period, from 1ms to 1s")] = "10ms",
    iterations: Iterations = None,
    machine_wide: MachineWide = False,
    dangerous: Dangerous = None,
    wait_lock: WaitLock = None,
    host: HostName = LOCAL,
    json: Json = False,
) -> int:
    """Profile configurations of a finished study, in separate runs.

    Java is recorded by Flight Recorder, any other program by perf (apt install linux-perf).

    At most 8 configurations run. Journal and findings do not change; profile.json is written beside them.

    \b
    scalograph profile scalograph-results/fork-join/latest
    scalograph profile scalograph-results/fork-join/latest --period 1ms --iterations 5000       more samples
    scalograph profile scalograph-results/fork-join/latest --where p=2 --where p=64
    """
    from scalograph.control.machine_control import Consent
    from scalograph.profile.values import FILE
    from scalograph.protocol import results

    folder = results.locate_results(source)
    if source not in (folder.folder, folder.journal):
        raise StudyError.one(str(source), "a file", "a results folder", "name the folder")
    consent = Consent(machine_wide, tuple(dangerous or ()))
    profile = keep_profile(folder, study, where or [], _seconds(period), iterations, consent, wait_lock, host)
    file = folder.folder / FILE
    if json:
        emit_json(profile.model_dump(mode="json"))
    else:
        _show(profile)
        tell(f"{file}")
    return 0 if all(row.seen for row in profile.profiled) else Exit.CONFIGURATION_FAILED


def refuse_recording(host: str) -> None:
    """Raise StudyError for a host whose runs cannot be recorded: perf would have to be in what it boots or submits."""
    check_name(host)
    if host != LOCAL and host.partition(":")[0] != "ssh":
        raise StudyError.one("--host", f"runs on {host} cannot be recorded", "local or ssh:NAME", "")


def keep_profile(
    folder: "Results",
    file: Path | None,
    where: Sequence[str] = (),
    period_s: float = PERIOD_S,
    iterations: int | None = None,
    consent: "Consent | None" = None,
    wait_lock: str | None = None,
    host_name: str = LOCAL,
) -> "Profile":
    """Record a profile under the machine lock, and write it beside the results.

    `file` is the study, None its copy there.
    `where` selects FACTOR=LEVEL. A thread is sampled each `period_s` seconds; `iterations` replace the study's.
    The runs are made on `host_name`.
    """
    from scalograph.cli.overrides import seconds_of
    from scalograph.cli.pipeline import machine_lock
    from scalograph.control.machine_control import NO_CONSENT
    from scalograph.profile.recorder import plan_again, set_iterations
    from scalograph.profile.values import FILE
    from scalograph.protocol import results
    from scalograph.run.hosts.host_names import is_elsewhere, open_host

    if not results.is_writable(folder.folder):
        raise HostError(str(folder.folder), "cannot be written", "results that a profile may lie beside", "copy them")
    refuse_recording(host_name)
    wait_s = seconds_of("--wait-lock", wait_lock)
    with machine_lock(wait_s, is_elsewhere(host_name)), open_host(host_name, wait_s) as host:
        planned, notes = plan_again(folder, file, host.facts(), consent or NO_CONSENT)
        planned = set_iterations(planned, iterations) if iterations else planned
        profile = _record(planned, host, folder, where, period_s, notes)
    results.write_text(folder.folder / FILE, profile.model_dump_json(indent=1) + "\n")
    return profile


def _record(
    planned: "Plan", host: "Host", folder: "Results", where: Sequence[str], period_s: float, notes: list[str]
) -> "Profile":
    from scalograph.cli.pipeline import score_of
    from scalograph.exchange.match import is_level, parse_where
    from scalograph.findings import table
    from scalograph.profile.recorder import add_median_score, starts_java, take_profiles
    from scalograph.profile.values import Profile, choose_configurations
    from scalograph.protocol import journal

    measured = table.load(folder.journal, keep_observations=False)
    wanted: dict[str, list[str]] = {}
    for name, text in (item for each in where for item in parse_where([each], measured).items()):
        wanted.setdefault(name, []).append(text)
    configurations = [
        configuration
        for configuration in planned.design.configurations
        if all(any(is_level(configuration[name], text) for text in texts) for name, texts in wanted.items())
    ]
    chosen = choose_configurations(configurations, planned.design.study.baseline)
    if not chosen:
        raise StudyError.one(
            "--where", "no configuration with all of these levels", "levels that were planned together"
        )
    if len(chosen) < len(configurations):
        say(f"{len(chosen)} of {len(configurations)} configurations; choose others with --where")
    taken = take_profiles(
        planned, chosen, host, period_s, lambda text: say(f"  {text}"), score_of(planned.design.study)
    )
    study = planned.design.study
    return Profile(
        study=study.name, study_hash=measured.study_hash, at=journal.now(), period_s=period_s,
        recorder="jfr" if starts_java(planned) else "perf",
        profiled=tuple(add_median_score(item, measured) for item in taken),
        warnings=(*notes, *([host.probe.warning] if host.probe.warning else [])),
    )  # fmt: skip


def _show(profile: "Profile") -> None:
    from scalograph.profile.profile_tables import profile_tables
    from scalograph.report.cells import table_layout
    from scalograph.report.terminal_table import draw

    for table in profile_tables(profile):
        draw(table_layout(table), out())
        tell()
    for text in profile.warnings:
        say(f"warning: {text}", "yellow")


def _seconds(text: str) -> float:
    from scalograph.cli.overrides import parse_option

    seconds = parse_option("--period", text)
    if not LEAST_S <= seconds <= MOST_S:
        raise StudyError.one("--period", text, "1ms to 1s")
    return seconds
