"""When each of several workers ended, as a row of the table has it."""

from pathlib import Path
from typing import Any

from scalograph.findings import table
from scalograph.findings.row import Row
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID


def row_of(folder: Path, found: dict[str, Any], text: str = VALID) -> Row:
    (row,) = table.load(write_journal(folder / "journal.jsonl", [(CONFIGURATIONS[0], found)], text)).rows
    return row


def copies(found: dict[str, Any], ends_s: list[float | None]) -> dict[str, Any]:
    (one,) = found["copies"]
    ends = [None if end is None else round(end * 1e9) for end in ends_s]
    return {**found, "copies": [{**one, "copy": i, "end_ns": end} for i, end in enumerate(ends)]}


def test_copies_end_with_their_last_iteration_or_with_their_process(tmp_path: Path) -> None:
    found = copies(recorded(3.0, iterations=[(1.0, 1.0, 5), (1.0, 1.0, 5)]), [2.5, 3.0])
    found["copies"][1]["command"] = 1  # of a command that reports nothing
    text = VALID.replace("runs = 3", "runs = 3\niterations = 2")
    assert row_of(tmp_path, found, text).finish_s == (2.0, 3.0)


def test_one_end_that_is_not_known_leaves_out_all(tmp_path: Path) -> None:
    assert row_of(tmp_path, copies(recorded(3.0), [2.5, None])).finish_s == ()


def test_threads_tell_it_themselves(tmp_path: Path) -> None:
    assert row_of(tmp_path, recorded(values={"finish_ns": [1e9, 2e9]})).finish_s == (1.0, 2.0)


def test_one_worker_and_a_failed_run_have_none(tmp_path: Path) -> None:
    assert row_of(tmp_path, recorded()).finish_s == ()
    assert row_of(tmp_path, copies(recorded(status="timeout"), [1.0, 2.0])).finish_s == ()
