import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import ProtocolError
from scalograph.findings import table
from scalograph.protocol import journal
from scalograph.questions.assemble import findings
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID


def drawn(wall_s: float, busy_ns: int) -> dict[str, Any]:
    timeline = {"bin_ns": 1000, "cpus": [0], "busy_ns": [[busy_ns]], "waiting_ns": [0], "tasks": []}
    return {**recorded(wall_s), "timeline": timeline}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two configurations with timelines, one whose run nearest the median has none."""
    walls = [(1.0, 10), (1.1, 11), (1.5, 15)]
    runs = [(configuration, drawn(*found)) for found in walls for configuration in CONFIGURATIONS[:2]]
    runs += [
        (CONFIGURATIONS[2], recorded(1.1)),
        (CONFIGURATIONS[2], drawn(3.0, 30)),
        (CONFIGURATIONS[2], recorded(1.0)),
    ]
    return write_journal(tmp_path / "journal.jsonl", runs)


def test_the_run_nearest_the_median_stands_for_its_configuration(file: Path) -> None:
    found = findings(table.load(file)).timelines
    assert [t.run for t in found] == ["r2", "r3", "r7"]
    assert [t.timeline["busy_ns"] for t in found] == [[[11]], [[11]], [[30]]]
    assert found[0].configuration == CONFIGURATIONS[0]


def test_the_measured_window_leaves_warm_up_out(tmp_path: Path) -> None:
    of_run = {**drawn(6.0, 10), "iterations": recorded(6.0, iterations=[(1.0, 1.0, 7)] * 3)["iterations"]}
    text = VALID.replace("runs = 3", "runs = 3\niterations = 3\nwarmup = 1")
    (found,) = findings(
        table.load(write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], of_run)], text))
    ).timelines
    assert found.window_ns == (1_000_000_000, 3_000_000_000)


def test_a_compressed_journal_and_one_without_observations_give_the_same(file: Path) -> None:
    packed = file.with_name("journal.jsonl.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert findings(table.load(packed, keep_observations=False)) == findings(table.load(file))


def test_lines_are_picked_without_reading_the_others(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b"not JSON\n", *lines[3:]]))
    found = journal.pick(file, {2, 4})
    assert [(n, event["run"]) for n, event in found.items()] == [(2, "r0"), (4, "r2")]


def test_a_pivot_needs_one_configuration_in_each_cell(tmp_path: Path) -> None:
    wish = '[[tables]]\ntitle = "t"\nrows = "threads"\nresponse = "wall"\n'
    runs = [(t, recorded(t["threads"] * factor)) for t in CONFIGURATIONS for factor in (1.0, 1.01)]
    for more, cells in (('columns = "lock"\n', 2), ('where = { lock = "cas" }\n', 1), ("", 0)):
        (pivot, *_) = findings(table.load(write_journal(tmp_path / "journal.jsonl", runs, VALID + wish + more))).tables
        assert [row[0] for row in pivot.rows] == [1, 2, 4]
        values = [[cell.value for cell in row[1:]] for row in pivot.rows]
        wanted = [[pytest.approx(n, rel=0.01)] * cells or [None] for n in (1, 2, 4)]
        assert values == wanted


def test_a_timeline_that_is_not_decoded_is_known_to_be_there(file: Path) -> None:
    lines = [json.dumps(json.loads(line), separators=(",", ":")) for line in file.read_text().splitlines()]
    file.write_text("\n".join(lines) + "\n")
    whole = [event["record"] for event in journal.read(file) if event["event"] == "run"]
    brief = [event["record"] for event in journal.read(file, whole=False) if event["event"] == "run"]
    assert [record.timeline is None for record in brief] == [record.timeline is None for record in whole]
    assert {record.timeline is None for record in brief} == {True, False}
    assert [record.run for record in brief] == [record.run for record in whole]
    assert not any(hasattr(record.timeline, "busy_ns") for record in brief)


def test_rows_of_other_lengths_are_a_broken_run(tmp_path: Path) -> None:
    """Each holds the same bins: nothing tells which of them is short."""
    record = recorded(1.0)
    record["timeline"] = {"bin_ns": 1000, "cpus": [0, 1], "busy_ns": [[1, 2], [1]], "waiting_ns": [0, 0], "tasks": []}
    file = write_journal(tmp_path / "journal.jsonl", [(CONFIGURATIONS[0], record)])
    with pytest.raises(ProtocolError, match="as many bins"):
        list(journal.read(file))
