"""Timelines and traces that stand in the findings: of which runs, and how they are read from a journal."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import ProtocolError
from scalograph.findings import table
from scalograph.protocol import journal
from scalograph.protocol.findings import TaskTrace
from scalograph.questions.assemble import findings
from tests.kit.findings import CONFIGURATIONS, load_journal, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID

FIRST, SECOND, THIRD, *_ = CONFIGURATIONS


def drawn(wall_s: float, *busy_ns: list[int]) -> dict[str, Any]:
    """Return a run with a timeline: of each CPU, its time in each bin."""
    timeline = {"bin_ns": 1000, "cpus": [*range(len(busy_ns))], "busy_ns": busy_ns, "waiting_ns": [0] * len(busy_ns[0])}
    return {**recorded(wall_s), "timeline": timeline | {"tasks": []}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two configurations with timelines, one whose run nearest the median has none."""
    runs = [(each, drawn(wall, [busy])) for wall, busy in ((1.0, 10), (1.1, 11), (1.5, 15)) for each in (FIRST, SECOND)]
    runs += [(THIRD, recorded(1.1)), (THIRD, drawn(3.0, [30])), (THIRD, recorded(1.0))]
    return write_journal(tmp_path / "journal.jsonl", runs)


def test_the_timeline_nearest_the_median_stands_for_its_configuration(file: Path) -> None:
    shown = findings(table.load(file)).timelines
    assert [(t.run, t.timeline["busy_ns"]) for t in shown] == [("r2", [[11]]), ("r3", [[11]]), ("r7", [[30]])]
    assert shown[0].configuration == FIRST
    packed = file.with_name("journal.jsonl.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert findings(table.load(packed, keep_observations=False)) == findings(table.load(file))


def test_the_measured_window_leaves_warm_up_out_and_bins_must_agree(tmp_path: Path) -> None:
    run = {**drawn(6.0, [10]), "iterations": recorded(6.0, iterations=[(1.0, 1.0, 7)] * 3)["iterations"]}
    text = VALID.replace("runs = 3", "runs = 3\niterations = 3\nwarmup = 1")
    (shown,) = findings(load_journal(tmp_path, [(FIRST, run)], text)).timelines
    assert shown.window_ns == (1_000_000_000, 3_000_000_000)
    # Each holds the same bins: nothing tells which of them is short.
    file = write_journal(tmp_path / "journal.jsonl", [(FIRST, drawn(1.0, [1, 2], [1]))])
    with pytest.raises(ProtocolError, match="as many bins"):
        list(journal.read(file))


def test_lines_are_picked_and_timelines_left_undecoded(file: Path) -> None:
    lines = [json.dumps(json.loads(line), separators=(",", ":")) for line in file.read_text().splitlines()]
    file.write_text("\n".join(lines) + "\n")
    whole, brief = (
        [event["record"] for event in journal.read(file, whole=is_whole) if event["event"] == "run"]
        for is_whole in (True, False)
    )
    assert [record.timeline is None for record in brief] == [record.timeline is None for record in whole]
    assert {record.timeline is None for record in brief} == {True, False}
    assert [record.run for record in brief] == [record.run for record in whole]
    assert not any(hasattr(record.timeline, "busy_ns") for record in brief)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b"not JSON\n", *lines[3:]]))
    picked = journal.pick(file, {2, 4})
    assert [(n, event["run"]) for n, event in picked.items()] == [(2, "r0"), (4, "r2")]


def traced(wall_s: float, end_ns: float, workers: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    """Return a run with a subtask of each of these workers."""
    starts, ends = [500.0] * len(workers), [end_ns] * len(workers)
    return recorded(wall_s, values={"trace_start_ns": starts, "trace_end_ns": ends, "trace_worker": [*workers]})


def traces(folder: Path, runs: list[tuple[dict[str, Any], dict[str, Any]]], **changes: Any) -> list[TaskTrace]:
    return findings(load_journal(folder, runs, **changes)).traces


def test_the_trace_nearest_the_median_stands_for_its_configuration(tmp_path: Path) -> None:
    (one,) = traces(tmp_path, [(SECOND, traced(wall, end)) for wall, end in ((1.0, 1000), (1.1, 1100), (1.5, 1500))])
    assert (one.run, one.configuration) == ("r1", SECOND)
    assert (one.start_us, one.end_us, one.worker) == ([0.5, 0.5], [1.1, 1.1], [0, 1])
    failed = traced(1.0, 1000) | {"run": recorded(status="timeout")["run"]}
    runs = [(FIRST, traced(1.0, 1000, (0, 0))), (SECOND, traced(1.0, 400)), (THIRD, recorded()), (FIRST, failed)]
    assert traces(tmp_path, runs) == []
    configurations = [{"threads": n, "lock": lock} for n in range(1, 9) for lock in ("none", "cas")]
    runs = [(configuration, traced(1.0, 1000)) for configuration in configurations]
    design = {"configurations": configurations, "runs": [3] * 16}
    shown = traces(tmp_path, runs, text=VALID.replace('levels = "1,2,4"', 'levels = "1:8"'), design=design)
    assert len(shown) == 8
    assert (shown[0].configuration, shown[-1].configuration) == (configurations[0], configurations[-1])
