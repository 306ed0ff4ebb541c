"""`scalograph run`."""

from scalograph.cli.options import Accept, Budget, Json, OutDir, Quick, Resume, StudyFile


def command(
    file: StudyFile,
    quick: Quick = False,
    output: OutDir = None,
    resume: Resume = False,
    accept_difference: Accept = None,
    budget: Budget = None,
    json: Json = False,
) -> int:
    """Stop 3: run a study; every finished run is on the disk before the next begins.

    \b
    scalograph run my-study.toml
    scalograph run my-study.toml --resume        goes on after Ctrl-C, a crash, a reboot
    scalograph run my-study.toml --budget 10min
    """
    from scalograph.cli.five_stops import run_declared, with_budget
    from scalograph.cli.outcome import conclude
    from scalograph.declare import declare

    declared = with_budget(declare(file, quick), budget)
    return conclude(run_declared(declared, output, resume, accept_difference), json, report=False)
