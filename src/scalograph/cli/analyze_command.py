"""`scalograph analyze`."""

from scalograph.cli.console import emit_json, tell
from scalograph.cli.options import Gate, Json, Source
from scalograph.cli.outcome import warn


def command(source: Source, json: Json = False, gate: Gate = False) -> int:
    """Stop 4: from a journal to findings.json beside it. Executes nothing from its input.

    \b
    scalograph analyze scalograph-results/thread-scaling/latest
    scalograph analyze journal.jsonl --json | jq .trust
    """
    from scalograph.cli.last_stops import analyze, exit_code

    found, file = analyze(source)
    if json:
        emit_json(found.model_dump(mode="json"))
    else:
        tell(found.trust.sentence)
        warn(found)
        tell(f"{file}")
    return exit_code(found) if gate else 0
