"""`scalograph history` on folders of results."""

from pathlib import Path

from scalograph.errors import Exit

from ...golden.command import scalograph
from .test_compare import journal


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
