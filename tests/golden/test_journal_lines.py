"""The golden events of protocol/examples: a whole journal, and lines that are refused where they are broken."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scalograph.findings import table
from scalograph.protocol.journal import read
from scalograph.verdict.judge import judge, requirements
from tests.golden.command import scalograph
from tests.kit import EXAMPLES, ROOT
from tests.kit.records import read as read_record

GOLDEN = EXAMPLES / "journal_events.jsonl"
LINES = GOLDEN.read_text(encoding="utf-8").splitlines()
REJECTED = (EXAMPLES / "journal_events_rejected.jsonl").read_text(encoding="utf-8").splitlines()
EVENTS: list[dict[str, Any]] = [json.loads(line) for line in LINES]


def test_every_event_of_the_page_has_a_golden_line_with_all_of_its_fields() -> None:
    page = (ROOT / "protocol/journal.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", page, re.MULTILINE)
    fields: dict[str, set[str]] = {}
    for event in EVENTS:
        fields.setdefault(event["event"], set()).update(set(event) - {"event", "at"})
    assert fields == {event: set(re.findall(r"`(\w+)`", names)) for event, names in rows}


def test_the_golden_events_are_a_journal_as_it_reads() -> None:
    torn: list[str] = []
    records = [event | {"record": read_record(event["record"])} if "record" in event else event for event in EVENTS]
    assert list(read(GOLDEN, torn)) == records and not torn
    found = table.load(GOLDEN)
    assert [(row.run, row.status, row.boot) for row in found.rows] == [
        ("r0000", "ok", 1), ("r0001", "ok", 1), ("r0001r1", "ok", 1), ("r0002", "ok", 2), ("r0003", "failed", 2),
    ]  # fmt: skip
    assert (found.configurations, found.n_asked) == ([{"threads": 1}, {"threads": 2}], [2, 2])
    assert found.noise is not None and found.noise.changed == "no"
    assert found.ceiling is not None and [part.n_cpus for part in found.ceiling.kinds["arithmetic"]] == [1, 2]
    assert (found.accepted, found.end_reason, found.warnings) == ([("kernel", "6.12.0", "6.12.1")], "complete", [])
    assert found.notes == [("block 1 began on a busy machine: used by others: CPU 1 98 %", "busy")]


def test_the_golden_verdicts_are_those_of_the_golden_records() -> None:
    found = table.load(GOLDEN)
    asked = requirements(found.study)
    judged = {e["run"]: judge(read_record(e["record"]), asked) for e in EVENTS if e["event"] == "run"}
    kept = {e["run"]: (e["verdict"], e["causes"]) for e in EVENTS if e["event"] == "verdict"}
    assert kept == {name: (it.verdict, [cause.journal_entry() for cause in it.causes]) for name, it in judged.items()}
    assert {verdict for verdict, _ in kept.values()} == {"clean", "disturbed", "failed"}


@pytest.mark.parametrize("line", REJECTED)
def test_a_golden_broken_line_is_refused_where_it_is(line: str, tmp_path: Path) -> None:
    """`line` takes the place of that `number`, and is the last."""
    broken = json.loads(line)
    before = LINES[: broken["number"] - 1]
    (tmp_path / "journal.jsonl").write_text("\n".join([*before, broken["line"]]) + "\n", encoding="utf-8")
    done = scalograph(["analyze", "journal.jsonl"], tmp_path)
    assert done.code == 6 and done.printed.startswith(f"error: journal.jsonl:{broken['number']}: {broken['found']}")
    assert not (tmp_path / "findings.json").exists()
