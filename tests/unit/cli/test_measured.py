"""What stands above and below the answer of `measure` and `find`."""

import subprocess
import sys
from pathlib import Path

import pytest

from scalograph.cli import measure_output
from scalograph.cli.command_line_study.declaration import CommandStudy
from scalograph.cli.options import CommandOptions
from scalograph.cli.sweep_options import SweepOptions
from scalograph.errors import HostError, StudyError


def measure(output: Path) -> None:
    options = CommandOptions(command=["true"], output=output)
    measure_output.run_measurement(CommandStudy(("true",)), SweepOptions(), options)


def test_a_folder_with_results_goes_on_with_the_study_that_lies_there(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("{}\n")
    with pytest.raises(StudyError, match=rf"go on with: scalograph run {tmp_path}/study.toml --resume -o {tmp_path}$"):
        measure(tmp_path)


def test_an_unreadable_folder_is_told_where_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    def run(*_: object) -> None:
        raise HostError("out", "cannot be made: Permission denied", "a writable folder")

    monkeypatch.setattr(measure_output, "refuse_taken", refuse)
    monkeypatch.setattr(measure_output, "_run", run)
    with pytest.raises(HostError, match="cannot be made"):
        measure(tmp_path)


def test_a_command_alone_waits_for_no_scipy() -> None:
    modules = "cli.measure_output, cli.pipeline, cli.command_line_study.show, questions.assemble, report.html"
    lines = [f"import scalograph.{name}" for name in modules.split(", ")]
    code = "\n".join([*lines, "import sys", "sys.exit('scipy' in sys.modules)"])
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
