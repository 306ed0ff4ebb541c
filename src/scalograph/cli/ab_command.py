"""`scalograph ab`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scalograph.cli.gate_command import SummaryFile, append_summary
from scalograph.cli.options import CommandOptions, group_options
from scalograph.cli.sweep_options import LEVELS, VERSION, Vary
from scalograph.errors import Exit, StudyError

if TYPE_CHECKING:
    from scalograph.cli.command_line_study.declaration import CommandStudy
    from scalograph.protocol.compared_results import ResultComparisons
    from scalograph.protocol.findings import Claim, Findings
    from scalograph.run.session import Session


FORMS = {
    "unpaired": "No answer: {reason}.",
    "time unknown": "Wall time is inconclusive: {reason}.",
    "CPU time": "By CPU time only, {first!s}",
}


@dataclass(frozen=True, kw_only=True)
class AbOptions:
    """Options of `ab`: the two versions and the precision of their ratio."""

    a: Annotated[
        str, typer.Option("--a", metavar="TEXT", help="Value of {version} for the baseline: a path or a tag")
    ] = ""
    b: Annotated[str, typer.Option("--b", metavar="TEXT", help="Value of {version} for the new build")] = ""
    base: Annotated[
        str | None, typer.Option(help="With --build: compare HEAD with where it left this branch, without --a and --b")
    ] = None
    margin: Annotated[
        str | None, typer.Option("--margin", help="Ignore smaller differences (default 2%; 0.1% with --count)")
    ] = None
    build: Annotated[
        str | None,
        typer.Option("--build", help="Treat --a and --b as git revisions; build each in its folder, {version}"),
    ] = None
    threads: Annotated[str | None, typer.Option(help=f"Values to substitute for {{threads}}: {LEVELS}")] = None
    summary: SummaryFile = None
    # The least that a precision can end (`scalograph.study.cross_checks.FEWEST`).
    pairs: Annotated[
        int,
        typer.Option("--pairs", "--runs", "-r", min=9, help="Planned pairs; may stop after half, or add pairs once"),
    ] = 40
    count: Annotated[
        bool, typer.Option("--count", help="Count instructions by valgrind instead of timing; exit with 9 if they grew")
    ] = False
    vary: Vary = None
    precision: Annotated[str, typer.Option(help="Stop once the interval of the ratio is this narrow")] = "1%"


def _ab(versions: AbOptions, options: CommandOptions) -> int:
    """Compare two builds in pairs, in random order, until their ratio is precise enough.

    \b
    scalograph ab --a ./prog-old --b ./prog-new -- {version} --size 100
    scalograph ab --base main --build 'make -j2' -- {version}/prog               # what this branch changed
    scalograph ab --count --a ./prog-old --b ./prog-new -- {version}             # did the work grow?
    scalograph ab --a Serial --b G1 --margin 3% -- java -XX:+Use{version}GC -jar app.jar
    """
    from scalograph.cli.command_line_study.declaration import study_text
    from scalograph.cli.comparing import share_of
    from scalograph.cli.measure_output import run_command_study

    margin = share_of("--margin", versions.margin)
    if not (versions.base and versions.build is not None) and not (versions.a and versions.b):
        expected = "--a and --b, or --base and --build"
        fix = "such as --a ./old --b ./new, or --base main --build make"
        raise StudyError.one("ab", "no two versions", expected, fix)
    if versions.build is None:
        study = _study(versions, options)
    else:
        versions, study = _build_versions(versions, versions.build, options)
    if versions.count:
        return _count(study_text(study), versions, margin, options)
    return run_command_study(
        study_text(study), options, lambda session: _print_answer(session, versions, margin, options)
    )


_PLAIN = "use texts without commas, colons or blanks at their ends"


def _study(versions: AbOptions, options: CommandOptions) -> "CommandStudy":
    from scalograph.cli.command_line_study.built_revisions import require_placeholder
    from scalograph.cli.command_line_study.option_texts import sweep_study
    from scalograph.cli.sweep_options import SweepOptions
    from scalograph.study.levels import LevelsError, parse_levels

    require_placeholder(options.command, "ab --a ./old --b ./new -- {version}")
    levels = f"{versions.a},{versions.b}"
    try:
        parsed = parse_levels(levels)
    except LevelsError as error:
        raise StudyError.one("", "--a and --b are the same, or no text", "", "name two versions that differ") from error
    if [str(level) for level in parsed] != [versions.a, versions.b]:
        raise StudyError.one("", f"--a {versions.a} --b {versions.b}: not two plain texts", "", _PLAIN)
    sweep = SweepOptions(
        factor=[f"{VERSION}={levels}"],
        threads=versions.threads,
        runs=versions.pairs,
        precision=versions.precision,
        vary=versions.vary,
    )
    return replace(sweep_study(sweep, options), subcommand="ab")


def _build_versions(versions: AbOptions, build: str, options: CommandOptions) -> "tuple[AbOptions, CommandStudy]":
    from scalograph.cli.command_line_study.built_revisions import insert_build_folders
    from scalograph.run.revisions import find_branch_point, find_repository, resolve_revisions

    home = find_repository(Path())
    if versions.base is None:
        every = resolve_revisions(home, [versions.a, versions.b])
    else:
        every = [find_branch_point(home, versions.base), *resolve_revisions(home, ["HEAD"])]
    versions = replace(versions, a=every[0].name, b=every[1].name)
    return versions, insert_build_folders(_study(versions, options), every, build, options)


def _count(text: str, versions: AbOptions, margin: float | None, options: CommandOptions) -> int:
    from scalograph.cli.comparing import labels
    from scalograph.cli.count_output import MARGIN, CountQuestion, run_count

    reference, other = labels([versions.a, versions.b])
    margin = MARGIN if margin is None else margin
    return run_count(
        text, CountQuestion(reference=reference, other=other, margin=margin, summary=versions.summary), options
    )


def _print_answer(session: "Session", versions: AbOptions, margin: float | None, options: CommandOptions) -> int:
    from scalograph.cli.analyze_steps import report
    from scalograph.cli.measure_output import print_results
    from scalograph.exchange.markdown import summary
    from scalograph.report.screen import screen

    findings, _ = report(session.results.folder)
    title, claim, document, own = _make_answer(findings, versions, margin)
    shown = replace(screen(findings), title=title, claim=claim)
    if versions.summary is not None:
        append_summary(versions.summary, summary(replace(shown, tables=()), document["answer"]))
    code = print_results(session, findings, shown, options, document)
    return code if code == Exit.CONFIGURATION_FAILED else own or code


def _make_answer(
    findings: "Findings", versions: AbOptions, margin: float | None
) -> tuple[str, "Claim", dict[str, Any], int]:
    from scalograph.analysis.contrast import SPEED
    from scalograph.cli.compare_command import exit_code
    from scalograph.cli.comparing import labels, share_of
    from scalograph.exchange.compare.compare_claim import compare_claim
    from scalograph.exchange.compare.measured_source import counts_disturbed, findings_source
    from scalograph.exchange.compare.paired_versions import explain_unpaired, paired_versions, pairs_remedy
    from scalograph.protocol.plain import AnswerCase
    from scalograph.questions.claims import add_sentence, add_varied, state
    from scalograph.study.levels import parse_levels

    names = dict(zip(parse_levels(f"{versions.a},{versions.b}"), labels([versions.a, versions.b]), strict=True))
    source = findings_source(findings, findings.study.name)
    # With `--when-busy cpu-time` a study that was too busy for times is compared by its CPU times.
    refused = source.refused if counts_disturbed(findings, "cpu") else ""
    if refused:
        source = findings_source(findings, findings.study.name, "cpu")
    reference, other = names.values()
    title = f"Is {other} faster than {reference}?"
    if reason := explain_unpaired(source, VERSION, names):
        claim = state(FORMS, [AnswerCase(case="unpaired", values={"reason": reason})])
        document = {"reference": reference, "other": other, "answer": "inconclusive", "why": reason}
        return title, claim, document, Exit.CONFIGURATION_FAILED if source.failed else Exit.INCONCLUSIVE
    comparisons = paired_versions(source, VERSION, names, margin, planned=versions.pairs)
    remedy = pairs_remedy(comparisons.results[0], share_of("--precision", versions.precision) or 0.0)
    claim = compare_claim(comparisons, remedy)
    if refused:
        comparisons, claim = _limit_to_cpu_time(comparisons, claim, refused)
    if any(SPEED in row.ratio.method for row in comparisons.results[0].configurations):
        claim = add_sentence(claim, "CPU speed varied between the runs; the ratio is adjusted for it.")
    claim = add_varied(claim, findings.study.varied, "pair")
    return title, claim, comparisons.results[0].model_dump(mode="json"), exit_code(comparisons)


def _limit_to_cpu_time(
    comparisons: "ResultComparisons", claim: "Claim", refused: str
) -> "tuple[ResultComparisons, Claim]":
    """Answer by CPU times, and call wall time inconclusive: a wait takes time without CPU time."""
    from scalograph.protocol.plain import AnswerCase
    from scalograph.questions.claims import state

    update = {"answer": "inconclusive", "case": "refused", "why": f"time: {refused}"}
    values = {"reason": refused, "first": claim.sentences[0]}
    cases = [AnswerCase(case=name, values=values) for name in ("CPU time", "time unknown")]
    results = [result.model_copy(update=update) for result in comparisons.results]
    stated = state(FORMS, cases, claim.matrix).model_copy(update={"answered": False})
    return comparisons.model_copy(update={"answer": "inconclusive", "results": results}), stated


command = group_options(_ab, AbOptions, CommandOptions)
