"""Interleaved rounds: a journal to resume from, progress, the table."""

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path

from probe_common import HERE, PROBE, Figure

RESULTS = Path("scalograph-results") / "benchmarks"
Round = Mapping[str, list[float]]
Measure = Callable[[Path, int], Round]
# Of a benchmark of commands: finds the files that these run, beyond those that are loaded here.
DEPENDS: list[Callable[[], Iterable[Path]]] = []


def main(name: str, one_round: Measure, figures: Callable[[Round], list[Figure]], rounds: tuple[int, int]) -> None:
    """Measure, print the table; a long run appends each round to a journal and resumes from it.

    Args:
        name: of the journal.
        one_round: measures every tool once or in a short block, in one folder that all rounds share; gets the number
            of the round, from which whatever is drawn is drawn.
        figures: from the values of all rounds, name by name.
        rounds: of the long and of the quick version.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{rounds[1]} rounds, no journal")
    parser.add_argument("--rounds", type=int, default=rounds[0], help="so many of the long version")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    parser.add_argument("--journal", type=Path, default=RESULTS / f"{name}.jsonl", help="of the long version")
    args = parser.parse_args()
    n, journal = (rounds[1], None) if args.quick else (min(args.rounds, rounds[0]), args.journal)
    known = _read(journal)[:n]
    with tempfile.TemporaryDirectory() as folder:
        for number in _progress(name, len(known), n):
            known.append(one_round(Path(folder), number))
            if journal:
                _append(journal, known[-1])
    show(figures(together(known)), args.json)


def together(rounds: list[Round]) -> Round:
    """The values of all rounds, name by name."""
    names = dict.fromkeys(key for found in rounds for key in found)
    return {key: [v for found in rounds for v in found.get(key, [])] for key in names}


def _progress(name: str, known: int, n: int) -> Iterator[int]:
    """The rounds that are missing, counted on stderr with the time that the rest will take."""
    begin = time.monotonic()
    for number in range(known, n):
        yield number
        done = number + 1 - known
        left = (time.monotonic() - begin) / done * (n - number - 1)
        print(f"{name}: round {number + 1} of {n}, about {left / 60:.1f} min left", file=sys.stderr, flush=True)


def show(found: list[Figure], as_json: bool) -> None:
    """The table, or one JSON line a figure."""
    if as_json:
        for figure in found:
            print(json.dumps({**asdict(figure), "verdict": figure.verdict}))
        return
    print(f"{'figure':66} {'measured':>12}  {'target':>12}  {'verdict':8} {'runs':>5}  note")
    for figure in found:
        measured = "unknown" if figure.value is None else f"{figure.value:.4g} {figure.unit}"
        target = "" if figure.target is None else f"{figure.target[0]} {figure.target[1]:g} {figure.unit}"
        print(f"{figure.name:66} {measured:>12}  {target:>12}  {figure.verdict:8} {figure.n:5}  {figure.note}")


@cache
def _fingerprint() -> str:
    """Digest of everything the figures depend on: a round of other code is not resumed from."""
    digest = hashlib.sha256(Path(PROBE).read_bytes())
    ours = {Path(file) for name, file in _loaded() if "scalograph.analysis" in name or Path(file).parent == HERE}
    ours |= {file for find in DEPENDS for file in find()}
    for path in sorted(ours | set(HERE.glob("*.c"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _loaded() -> Iterator[tuple[str, str]]:
    """Names and files of the modules that are loaded."""
    for name, module in list(sys.modules.items()):
        if file := getattr(module, "__file__", None):
            yield name, str(Path(file).resolve())


def _read(journal: Path | None) -> list[Round]:
    if journal is None or not journal.exists():
        return []
    found, code = [], _fingerprint()
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # a torn last line of a stopped benchmark
            continue
        if entry["code"] == code:
            found.append(entry["round"])
    return found


def _append(journal: Path, found: Round) -> None:
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"code": _fingerprint(), "round": found}) + "\n")
