"""How long does a command take that only reads and answers? Median of 20 from fork to exit, and what it imports.

A person notices a wait from about 100 ms on; most of the time below goes into importing what parses the command line.
All are started in turn, so that a busy spell hits all of them; the note has the fastest, which it did not.
"""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from command_common import ENVIRONMENT, ROOT, Figure, command, main, run

HEAVY = {"numpy", "scipy", "polars", "plotly", "jinja2"}
STUDY, SEARCH = "studies/thread-scaling/study.toml", "studies/break-even/study.toml"
# What is asked -> milliseconds
TARGETS = {
    ("--help",): 150,
    ("--version",): 150,
    ("study", "--list"): 400,
    ("check", STUDY): 400,
    ("plan", SEARCH): 2000,
    ("doctor",): 5000,
}
# A search is planned with points and noise, as numbers.
NEEDED = {("plan", SEARCH): {"numpy"}}
FLOORS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import typer'": [sys.executable, "-c", "import typer"],
}


def figures(quick: bool) -> Iterator[Figure]:
    """The interpreter alone for comparison, then each command with its imports."""
    commands = {_name(arguments): command(*arguments) for arguments in TARGETS}
    found = _rounds({**FLOORS, **commands}, 5 if quick else 20)
    for name in FLOORS:
        yield _wall(name, found[name], None)
    for arguments, limit in TARGETS.items():
        yield _wall(_name(arguments), found[_name(arguments)], limit)
        modules = _imported(arguments)
        heavy = sorted({module.partition(".")[0] for module in modules} & HEAVY - NEEDED.get(arguments, set()))
        yield Figure(
            "  heavy libraries it imports", len(heavy), "", 0, ", ".join(heavy) or f"of {len(modules)} modules"
        )


def _name(arguments: tuple[str, ...]) -> str:
    return "scalograph " + " ".join(arguments)


def _wall(name: str, walls_ms: list[float], limit: float | None) -> Figure:
    return Figure(name, median(walls_ms), "ms", limit, f"fastest {min(walls_ms):.0f} ms")


def _rounds(commands: dict[str, list[str]], n: int) -> dict[str, list[float]]:
    """Wall times in ms; the round before the first writes bytecode and does not count."""
    rounds = [{name: 1e3 * run(argv).wall_s for name, argv in commands.items()} for _ in range(n + 1)]
    return {name: [found[name] for found in rounds[1:]] for name in commands}


def _imported(arguments: tuple[str, ...]) -> set[str]:
    argv = [sys.executable, "-X", "importtime", *command(*arguments)[1:]]
    done = subprocess.run(argv, env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


if __name__ == "__main__":
    main(figures, "median of 5")
