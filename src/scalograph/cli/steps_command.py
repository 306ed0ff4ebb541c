"""`scalograph analyze` and `scalograph report`."""

from pathlib import Path
from typing import Annotated

import typer

from scalograph.cli.console import emit_json, say, tell
from scalograph.cli.options import Json, Source, Strict, TableName, Tables
from scalograph.errors import StudyError

To = Annotated[
    Path | None, typer.Option("--to", metavar="FILE", help="File to write (.json or .html; default: in the results)")
]


def analyze(source: Source, to: To = None, json: Json = False, strict: Strict = False) -> int:
    """Step 4 (analyze): write findings.json from the journal.

    \b
    scalograph analyze scalograph-results/thread-scaling/latest
    scalograph analyze journal.jsonl --json | jq .trust
    """
    from scalograph.cli import analyze_steps

    keep = _is_kept(source, to, ".json")
    findings, file = analyze_steps.analyze(source, to=to, keep=keep)
    if json:
        emit_json(findings.model_dump(mode="json"))
    else:
        tell(" ".join(findings.claim.sentences if findings.claim else findings.answer[:1]))
        tell(findings.trust.sentence)
        if keep:
            tell(f"{file}")
    return analyze_steps.exit_code(findings) if strict else 0


def report(
    source: Source,
    to: To = None,
    tables: Tables = False,
    table: TableName = None,
    json: Json = False,
    strict: Strict = False,
) -> int:
    """Step 5 (report): print the answer, and write one HTML page.

    \b
    scalograph report scalograph-results/thread-scaling/latest
    scalograph report scalograph-results/thread-scaling/latest --tables
    scalograph report scalograph-results                                  # many results: a page that links to each
    """
    from scalograph.cli.many_results.results_index import has_several, report_index
    from scalograph.protocol import saved_documents

    keep = _is_kept(source, to, ".html")
    if saved_documents.has_reproduction(source):
        return _reproduction(source, to, keep, json)
    if has_several(source):
        if tables or table:
            raise StudyError.one("--tables", "several results here", "the folder of one", "name it")
        code = report_index(source, to, keep, json)
        return code if strict else 0
    from scalograph.cli import analyze_steps
    from scalograph.cli.answer_output import answer, study_places
    from scalograph.report.screen import screen

    findings, page = analyze_steps.report(source, to=to, keep=keep)
    document = {"report": str(page) if keep else None, "answer": findings.answer} if json else None
    answer(screen(findings), study_places(source, findings, page=to), tables, table, document)
    return analyze_steps.exit_code(findings) if strict else 0


def _is_kept(source: Path, to: Path | None, ending: str) -> bool:
    from scalograph.protocol import results

    folder = results.locate_results(source).folder
    if to is not None and to.suffix != ending:
        raise StudyError.one("--to", f'"{to}"', f"a {ending} file", "correct its ending")
    if to is None and not results.is_writable(folder):
        say(f"{folder}: cannot be written, and nothing is saved; name a file with --to", "yellow")
        return False
    return True


def _reproduction(source: Path, to: Path | None, keep: bool, json: bool) -> int:
    from scalograph.cli.reproduce.reproduce_results import report_reproduction, show

    document = report_reproduction(source, to, keep)
    if json:
        emit_json(document.model_dump(mode="json"))
    else:
        show(document, source, page=to)
    return 0
