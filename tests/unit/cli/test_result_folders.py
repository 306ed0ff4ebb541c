"""`scalograph history` on folders of results, and `scalograph export --to FILE.svg` of one."""

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
    assert "3 results, 1 left out" in said.printed and "Cannot be said: 3 results" in said.printed
    assert "empty: no such file" in said.printed
    refused = scalograph(["history", "second"], tmp_path)
    assert refused.code == Exit.STUDY and "one of first" in refused.printed
    (tmp_path / "alone").mkdir()
    journal(tmp_path / "alone", "only")
    assert "1 result\n" in scalograph(["history", "alone"], tmp_path).printed


def test_the_newest_are_those_that_began_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_command, "MOST_RESULTS", 2)
    for name, day in (("z-first", 1), ("m-second", 2), ("a-third", 3)):
        journal(tmp_path, name)
        file = tmp_path / name / "journal.jsonl"
        file.write_text(file.read_text().replace("2026-01-01T", f"2026-01-0{day}T"))
    told = json.loads(scalograph(["history", ".", "--json"], tmp_path).printed)
    assert [one["name"] for one in told["results"]] == ["m-second", "a-third"]
    assert told["left_out"] == ["1 older result: the newest 2 are read"]


def test_one_figure_is_written_and_the_others_are_named(tmp_path: Path) -> None:
    journal(tmp_path, "a")
    said = scalograph(["export", "a", "--to", "first.svg"], tmp_path)
    told = " ".join(said.printed.split())
    assert said.code == Exit.DONE and told.startswith("first.svg: figure speedup; --figure NAME writes one of ")
    others = told.partition(" writes one of ")[2].split(", ")
    assert "wall" in others and "speedup" not in others
    for name in ("wall", "speedup"):
        said = scalograph(["export", "a", "--to", f"{name}.svg", "--figure", name], tmp_path)
        assert said.code == Exit.DONE and f"figure {name};" in " ".join(said.printed.split())
    first, named, other = ((tmp_path / f"{name}.svg").read_text() for name in ("first", "speedup", "wall"))
    assert first == named != other
