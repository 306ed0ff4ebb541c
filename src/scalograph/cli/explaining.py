"""Explain a finished study: record two levels, keep the explanation beside the results, print it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, out, say, tell
from scalograph.cli.options import Where
from scalograph.cli.profile_command import Study
from scalograph.errors import HostError, StudyError
from scalograph.run.hosts.host_names import LOCAL

if TYPE_CHECKING:
    from scalograph.cli.sweep_options import AnswerOptions
    from scalograph.findings.table import Table
    from scalograph.protocol.explanation import Explanation
    from scalograph.protocol.results import Results
    from scalograph.run.session import Session
    from scalograph.study.scalars import Level

RECORDINGS = 3
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
        typer.Option(
            "--try", metavar="NAMES", help="Try changes: malloc, arenas, wait-policy, placement, gc, heap, or quota"
        ),
    ] = None
    what_if: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="PREFIX", help="Try what the command begins with, such as 'env NAME=VALUE'"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ExplainedOptions:
    """The option of a command that measures: explain afterwards."""

    explain: Annotated[bool, typer.Option("--explain", help="Then explain what scaling loses, as explain does")] = False


def keep_explanation(
    folder: "Results", explain: ExplainOptions, wait_lock: str | None, host_name: str = LOCAL
) -> "Explanation":  # fmt: skip
    """Record two levels of a finished study under the machine lock, and write the explanation beside the results.

    The runs are made on `host_name`.
    """
    from scalograph.cli.overrides import seconds_of
    from scalograph.cli.pipeline import machine_lock, score_of
    from scalograph.findings import table
    from scalograph.profile.explain_recorder import Explainer, choose_pair
    from scalograph.profile.recorder import plan_again
    from scalograph.profile.what_if import changes
    from scalograph.protocol import results
    from scalograph.protocol.explanation import FILE
    from scalograph.run.hosts.host_names import is_elsewhere, open_host

    if not results.is_writable(folder.folder):
        raise HostError(
            str(folder.folder), "cannot be written", "results that an explanation may lie beside", "copy them"
        )
    trials = changes(explain.try_, explain.what_if or [], host_name == LOCAL)
    measured = table.load(folder.journal, keep_observations=False)
    explain = choose_published(measured, explain)
    factor = explain.along or measured.view.curve_factor
    if factor not in measured.study.factors:
        raise StudyError.one("--along", factor, f"one of {', '.join(measured.study.factors)}")
    levels = _two_levels(measured, factor, explain)
    pair = choose_pair(measured, factor, _named_levels(measured, explain.where or []), levels)
    wait_s = seconds_of("--wait-lock", wait_lock)
    with machine_lock(wait_s, is_elsewhere(host_name)), open_host(host_name, wait_s) as host:
        planned, notes = plan_again(folder, explain.study, host.facts())
        explainer = Explainer(planned, measured, host, lambda text: say(f"  {text}"), score_of(planned.design.study))
        document = explainer.explain(factor, pair, explain.recordings, trials)
    document = document.model_copy(update={"warnings": (*notes, *document.warnings)})
    results.write_text(folder.folder / FILE, document.model_dump_json(indent=1) + "\n")
    return document


def choose_published(measured: "Table", explain: ExplainOptions) -> ExplainOptions:
    """Return what a published study is explained by, unless options choose or the results have other levels."""
    from scalograph.exchange.match import is_level
    from scalograph.study.catalogue import explained_levels

    if explain.along or explain.levels or explain.where:
        return explain
    texts = [text.partition("=")[::2] for text in explained_levels(measured.study.name)]
    wanted = [(name, level) for name, levels in texts for level in levels.split(",")]
    if not all(any(name in c and is_level(c[name], text) for c in measured.configurations) for name, text in wanted):
        return explain
    along = next(((name, levels) for name, levels in texts if "," in levels), (None, None))
    where = [f"{name}={level}" for name, level in texts if "," not in level]
    return replace(explain, along=along[0], levels=along[1], where=where)


def _named_levels(measured: "Table", texts: Sequence[str]) -> dict[str, "Level"]:
    from scalograph.exchange.match import is_level, parse_where

    wanted = parse_where(texts, measured)
    return {n: c[n] for n, text in wanted.items() for c in measured.configurations if is_level(c[n], text)}


def _two_levels(measured: "Table", factor: str, explain: ExplainOptions) -> list["Level"]:
    from scalograph.exchange.match import is_level

    if explain.levels is None:
        return []
    planned = list(dict.fromkeys(configuration[factor] for configuration in measured.configurations))
    texts = [text.strip() for text in explain.levels.split(",")]
    levels = [level for text in texts for level in planned if is_level(level, text)]
    if len(texts) != 2 or len({*levels}) != 2:
        raise StudyError.one("--levels", explain.levels, f"two of {', '.join(map(str, planned))}")
    return levels


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


def answer_explained(answer: Callable[["Session"], int], options: "AnswerOptions", session: "Session") -> int:
    """Explain before the answer, whose document then has the explanation, and print it after."""
    document = keep_explanation(session.results, ExplainOptions(), options.wait_lock, options.host)
    code = answer(session)
    if not options.json:
        show_explanation(document, session.results, json=False)
    return code
