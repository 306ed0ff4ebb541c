"""`scalograph report`."""

from scalograph.cli.console import emit_json, out, tell
from scalograph.cli.options import Gate, Json, Source


def command(source: Source, json: Json = False, gate: Gate = False) -> int:
    """Stop 5: the tables on the terminal, and one HTML file that opens without a network. Executes nothing.

    \b
    scalograph report scalograph-results/thread-scaling/latest
    """
    from scalograph.cli.last_stops import exit_code, report
    from scalograph.report.terminal import render

    found, file = report(source)
    if json:
        emit_json({"report": str(file), "trust": found.trust.model_dump(), "answer": found.answer})
    else:
        render(found, out())
        tell(f"Report: {file}")
    return exit_code(found) if gate else 0
