"""`scalograph run`."""

from scalograph.cli.options import (
    Accept,
    Budget,
    Ceiling,
    HostName,
    Json,
    MaxRuns,
    OutDir,
    Pilot,
    Quick,
    Resume,
    StudyFile,
    WaitQuiet,
    WhenBusy,
)
from scalograph.run.hosts.registry import LOCAL


def command(
    file: StudyFile,
    quick: Quick = False,
    output: OutDir = None,
    resume: Resume = False,
    accept_difference: Accept = None,
    budget: Budget = None,
    max_runs: MaxRuns = None,
    wait_quiet: WaitQuiet = None,
    when_busy: WhenBusy = None,
    pilot: Pilot = False,
    ceiling: Ceiling = False,
    host: HostName = LOCAL,
    json: Json = False,
) -> int:
    """Stop 3: run a study; every finished run is on the disk before the next begins.

    \b
    scalograph run my-study.toml
    scalograph run my-study.toml --resume        goes on after Ctrl-C, a crash, a reboot
    scalograph run my-study.toml --budget 10min
    scalograph run my-study.toml --wait-quiet 10m
    scalograph run my-study.toml --pilot         how many runs and iterations does it need?
    """
    from scalograph.cli.start import StartOptions, start
    from scalograph.study.declare import declare

    options = StartOptions(
        quick, output, resume, accept_difference, budget, max_runs, wait_quiet, when_busy, pilot, ceiling, host, json
    )
    return start(declare(file, quick), options, ["scalograph", "run", str(file)], report=False)
