"""`scalograph run`."""

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
    StudyFile,
    WaitQuiet,
    WhenBusy,
)


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
    from scalograph.cli.five_stops import run_declared
    from scalograph.cli.outcome import conclude
    from scalograph.cli.overrides import (
        given,
        note_quick,
        overridden,
        refuse_unused,
    )
    from scalograph.study.declare import declare

    declared = overridden(declare(file, quick), budget, max_runs, wait_quiet, when_busy)
    note_quick(declared, quick)
    refuse_unused(pilot, resume, accept_difference, max_runs, ceiling)
    if pilot:
        from scalograph.cli.pilot_output import run_pilot

        return run_pilot(declared, output, resume, json)
    conducted = run_declared(declared, output, resume, accept_difference, ceiling)
    options = [*["--quick"] * quick, *given(budget, max_runs, wait_quiet, when_busy)]
    return conclude(conducted, json, report=False, command=["scalograph", "run", str(file), *options])
