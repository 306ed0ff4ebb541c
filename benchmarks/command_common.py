"""What the benchmarks of commands share: children measured from outside, figures with targets, the table."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A child must run the sources that stand here, whatever is installed.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
# As where it is installed: nobody's Python compiles it anew at each start.
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure and what it should be; `limit` is the largest that counts as reached, None a contrast."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is reached."""
        if self.limit is None:
            return "contrast"
        return "reached" if self.value <= self.limit else "MISSED"


@dataclass(frozen=True, slots=True)
class Child:
    """What one command took."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def command(*arguments: str) -> list[str]:
    """The command line of `scalograph` from the sources."""
    return [sys.executable, "-m", "scalograph", *arguments]


def run(argv: list[str]) -> Child:
    """Run a command to its end; it must exit with 0.

    The peak is the kernel's, of this one child. It starts from the size of the parent, which is why nothing large is
    imported here.
    """
    begin = time.perf_counter()
    child = subprocess.Popen(argv, env=ENVIRONMENT, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(argv)}: exit code {child.returncode}, expected 0")
    return Child(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def main(figures: Callable[[bool], Iterable[Figure]], quick: str) -> None:
    """Print figures as they are measured; `quick` says what --quick leaves out."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    args = parser.parse_args()
    if not args.json:
        print(f"{'figure':50} {'measured':>12}  {'target':>10}  {'verdict':8}  note", flush=True)
    for figure in figures(args.quick):
        _show(figure, args.json)


def _show(figure: Figure, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**asdict(figure), "verdict": figure.verdict}), flush=True)
        return
    target = "" if figure.limit is None else f"<= {figure.limit:g}"
    measured = f"{figure.value:.4g} {figure.unit}"
    print(f"{figure.name:50} {measured:>12}  {target:>10}  {figure.verdict:8}  {figure.note}".rstrip(), flush=True)
