"""Results are read where nothing can run: without the modules and calls that only Linux, or only Unix, has."""

import subprocess
import sys
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded

ELSEWHERE = """
import os, sys

GONE = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}


class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in GONE:
            raise ImportError(f"no {name} here")


sys.meta_path.insert(0, Gone())
for name in GONE:
    sys.modules.pop(name, None)
for name in ("sched_getaffinity", "sched_setaffinity", "geteuid", "getuid", "setsid", "wait4", "fork", "pidfd_open"):
    delattr(os, name)
import scalograph
from scalograph.cli.main import _code

folder = sys.argv[1]
opened = scalograph.open(folder)
assert opened.verdict.sentence and opened.runs().height and opened._repr_html_()
for command in (["report"], ["analyze"], ["export", "--to", f"{folder}/x.csv"], ["export", "--to", f"{folder}/x.svg"]):
    assert _code([command[0], folder, *command[1:]]) == 0, command
assert _code(["compare", folder, folder]) in (0, 8)
assert _code(["gate", folder, "--against", folder]) in (0, 8)
sys.platform = "other"
assert _code(["run", "study.toml"]) == 3
"""


def test_results_are_read_on_any_system(tmp_path: Path) -> None:
    runs = [(configuration, recorded(0.5 + r / 100)) for configuration in CONFIGURATIONS for r in range(3)]
    write_journal(tmp_path / "journal.jsonl", runs)
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists() and (tmp_path / "x.svg").exists()
    assert "system: other, expected Linux" in done.stderr


@pytest.mark.parametrize("command", ["measure", "run", "study", "find", "load", "doctor", "profile", "reproduce"])
def test_what_runs_is_refused_elsewhere_in_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert _code([command, "x"]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "expected Linux" in said and "report" in said
