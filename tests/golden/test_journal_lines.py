"""The golden events of protocol/examples: a whole journal, and lines that are refused where they are broken."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scalograph.findings import table
from scalograph.protocol.journal import read
from scalograph.protocol.record import Record
from scalograph.verdict.judge import judge, requirements
from tests.golden.command import scalograph
from tests.kit import ROOT

PROTOCOL = ROOT / "protocol"
GOLDEN = PROTOCOL / "examples" / "journal_events.jsonl"
LINES = GOLDEN.read_text(encoding="utf-8").splitlines()
REJECTED = (PROTOCOL / "examples" / "journal_events_rejected.jsonl").read_text(encoding="utf-8").splitlines()


def documented() -> dict[str, set[str]]:
    """Event -> its fields, as the table of journal.md has them."""
    page = (PROTOCOL / "journal.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", page, re.MULTILINE)
    return {event: set(re.findall(r"`(\w+)`", fields)) for event, fields in rows}


def golden() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINES]


def test_every_event_of_the_page_has_a_golden_line_with_all_of_its_fields() -> None:
    fields: dict[str, set[str]] = {}
    for event in golden():
        fields.setdefault(event["event"], set()).update(set(event) - {"event", "at"})
    assert fields == documented()


def test_the_golden_events_are_a_journal_as_it_reads() -> None:
    torn: list[str] = []
    records = [
        event | {"record": msgspec.convert(event["record"], Record)} if "record" in event else event
        for event in golden()
    ]
    assert list(read(GOLDEN, torn)) == records and not torn
    found = table.load(GOLDEN)
    assert [row.run for row in found.rows] == ["r0000", "r0001", "r0001r1", "r0002", "r0003"]
    assert [row.status for row in found.rows] == ["ok", "ok", "ok", "ok", "failed"]
    assert [row.boot for row in found.rows] == [1, 1, 1, 2, 2]
    assert (found.configurations, found.n_asked) == ([{"threads": 1}, {"threads": 2}], [2, 2])
    assert found.noise is not None and found.noise.changed == "no"
    assert found.ceiling is not None and [part.n_cpus for part in found.ceiling.kinds["arithmetic"]] == [1, 2]
    assert found.accepted == [("kernel", "6.12.0", "6.12.1")]
    assert (found.notes, found.end_reason) == (
        [("block 1 began on a busy machine: used by others: CPU 1 98 %", "busy")],
        "complete",
    )
    assert not found.warnings


def test_the_golden_verdicts_are_those_of_the_golden_records() -> None:
    found = table.load(GOLDEN)
    asked = requirements(found.study)
    judged = {e["run"]: judge(msgspec.convert(e["record"], Record), asked) for e in golden() if e["event"] == "run"}
    told = {e["run"]: (e["verdict"], e["causes"]) for e in golden() if e["event"] == "verdict"}
    assert {
        name: (one.verdict, [cause.journal_entry() for cause in one.causes]) for name, one in judged.items()
    } == told
    assert {verdict for verdict, _ in told.values()} == {"clean", "disturbed", "failed"}


@pytest.mark.parametrize("line", REJECTED)
def test_a_golden_broken_line_is_refused_where_it_is(line: str, tmp_path: Path) -> None:
    """`line` takes the place of that `number`, and is the last."""
    broken = json.loads(line)
    before = LINES[: broken["number"] - 1]
    (tmp_path / "journal.jsonl").write_text("\n".join([*before, broken["line"]]) + "\n", encoding="utf-8")
    found = scalograph(["analyze", "journal.jsonl"], tmp_path)
    assert found.printed.startswith(f"journal.jsonl:{broken['number']}: {broken['found']}")
    assert found.code == 6
    assert not (tmp_path / "findings.json").exists()
