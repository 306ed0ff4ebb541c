"""What the benchmarks of probe and verdicts share: the probe and its peers, figures with targets, small arithmetic."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SECOND = 1_000_000_000
FLAGS = {
    "probe_spin": ["-O2", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none"],
    "probe_tree": ["-O2"],
    "probe_broadcast": ["-O2"],
    "verdict_work": ["-O2", "-pthread"],
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure, and the highest or lowest value that counts as reached.

    Attributes:
        name: what was measured.
        value: the figure, in `unit`.
        unit: of value and target.
        target: `("<=", limit)` or `(">=", limit)`; None where the figure stands for comparison.
        note: one more figure, in words.
        n: runs behind it.
    """

    name: str
    value: float | None
    unit: str
    target: tuple[str, float] | None
    note: str
    n: int

    @property
    def verdict(self) -> str:
        """Whether the target is reached."""
        if self.value is None:
            return "unknown"
        if self.target is None:
            return ""
        sign, limit = self.target
        return "reached" if (self.value <= limit if sign == "<=" else self.value >= limit) else "MISSED"


def find_probe() -> str:
    """The program of SCALOGRAPH_PROBE, beside the interpreter, on PATH, or as cargo left it."""
    beside = Path(sys.prefix) / "bin" / "scalograph-probe"
    built = HERE.parent / "probe" / "target" / "release" / "scalograph-probe"
    named = os.environ.get("SCALOGRAPH_PROBE")
    for candidate in (named, str(beside), shutil.which("scalograph-probe"), str(built)):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    sys.exit("scalograph-probe: found none, expected one; run `make setup`, or set SCALOGRAPH_PROBE")


PROBE = find_probe()


def peers(*names: str) -> dict[str, str]:
    """The tools of these names that are on PATH; says which are missing."""
    found = {name: path for name in names if (path := shutil.which(name))}
    for name in names:
        if name not in found:
            print(f"peer missing: {name} is not on PATH", file=sys.stderr)
    return found


def build(name: str, folder: Path) -> str:
    """Compiles a program of this folder, once."""
    program = folder / name
    if not program.exists():
        compiler = shutil.which("cc") or sys.exit("cc: found none, expected a C compiler; install one")
        subprocess.run([compiler, *FLAGS[name], "-o", program, HERE / f"{name}.c"], check=True)
    return str(program)


def probe(argv: list[str], timeout_s: float = 60, **fields: Any) -> dict[str, Any]:
    """One run: the `run` event, with the others under `events`.

    Args:
        argv: the command.
        timeout_s: of the run.
        **fields: of the specification; `copies`, `cpus` and the like go to the command.
    """
    own = {key: fields.pop(key) for key in ("copies", "cpus", "policy", "priority") if key in fields}
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    command = {"argv": argv, "cwd": "/", "env": env, **own}
    spec = {"protocol": 1, "run": "b", "commands": [command], "timeout_ns": int(timeout_s * SECOND), **fields}
    done = subprocess.run([PROBE], input=json.dumps(spec).encode(), capture_output=True, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        sys.exit(f"probe: {events[-1] if events else done.stderr!r}")
    return {**events[-1], "events": events}


def median(values: Iterable[float]) -> float | None:
    """None without values."""
    found = list(values)
    return statistics.median(found) if found else None


def ratio(a: float | None, b: float | None) -> float | None:
    """None where either is unknown."""
    return None if a is None or not b else a / b


def quantile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
