"""`scalograph explain`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, out, say, tell
from scalograph.cli.options import CommandOptions, Where, group_options
from scalograph.cli.profile_command import Study
from scalograph.cli.sweep_options import SweepOptions
from scalograph.errors import HostError, StudyError

if TYPE_CHECKING:
    from scalograph.findings.table import Table
    from scalograph.protocol.explanation import Explanation
    from scalograph.protocol.results import Results
    from scalograph.run.session import Session
    from scalograph.study.scalars import Level

RECORDINGS = 3
_FEW_RUNS = 5  # of a command that is measured only to be explained
Levels = Annotated[str | None, typer.Option("--levels", metavar="A,B", help="Two levels to compare")]
Along = Annotated[str | None, typer.Option("--along", metavar="FACTOR", help="Factor of the levels")]
Recordings = Annotated[int, typer.Option("--recordings", min=1, max=100, help="Recorded runs of each level")]


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Options of `explain`: what is compared, and how often it is recorded."""

    levels: Levels = None
    along: Along = None
    where: Where = None
    recordings: Recordings = RECORDINGS
    study: Study = None
    try_: Annotated[
        str | None,
        typer.Option("--try", metavar="NAMES", help="Try changes: malloc, arenas, wait-policy, placement, gc, heap"),
    ] = None
    what_if: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="PREFIX", help="Try what the command begins with, such as 'env NAME=VALUE'"),
    ] = None


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

    words = options.command or []
    if _is_swept(sweep) or len(words) != 1 or not Path(words[0]).exists() or Path(words[0]).is_file():
        return _measure_first(explain, sweep, options)
    folder = results.locate_results(Path(words[0]))
    return show_explanation(keep_explanation(folder, explain, options.wait_lock), folder, options.json)


command = group_options(_explain, ExplainOptions, SweepOptions, CommandOptions)


def _is_swept(sweep: SweepOptions) -> bool:
    return any((sweep.cpus, sweep.threads, sweep.jobs, sweep.copies, sweep.factor))


def _measure_first(explain: ExplainOptions, sweep: SweepOptions, options: CommandOptions) -> int:
    from scalograph.cli.command_line_study.declaration import study_text
    from scalograph.cli.command_line_study.option_texts import sweep_study
    from scalograph.cli.measure_output import run_command_study

    if not _is_swept(sweep):
        raise StudyError.one("levels", "none", "results of a study, or two levels", "such as --threads 1,2")
    study = sweep_study(replace(sweep, runs=sweep.runs or _FEW_RUNS), options)
    return run_command_study(study_text(study), options, partial(_answer, explain, options))


def _answer(explain: ExplainOptions, options: CommandOptions, session: "Session") -> int:
    document = keep_explanation(session.results, explain, options.wait_lock)
    return show_explanation(document, session.results, options.json)


def keep_explanation(folder: "Results", explain: ExplainOptions, wait_lock: str | None) -> "Explanation":
    """Record two levels of a finished study under the machine lock, and write the explanation beside the results."""
    from scalograph.cli.overrides import seconds_of
    from scalograph.cli.pipeline import machine_lock, score_of
    from scalograph.findings import table
    from scalograph.profile.explain_recorder import Explainer, choose_pair
    from scalograph.profile.recorder import plan_again
    from scalograph.profile.what_if import changes
    from scalograph.protocol import results
    from scalograph.protocol.explanation import FILE
    from scalograph.run.hosts.host_names import open_host

    if not results.is_writable(folder.folder):
        raise HostError(
            str(folder.folder), "cannot be written", "results that an explanation may lie beside", "copy them"
        )
    trials = changes(explain.try_, explain.what_if or [])
    measured = table.load(folder.journal, keep_observations=False)
    factor = explain.along or measured.view.curve_factor
    if factor not in measured.study.factors:
        raise StudyError.one("--along", factor, f"one of {', '.join(measured.study.factors)}")
    levels = _two_levels(measured, factor, explain)
    pair = choose_pair(measured, factor, _named_levels(measured, explain.where or []), levels)
    with machine_lock(seconds_of("--wait-lock", wait_lock)), open_host() as host:
        planned, notes = plan_again(folder, explain.study, host.facts())
        explainer = Explainer(planned, measured, host, lambda text: say(f"  {text}"), score_of(planned.design.study))
        document = explainer.explain(factor, pair, explain.recordings, trials)
    document = document.model_copy(update={"warnings": (*notes, *document.warnings)})
    results.write_text(folder.folder / FILE, document.model_dump_json(indent=1) + "\n")
    return document


def _named_levels(measured: "Table", texts: Sequence[str]) -> dict[str, "Level"]:
    from scalograph.exchange.match import is_level, parse_where

    wanted = parse_where(texts, measured)
    return {n: c[n] for n, text in wanted.items() for c in measured.configurations if is_level(c[n], text)}


def _two_levels(measured: "Table", factor: str, explain: ExplainOptions) -> list["Level"]:
    texts = [text.strip() for text in explain.levels.split(",")] if explain.levels else []
    if len(texts) not in (0, 2):
        raise StudyError.one("--levels", explain.levels or "", "two levels, such as 1,2")
    return [_named_levels(measured, [f"{factor}={text}"])[factor] for text in texts]


def show_explanation(document: "Explanation", folder: "Results", json: bool) -> int:
    """Print the answer and its table, or the document with `json`; return the exit code."""
    from scalograph.profile.profile_tables import explanation_table
    from scalograph.protocol.explanation import FILE
    from scalograph.report.cells import table_layout
    from scalograph.report.terminal_table import draw
    from scalograph.text.explained import answer_sentences, closing_sentences

    if json:
        emit_json(document.model_dump(mode="json"))
        return 0
    for sentence in answer_sentences(document):
        tell(sentence)
    if not document.scales:
        tell()
        draw(table_layout(explanation_table(document)), out())
        tell()
    for sentence in closing_sentences(document):
        tell(sentence)
    tell(f"{folder.folder / FILE}")
    return 0


def explained(answer: Callable[["Session"], int], options: CommandOptions, session: "Session") -> int:
    """Explain before the answer, whose document then has the explanation, and print it after."""
    document = keep_explanation(session.results, ExplainOptions(), options.wait_lock)
    code = answer(session)
    if not options.json:
        show_explanation(document, session.results, json=False)
    return code
