"""What stands above and below an answer: paths as a person would type them, commands that can be pasted."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import measure_output
from scalograph.cli.answer_output import short_path, study_places
from scalograph.cli.command_line_study.declaration import CommandStudy
from scalograph.cli.options import CommandOptions
from scalograph.cli.sweep_options import SweepOptions
from scalograph.errors import HostError, StudyError
from tests.golden.command import scalograph
from tests.kit import samples
from tests.kit.refusals import refuses


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("here", "home", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_a_path_is_given_from_here_and_the_latest_results_have_a_short_name(here: Path) -> None:
    paths = (here / "here" / "a b", here / "home" / "x", here / "other")
    assert [short_path(path) for path in paths] == ["'a b'", "~/x", str(here / "other")]
    made = Path("results/2026")
    made.mkdir(parents=True)
    found: Any = samples.bare()
    assert dict(study_places(made, found))["report"] == "scalograph report results/2026"
    Path("results/latest").symlink_to("2026")
    (made / "report.html").touch()
    places = dict(study_places(made, found))
    assert places["report"] == "results/latest/report.html"
    assert places["tables"] == "scalograph report results/latest --tables"


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


def test_the_command_for_all_tables_has_every_option_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("users,rate\n" + "".join(f"{n},{n / (1 + n / 40)}\n" for n in (1, 2, 4, 8)))
    asked = ["fit", "data.csv", "--x", "users", "--y", "rate", "--weights", "none", "--predict", "16"]
    said = scalograph(asked, tmp_path)
    assert f"scalograph {' '.join(asked)} --tables" in " ".join(said.printed.split())
    again = scalograph([*asked, "--tables"], tmp_path)
    assert again.printed.count("--tables") == 1 and "11.4" in again.printed


def measure(output: Path) -> None:
    options = CommandOptions(command=["true"], output=output)
    measure_output.run_measurement(CommandStudy(("true",)), SweepOptions(), options)


def test_a_folder_with_results_goes_on_with_the_study_that_lies_there(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("{}\n")
    refuses(StudyError, rf"go on with: scalograph run {tmp_path}/study.toml --resume -o {tmp_path}$", measure, tmp_path)


def test_an_unreadable_folder_is_told_where_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    def run(*_: object) -> None:
        raise HostError("out", "cannot be made: Permission denied", "a writable folder")

    monkeypatch.setattr(measure_output, "refuse_taken", refuse)
    monkeypatch.setattr(measure_output, "_run", run)
    refuses(HostError, "cannot be made", measure, tmp_path)


def test_a_command_alone_waits_for_no_scipy() -> None:
    modules = "cli.measure_output, cli.pipeline, cli.command_line_study.show, questions.assemble, report.html"
    lines = [f"import scalograph.{name}" for name in modules.split(", ")]
    code = "\n".join([*lines, "import sys", "sys.exit('scipy' in sys.modules)"])
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
