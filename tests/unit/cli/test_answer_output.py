"""Where the rest of an answer is: paths as a person would type them, commands that can be pasted."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.answer_output import short_path, study_places
from tests.golden.command import scalograph
from tests.kit import samples


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("here", "home", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_a_path_is_given_from_here_or_from_home(here: Path) -> None:
    paths = (here / "here" / "a b", here / "home" / "x", here / "other")
    assert [short_path(path) for path in paths] == ["'a b'", "~/x", str(here / "other")]


@pytest.mark.parametrize(("again", "shown"), [
    ("run study.toml --quick", "run out/study.toml --quick"),
    ("run RESULTS/study.toml    # from there", "run {here}/here/out/study.toml    # from there"),
    ("study fork-join", "study fork-join"),
])  # fmt: skip
def test_a_study_is_run_again_from_here(here: Path, again: str, shown: str) -> None:
    found: Any = samples.bare()
    found.reproduce = [f"scalograph {again}"]
    Path("out").mkdir()
    assert study_places(Path("out"), found)[-1] == ("again", f"scalograph {shown.format(here=here)}")
    assert study_places(Path("out"), found, "as it was")[-1] == ("again", "as it was")


def test_the_latest_results_have_a_short_name_and_a_page_that_is_not_made_has_a_command(here: Path) -> None:
    made = Path("results/2026")
    made.mkdir(parents=True)
    found: Any = samples.bare()
    assert dict(study_places(made, found))["report"] == "scalograph report results/2026"
    Path("results/latest").symlink_to("2026")
    (made / "report.html").touch()
    places = dict(study_places(made, found))
    assert places["report"] == "results/latest/report.html"
    assert places["tables"] == "scalograph report results/latest --tables"


def test_the_command_for_all_tables_has_every_option_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("users,rate\n" + "".join(f"{n},{n / (1 + n / 40)}\n" for n in (1, 2, 4, 8)))
    asked = ["fit", "data.csv", "--x", "users", "--y", "rate", "--weights", "none", "--predict", "16"]
    said = scalograph(asked, tmp_path)
    assert f"scalograph {' '.join(asked)} --tables" in " ".join(said.printed.split())
    again = scalograph([*asked, "--tables"], tmp_path)
    assert again.printed.count("--tables") == 1 and "11.4" in again.printed
