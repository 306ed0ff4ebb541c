"""What a command imports, and which way imports may point: by what happened, and by the sources."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import pytest

from tests.kit import ROOT
from tests.kit.sources import FILES, readers, trees

pytestmark = readers
HEAVY = {"numpy", "scipy", "polars", "plotly", "jinja2"}
# What works on numbers and journals must work on any machine: it cannot even reach what runs something.
RUNNING = ("scalograph.run", "scalograph.control")
OFFLINE = (
    "analysis",
    "simulate",
    "verdict",
    "protocol",
    "findings",
    "report",
    "exchange",
    "profile.recording",
    "profile.profile_tables",
)


def imported(*arguments: str) -> set[str]:
    """Top-level modules that a command imports."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-X", "importtime", "-m", "scalograph", *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize("arguments", [
    ("--help",),
    ("--version",),
    ("check", "studies/thread-scaling/study.toml"),
    ("study", "--list"),
    ("reproduce", "--help"),
    ("reproduce", "--list"),
], ids=" ".join)  # fmt: skip
def test_a_quick_command_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    found = imported(*arguments)
    assert "typer" in found
    assert not found & HEAVY


def named(tree: ast.Module) -> Iterator[str]:
    """Names that a file imports, those inside functions too; `from a import b` may be `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, "a relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports() -> dict[str, set[str]]:
    """Every module and those that it imports by name."""
    return {name: FILES.keys() & set(named(tree)) for name, tree in trees().items()}


def inside(name: str, room: str) -> bool:
    return name == room or name.startswith(room + ".")


def reach(room: str) -> dict[str, str]:
    """Every module that a room imports, at first or second hand -> who imports it."""
    waiting = [name for name in imports() if inside(name, f"scalograph.{room}")]
    found: dict[str, str] = dict.fromkeys(waiting, room)
    while waiting:
        name = waiting.pop()
        for other in imports()[name] - found.keys():
            found[other] = name
            waiting.append(other)
    return found


@pytest.mark.parametrize("room", OFFLINE)
def test_what_reads_never_reaches_what_runs(room: str) -> None:
    found = reach(room)
    assert len(found) > 1
    wrong = {name: by for name, by in found.items() if any(inside(name, running) for running in RUNNING)}
    assert wrong == {}


def test_a_study_knows_units_and_errors_only() -> None:
    # The names of the questions are strings, on whichever floor they are read.
    known = (
        "scalograph.study",
        "scalograph.protocol",
        "scalograph.text",
        "scalograph.errors",
        "scalograph.questions.registry",
    )
    assert {name for name in reach("study") if not any(inside(name, k) for k in known)} - {"scalograph"} == set()


def test_numbers_know_numbers_only() -> None:
    outside = {name for room in ("analysis", "simulate") for name in reach(room)}
    assert {name.split(".")[1] for name in outside - {"scalograph"}} <= {"analysis", "simulate", "errors"}


def test_the_sources_were_read() -> None:
    assert "scalograph.run.loop" in reach("run.session") and "scalograph.run.hosts.base" in reach("cli")
