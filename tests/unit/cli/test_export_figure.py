"""`scalograph export --to FILE.svg`: the first figure, and any other by its name."""

from pathlib import Path

from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.unit.cli.test_compare import journal


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
