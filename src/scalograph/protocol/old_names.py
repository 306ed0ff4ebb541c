"""Names that earlier releases wrote into files: each is read for good, and none is written (protocol/changes.md)."""

from typing import Any

# Keys of events and documents, and ids of tables.
KEYS = {"treatment": "configuration", "treatments": "configurations"}
# Verdicts on runs, the flag of that name, and why a search ended.
VERDICTS = {"contaminated": "disturbed", "undecided": "unverified", "impossible": "invalid"}
# The verdict on a study, and what is too wide to say.
STUDY_VERDICTS = {"believe": "reliable", "doubt": "caution", "reject": "unusable"}
OUTCOMES = {"not resolved": "inconclusive", "cannot be seen here": "not testable here"}
_HOLD_OUTCOMES = {"decision", "outcome", "outcomes", "state", "ends"}
# Keys of which the value, or each value of the list, is such a word.
_HOLD_VERDICTS = {"verdict", "verdicts", "code", "end_reason"}
# Keys of objects whose own keys people chose: factors and responses may have any name.
_NAMED_BY_PEOPLE = {*KEYS, *KEYS.values(), "group", "levels", "responses"}
# Where an event holds its configuration: behind its run and its block, which hold no such text.
_HEAD = 256
_OLD_KEY, _NEW_KEY = b'"treatment":', b'"configuration":'


def rename_in_line(line: bytes) -> bytes:
    """Return the line of an `ask` or `run` event with its configuration under the present name, undecoded."""
    old = line.find(_OLD_KEY, 0, _HEAD)
    if old < 0 or 0 <= line.find(_NEW_KEY, 0, _HEAD) < old:
        return line
    return line[:old] + _NEW_KEY + line[old + len(_OLD_KEY) :]


def rename_in_event(event: dict[str, Any]) -> dict[str, Any]:
    """Rename what an event of an earlier release holds, in place, and return it."""
    _rename_keys(event)
    if isinstance(event.get("design"), dict):
        _rename_keys(event["design"])
    field = {"verdict": "verdict", "end": "reason"}.get(str(event.get("event")))
    if field and isinstance(event.get(field), str):
        event[field] = VERDICTS.get(event[field], event[field])
    return event


def rename_table(name: str) -> str:
    """Return the id of a table: the first word of an id is what its rows are."""
    first, dash, rest = name.partition("-")
    return KEYS.get(first, first) + dash + rest


def _rename_keys(values: dict[str, Any]) -> None:
    for old, new in KEYS.items():
        if old in values and new not in values:
            values[new] = values.pop(old)


def rename_in_document(value: Any, key: str = "") -> Any:
    """Return findings of an earlier protocol, or what lies in them under a key, under the present names."""
    if isinstance(value, list):
        return [rename_in_document(item, key) for item in value]
    if isinstance(value, str):
        if key == "id":
            return rename_table(value)
        renamed = VERDICTS if key in _HOLD_VERDICTS else OUTCOMES if key in _HOLD_OUTCOMES else {}
        return renamed.get(value, value)
    if not isinstance(value, dict):
        return value
    if key == "trust":
        return _rename_verdicts(value)
    if key == "outcomes":
        return {name: OUTCOMES.get(str(outcome), outcome) for name, outcome in value.items()}
    if key in _NAMED_BY_PEOPLE:
        return {name: rename_in_document(inner) for name, inner in value.items()} if key == "responses" else value
    names = VERDICTS if key in _HOLD_VERDICTS else KEYS
    return {names.get(name, name): rename_in_document(inner, name) for name, inner in value.items()}


def rename_outcomes(findings: Any) -> Any:
    """Return findings of protocol 4, of which an outcome of a claim was renamed while it was in use."""
    if not isinstance(findings, dict) or "published_claims" not in findings:
        return findings
    return {**findings, "published_claims": rename_in_document(findings["published_claims"])}


def _rename_verdicts(trust: dict[str, Any]) -> dict[str, Any]:
    responses = trust.get("responses")
    named = {"level": STUDY_VERDICTS.get(str(trust.get("level")), trust.get("level"))}
    if isinstance(responses, dict):
        named["responses"] = {name: STUDY_VERDICTS.get(str(level), level) for name, level in responses.items()}
    return {**trust, **named}
