"""`scalograph analyze` and `scalograph report`: stops 4 and 5."""

from pathlib import Path

from scalograph.cli.console import emit_json, tell
from scalograph.cli.options import Gate, Json, Source, TableName, Tables


def analyze(source: Source, json: Json = False, gate: Gate = False) -> int:
    """Stop 4: from a journal to findings.json beside it. Executes nothing from its input.

    \b
    scalograph analyze scalograph-results/thread-scaling/latest
    scalograph analyze journal.jsonl --json | jq .trust
    """
    from scalograph.cli import last_stops

    found, file = last_stops.analyze(source)
    if json:
        emit_json(found.model_dump(mode="json"))
    else:
        tell(" ".join(found.claim.sentences if found.claim else found.answer[:1]))
        tell(found.trust.sentence)
        tell(f"{file}")
    return last_stops.exit_code(found) if gate else 0


def report(
    source: Source, tables: Tables = False, table: TableName = None, json: Json = False, gate: Gate = False
) -> int:
    """Stop 5: the answer on the terminal, and one HTML file that opens without a network. Executes nothing.

    \b
    scalograph report scalograph-results/thread-scaling/latest
    scalograph report scalograph-results/thread-scaling/latest --tables
    """
    from scalograph.protocol import reproduction_file

    if reproduction_file.is_there(source):
        return _reproduction(source, json)
    from scalograph.cli import last_stops
    from scalograph.cli.answer_output import answer, study_places
    from scalograph.report.screen import screen

    found, file = last_stops.report(source)
    document = {"report": str(file), "answer": found.answer} if json else None
    answer(screen(found), study_places(source, found), tables, table, document)
    return last_stops.exit_code(found) if gate else 0


def _reproduction(source: Path, json: bool) -> int:
    """The page of published studies, in place of that of one study."""
    from scalograph.cli.reproduce_output import report_reproduction, show

    made, _ = report_reproduction(source)
    if json:
        emit_json(made.model_dump(mode="json"))
    else:
        show(made, source)
    return 0
