"""`scalograph history` on folders of results."""

import json
from pathlib import Path

import pytest

from scalograph.cli import history_command
from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.unit.cli.test_compare import journal


def test_folders_are_read_in_the_order_of_their_runs(tmp_path: Path) -> None:
    made = tmp_path / "scalograph-results" / "first"
    made.mkdir(parents=True)
    for i in range(3):
        journal(made, f"2026010{i}T000000Z-aa")
    (made / "empty").mkdir()
    (made / "latest").symlink_to("20260102T000000Z-aa")
    said = scalograph(["history", "first", "--table", "left-out"], tmp_path)
    assert said.code == Exit.DONE
    assert "3 results, 1 excluded, margin 2%" in said.printed and "Inconclusive: 3 results are" in said.printed
    assert "empty: no such file" in said.printed
    refused = scalograph(["history", "second"], tmp_path)
    assert refused.code == Exit.STUDY and "one of first" in refused.printed


def test_the_newest_are_those_that_began_last_whatever_they_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_command, "MOST_RESULTS", 2)
    for name, day in (("z-first", 1), ("m-second", 2), ("a-third", 3)):
        journal(tmp_path, name)
        file = tmp_path / name / "journal.jsonl"
        file.write_text(file.read_text().replace("2026-01-01T", f"2026-01-0{day}T"))
    told = json.loads(scalograph(["history", ".", "--json"], tmp_path).printed)
    assert [one["name"] for one in told["results"]] == ["m-second", "a-third"]
    assert told["left_out"] == ["1 older result: the newest 2 are read"]


def test_one_result_is_one(tmp_path: Path) -> None:
    journal(tmp_path, "only")
    assert "1 result, margin 2%\n" in scalograph(["history", "."], tmp_path).printed
