"""Names of earlier releases: renamed where they are ours, left alone where people chose them."""

import gzip
import json
from typing import Any

import pytest

from scalograph.protocol import old_names
from scalograph.protocol.journal import read
from scalograph.protocol.old_names import KEYS, VERDICTS
from tests.kit import ROOT

KEPT = ROOT / "tests" / "recorded" / "before-rename"


@pytest.mark.parametrize(("line", "renamed"), [
    (b'{"event":"ask","run":"a","treatment":{"n":1}}', b'{"event":"ask","run":"a","configuration":{"n":1}}'),
    # A factor of either name is people's own.
    (b'{"event":"ask","configuration":{"treatment":1}}', b'{"event":"ask","configuration":{"treatment":1}}'),
    (b'{"event":"ask","treatment":{"treatment":1}}', b'{"event":"ask","configuration":{"treatment":1}}'),
    (b'{"event":"note","text":"' + b"x" * 300 + b'"treatment":"}', None),
])  # fmt: skip
def test_a_line_is_renamed_before_it_is_decoded(line: bytes, renamed: bytes | None) -> None:
    assert old_names.rename_in_line(line) == (line if renamed is None else renamed)


@pytest.mark.parametrize(("old", "new"), [
    ({"treatment": {"treatments": 1}, "event": "ask"}, {"configuration": {"treatments": 1}, "event": "ask"}),
    ({"event": "study", "design": {"treatments": [], "runs": []}},
     {"event": "study", "design": {"configurations": [], "runs": []}}),
    ({"event": "verdict", "verdict": "undecided"}, {"event": "verdict", "verdict": "unverified"}),
    ({"event": "end", "reason": "impossible"}, {"event": "end", "reason": "invalid"}),
    ({"event": "note", "text": "impossible"}, {"event": "note", "text": "impossible"}),
])  # fmt: skip
def test_an_event_in_any_order_of_keys_is_renamed(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert old_names.rename_in_event(old) == new


def test_a_document_keeps_the_names_that_people_chose() -> None:
    def document(runs: str, disturbed: str, unverified: str, configuration: str) -> dict[str, Any]:
        point = {"responses": {"treatment": {"verdicts": [unverified]}}}
        return {
            "runs": {runs: 2, "verdicts": {disturbed: 1, "clean": 3}},
            "curves": [{"group": {"treatment": "a"}, "points": [point]}],
            "log": {f"{configuration}s": [{"treatment": 1}], configuration: [0, 0]},
            "tables": [{"id": f"{configuration}s-1", "rows": [["undecided"]]}],
            "study": {"factors": [{"name": "treatment", "levels": ["undecided"]}]},
        }

    old = document("treatments", "contaminated", "undecided", "treatment")
    assert old_names.rename_in_document(old) == document("configurations", "disturbed", "unverified", "configuration")


@pytest.mark.parametrize(("old", "new"), [
    ("treatments", "configurations"), ("treatments-1-400", "configurations-1-400"), ("reference", "reference"),
    ("treatmentss", "treatmentss"),
])  # fmt: skip
def test_a_table_is_found_by_its_old_name(old: str, new: str) -> None:
    assert old_names.rename_table(old) == new


@pytest.mark.parametrize("names", [KEYS, VERDICTS])
def test_no_name_is_both_old_and_new(names: dict[str, str]) -> None:
    assert not names.keys() & {*names.values()}


def test_a_journal_of_an_earlier_release_reads_as_one_of_this_and_again_alike() -> None:
    journals = sorted(KEPT.rglob("journal.jsonl*"))
    assert journals
    for file in journals:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        assert b'"treatment":' in raw
        for whole in (True, False):
            events = list(read(file, whole=whole))
            assert len(events) == len(raw.splitlines())
            assert not any(old in event for event in events for old in KEYS)
            assert all("configuration" in event for event in events if event["event"] == "run")
        assert not {event.get("verdict") for event in events} & {*VERDICTS}
    document = json.loads((KEPT / "examples" / "findings.jsonl").read_text(encoding="utf-8").splitlines()[0])
    once = old_names.rename_in_document(document)
    assert once != document and old_names.rename_in_document(once) == once
