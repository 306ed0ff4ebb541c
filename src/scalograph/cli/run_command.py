"""`scalograph run`."""

from dataclasses import dataclass

from scalograph.cli.options import StartOptions, StudyFile, group_options


@dataclass(frozen=True, kw_only=True)
class RunOptions(StartOptions):
    """Options of `run`: a study's file."""

    file: StudyFile


def _run(options: RunOptions) -> int:
    """Step 3 (run): make the runs of a study; each finished run is saved before the next begins.

    \b
    scalograph run my-study.toml
    scalograph run my-study.toml --resume        # continue after Ctrl-C, a crash, or a reboot
    scalograph run my-study.toml --budget 10min
    scalograph run my-study.toml --wait-quiet 10m
    scalograph run my-study.toml --pilot         # how many runs and iterations does it need?
    """
    from scalograph.cli.start import start
    from scalograph.study.declare import declare

    return start(declare(options.file, options.quick), options, ["scalograph", "run", str(options.file)], report=False)


command = group_options(_run, RunOptions)
