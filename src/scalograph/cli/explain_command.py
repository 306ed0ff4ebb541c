"""`scalograph explain`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.cli.explaining import ExplainOptions, keep_explanation, show_explanation
from scalograph.cli.options import CommandOptions, group_options
from scalograph.cli.profile_command import refuse_recording
from scalograph.cli.sweep_options import SweepOptions
from scalograph.errors import StudyError
from scalograph.run.hosts.host_names import LOCAL

if TYPE_CHECKING:
    from scalograph.run.session import Session

_FEW_RUNS = 5  # of a command that is measured only to be explained


def _explain(explain: ExplainOptions, sweep: SweepOptions, options: CommandOptions) -> int:
    """Explain why a program stops scaling: where the lost CPU time goes, by cause.

    Runs of two levels are recorded by perf (apt install linux-perf), in turn. They count for nothing else.

    \b
    scalograph explain scalograph-results/prog/latest
    scalograph explain scalograph-results/prog/latest --levels 1,2 --recordings 5
    scalograph explain --threads 1,2 -- ./prog -t {threads}
    scalograph explain scalograph-results/prog/latest --try malloc --what-if 'env OMP_WAIT_POLICY=passive'
    """
    from scalograph.protocol import results

    refuse_recording(options.host)
    words = options.command or []
    if _is_swept(sweep) or len(words) != 1 or not Path(words[0]).exists() or Path(words[0]).is_file():
        return _measure_first(explain, sweep, options)
    folder = results.locate_results(Path(words[0]))
    return show_explanation(keep_explanation(folder, explain, options.wait_lock, options.host), folder, options.json)


command = group_options(_explain, ExplainOptions, SweepOptions, CommandOptions)


def _is_swept(sweep: SweepOptions) -> bool:
    return any((sweep.cpus, sweep.threads, sweep.jobs, sweep.copies, sweep.factor))


def _measure_first(explain: ExplainOptions, sweep: SweepOptions, options: CommandOptions) -> int:
    from scalograph.cli.command_line_study.declaration import study_text
    from scalograph.cli.command_line_study.option_texts import sweep_study
    from scalograph.cli.measure_output import run_command_study
    from scalograph.profile.what_if import changes

    changes(explain.try_, explain.what_if or [], options.host == LOCAL)  # refused before anything is measured
    if not _is_swept(sweep):
        words = " ".join(options.command or [])
        raise StudyError.one(words or "explain", "no results, and no levels", "a results folder, or --threads 1,2")
    study = sweep_study(replace(sweep, runs=sweep.runs or _FEW_RUNS), options)
    return run_command_study(study_text(study), options, partial(_answer, explain, options))


def _answer(explain: ExplainOptions, options: CommandOptions, session: "Session") -> int:
    document = keep_explanation(session.results, explain, options.wait_lock, options.host)
    return show_explanation(document, session.results, options.json)
