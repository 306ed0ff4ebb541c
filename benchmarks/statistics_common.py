"""What the statistics benchmarks share: figures with targets, a journal to resume from, the table."""

import argparse
import hashlib
import json
import sys
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

SEED = 7
RESULTS = Path("scalograph-results") / "benchmarks"
Measure = Callable[[np.random.Generator, int], tuple[float, float, str]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured share, in percent, and what it should be.

    Attributes:
        name: what was measured; unique within a benchmark.
        value: the share, in percent.
        error: its standard error, in percent points.
        target: lowest and highest share that count as reached; None where the figure is a contrast.
        note: one more figure, in words.
        n: simulated cases.
    """

    name: str
    value: float
    error: float
    target: tuple[float, float] | None
    note: str
    n: int

    @property
    def verdict(self) -> str:
        """Whether the target is reached."""
        if self.target is None:
            return "contrast"
        return "reached" if self.target[0] <= self.value <= self.target[1] else "MISSED"


@dataclass(frozen=True, slots=True)
class Case:
    """A figure to be measured.

    Attributes:
        name: as in `Figure`.
        target: as in `Figure`.
        measure: takes a source of randomness and the number of cases, gives value, error and note.
        share_of_n: of the cases of this version, for figures that take longer or less long.
        fixed_n: cases of both versions, where the target names their number.
    """

    name: str
    target: tuple[float, float] | None
    measure: Measure
    share_of_n: float = 1.0
    fixed_n: int | None = None


def share(hits: int, n: int, note: str = "") -> tuple[float, float, str]:
    """A share in percent with its standard error."""
    p = hits / n
    return 100 * p, 100 * float(np.sqrt(p * (1 - p) / n)), note


def main(name: str, cases: list[Case], n_long: int, n_quick: int) -> None:
    """Measure all cases, print the table; a long run appends to a journal and resumes from it."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{n_quick} cases a figure, no journal")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    parser.add_argument("--journal", type=Path, default=RESULTS / f"{name}.jsonl", help="of the long version")
    args = parser.parse_args()
    n, journal = (n_quick, None) if args.quick else (n_long, args.journal)
    known = _read(journal)
    if not args.json:
        print(f"{'figure':66} {'measured':>14}  {'target':>9}  {'verdict':8}  note")
    for case in cases:
        figure = known.get(case.name) or _measure(case, case.fixed_n or max(1, int(n * case.share_of_n)))
        if journal and case.name not in known:
            _append(journal, figure)
        _show(figure, args.json)


def _measure(case: Case, n: int) -> Figure:
    # Each figure has its own stream, so that order and resuming change nothing.
    rng = np.random.default_rng([SEED, zlib.crc32(case.name.encode())])
    value, error, note = case.measure(rng, n)
    return Figure(case.name, value, error, case.target, note, n)


def _show(figure: Figure, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**asdict(figure), "verdict": figure.verdict}), flush=True)
        return
    target = "" if figure.target is None else "{:g}-{:g}%".format(*figure.target)
    measured = f"{figure.value:5.1f} +-{figure.error:.1f}%"
    print(f"{figure.name:66} {measured:>14}  {target:>9}  {figure.verdict:8}  {figure.note}", flush=True)


def _fingerprint() -> str:
    """Digest of everything the figures depend on: a figure of other code is not resumed from."""
    root = Path(__file__).resolve().parents[1]
    sources = [*root.glob("src/scalograph/analysis/*.py"), *root.glob("benchmarks/simulate/*.py")]
    sources += root.glob("benchmarks/statistics_*.py")
    digest = hashlib.sha256(str(SEED).encode())
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _read(journal: Path | None) -> dict[str, Figure]:
    if journal is None or not journal.exists():
        return {}
    found = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # a torn last line of a stopped benchmark
            continue
        if entry.pop("code") == _fingerprint():
            entry["target"] = None if entry["target"] is None else tuple(entry["target"])
            found[entry["name"]] = Figure(**entry)
    return found


def _append(journal: Path, figure: Figure) -> None:
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a", encoding="utf-8") as out:
        out.write(json.dumps({**asdict(figure), "code": _fingerprint()}) + "\n")
