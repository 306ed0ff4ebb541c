"""`scalograph analyze` and `scalograph report`: stops 4 and 5."""

from scalograph.cli.console import emit_json, out, tell
from scalograph.cli.options import Gate, Json, Source
from scalograph.cli.outcome import warn


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
        tell(found.trust.sentence)
        warn(found)
        tell(f"{file}")
    return last_stops.exit_code(found) if gate else 0


def report(source: Source, json: Json = False, gate: Gate = False) -> int:
    """Stop 5: the tables on the terminal, and one HTML file that opens without a network. Executes nothing.

    \b
    scalograph report scalograph-results/thread-scaling/latest
    """
    from scalograph.cli import last_stops
    from scalograph.report.terminal import render

    found, file = last_stops.report(source)
    if json:
        emit_json({"report": str(file), "trust": found.trust.model_dump(), "answer": found.answer})
    else:
        render(found, out())
        tell(f"Report: {file}")
    return last_stops.exit_code(found) if gate else 0
