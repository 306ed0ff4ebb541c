"""What the probe benchmarks share: the probe and its peers, interleaved rounds, a journal to resume from, the table."""

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = Path("scalograph-results") / "benchmarks"
SECOND = 1_000_000_000
Round = Mapping[str, list[float]]
FLAGS = {
    "probe_spin": ["-O2", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none"],
    "probe_tree": ["-O2"],
    "probe_broadcast": ["-O2"],
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
    """Compiles a program of this folder."""
    compiler = shutil.which("cc") or sys.exit("cc: found none, expected a C compiler; install one")
    program = folder / name
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


def main(
    name: str,
    one_round: Callable[[Path], Round],
    figures: Callable[[Round], list[Figure]],
    rounds: tuple[int, int],
) -> None:
    """Measure, print the table; a long run appends each round to a journal and resumes from it.

    Args:
        name: of the journal.
        one_round: measures every tool once or in a short block, in one folder that all rounds share.
        figures: from the values of all rounds, name by name.
        rounds: of the long and of the quick version.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{rounds[1]} rounds, no journal")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    parser.add_argument("--journal", type=Path, default=RESULTS / f"{name}.jsonl", help="of the long version")
    args = parser.parse_args()
    n, journal = (rounds[1], None) if args.quick else (rounds[0], args.journal)
    known = _read(journal)[:n]
    with tempfile.TemporaryDirectory() as folder:
        while len(known) < n:
            known.append(one_round(Path(folder)))
            if journal:
                _append(journal, known[-1])
    names = dict.fromkeys(key for found in known for key in found)
    _show(figures({key: [v for found in known for v in found.get(key, [])] for key in names}), args.json)


def _show(found: list[Figure], as_json: bool) -> None:
    if as_json:
        for figure in found:
            print(json.dumps({**asdict(figure), "verdict": figure.verdict}))
        return
    print(f"{'figure':58} {'measured':>12}  {'target':>12}  {'verdict':8} {'runs':>5}  note")
    for figure in found:
        measured = "unknown" if figure.value is None else f"{figure.value:.4g} {figure.unit}"
        target = "" if figure.target is None else f"{figure.target[0]} {figure.target[1]:g} {figure.unit}"
        print(f"{figure.name:58} {measured:>12}  {target:>12}  {figure.verdict:8} {figure.n:5}  {figure.note}")


def _fingerprint() -> str:
    """Digest of everything the figures depend on: a round of other code is not resumed from."""
    digest = hashlib.sha256(Path(PROBE).read_bytes())
    for path in sorted(HERE.glob("probe_*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _read(journal: Path | None) -> list[Round]:
    if journal is None or not journal.exists():
        return []
    found = []
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # a torn last line of a stopped benchmark
            continue
        if entry["code"] == _fingerprint():
            found.append(entry["round"])
    return found


def _append(journal: Path, found: Round) -> None:
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"code": _fingerprint(), "round": found}) + "\n")
