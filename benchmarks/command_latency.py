"""How long does a command take that only reads and answers? Median of 20 from fork to exit, and what it imports.

A person notices a wait from about 100 ms on; most of the time below goes into importing what parses the command line.
"""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from command_common import ENVIRONMENT, ROOT, Figure, command, main, run

HEAVY = {"numpy", "scipy", "polars", "plotly", "jinja2"}
STUDY = "studies/thread-scaling/study.toml"
# What is asked -> milliseconds
TARGETS = {
    ("--help",): 150,
    ("--version",): 150,
    ("study", "--list"): 400,
    ("check", STUDY): 400,
}


def figures(quick: bool) -> Iterator[Figure]:
    """The interpreter alone for comparison, then each command with its imports."""
    n = 5 if quick else 20
    yield Figure("python -c pass", _median_ms([sys.executable, "-c", "pass"], n), "ms", note="the floor")
    yield Figure("python -c 'import typer'", _median_ms([sys.executable, "-c", "import typer"], n), "ms")
    for arguments, limit in TARGETS.items():
        name = "scalograph " + " ".join(arguments)
        modules = _imported(arguments)
        yield Figure(name, _median_ms(command(*arguments), n), "ms", limit, f"{len(modules)} modules")
        heavy = sorted({name.partition(".")[0] for name in modules} & HEAVY)
        yield Figure("  heavy libraries it imports", len(heavy), "", 0, ", ".join(heavy))


def _median_ms(argv: list[str], n: int) -> float:
    run(argv)  # the first one may write bytecode
    return 1e3 * median(run(argv).wall_s for _ in range(n))


def _imported(arguments: tuple[str, ...]) -> set[str]:
    argv = [sys.executable, "-X", "importtime", *command(*arguments)[1:]]
    done = subprocess.run(argv, env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


if __name__ == "__main__":
    main(figures, "median of 5")
