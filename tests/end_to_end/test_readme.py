"""Every command of the README, in order, in one shell, as a newcomer would type it."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Where a machine is busy, runs are left out and the code is 5: both are success for a reader.
SUCCESS = (0, 5)


def blocks() -> list[str]:
    return re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_commands_of_the_readme(tmp_path: Path) -> None:
    commands = [block for block in blocks() if "make demo" not in block]
    # `activate` belongs to the repository's own environment; here the interpreter of the tests stands for it.
    script = "\n".join(commands).replace("source .venv/bin/activate", "")
    guarded = "set -u\ntrap 'c=$?; [ $c -eq 5 ] || exit $c' ERR\n" + script
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", guarded], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode in SUCCESS, done.stdout + done.stderr
    results = tmp_path / "first" / "results"
    made = {path.name for path in results.iterdir()}
    assert made >= {"study.toml", "design.jsonl", "journal.jsonl", "findings.json", "report.html"}
    assert "first/study.toml" not in done.stderr
    assert (tmp_path / "first" / "results.csv").read_text().count("\n") > 30
    assert (tmp_path / "first" / "results.parquet").stat().st_size > 0


def test_make_knows_both_commands() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^demo:", makefile, re.MULTILINE) and re.search(r"^test:", makefile, re.MULTILINE)
    assert re.search(r"^make test$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
