"""A trace as a workload tells it: three lists that agree, or none at all."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scalograph.findings import table
from scalograph.findings.run_notes import find_trace
from scalograph.protocol.record import Record
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded

WHOLE: dict[str, list[float]] = {
    "trace_start_ns": [0, 1000, 5000],
    "trace_end_ns": [4000, 3000, 5000],
    "trace_worker": [0, 1, 1],
}


def told(**changes: Any) -> Record:
    values = {name: told for name, told in (WHOLE | changes).items() if told is not None}
    return msgspec.convert(recorded(values=values), Record)


def test_a_whole_trace_is_read() -> None:
    found = find_trace(told())
    assert found is not None
    assert (found.start_ns, found.end_ns, found.worker) == ((0, 1000, 5000), (4000, 3000, 5000), (0, 1, 1))
    assert found.n_workers == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"trace_worker": None},
        {"trace_end_ns": [4000, 3000]},
        {"trace_end_ns": [4000, 999, 5000]},
        {"trace_start_ns": [-1, 1000, 5000]},
        {"trace_worker": [0, 1, 0.5]},
        {"trace_worker": [0, 1, -1]},
        {"trace_start_ns": [0] * 513, "trace_end_ns": [1] * 513, "trace_worker": [0, *[1] * 512]},
    ],
)
def test_lists_that_disagree_are_no_trace(changes: dict[str, Any]) -> None:
    assert find_trace(told(**changes)) is None


def test_what_is_not_finite_is_no_trace() -> None:
    whole = told()
    whole.values[0].values["trace_end_ns"][0] = math.inf
    assert find_trace(whole) is None


def test_512_subtasks_are_one() -> None:
    changes = {"trace_start_ns": [0] * 512, "trace_end_ns": [1] * 512, "trace_worker": [0, *[1] * 511]}
    assert find_trace(told(**changes)) is not None


def test_a_row_knows_the_line_of_a_trace_of_several_workers(tmp_path: Path) -> None:
    alone = {**WHOLE, "trace_worker": [0.0, 0.0, 0.0]}
    every: list[dict[str, list[float]]] = [alone, WHOLE, {"finish_ns": [1.0]}]
    runs = [(CONFIGURATIONS[0], recorded(values=values)) for values in every]
    rows = table.load(write_journal(tmp_path / "journal.jsonl", runs)).rows
    assert [row.trace_line for row in rows] == [None, 3, None]
