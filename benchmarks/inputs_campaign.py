"""Is any input answered by one message and its exit code? Studies, journals, lines, tables, documents, command lines.

Each seed is one input: a kept one that was mutated, or one made by a grammar. It is read through the entry that a user
has, in a process that is used again, with 10 s of CPU time and 1 GB beyond the program. Counted are tracebacks, inputs
above a limit, wrong exit codes, refusals without a message, warnings of libraries. `--one SEED` shows an input again.
"""

import argparse
import json
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

from command_common import ENVIRONMENT, ROOT, Figure, _show
from inputs_cases import KINDS, case, kind_of

FULL, QUICK, BATCH = 100_000, 500, 1500
KEPT = ROOT / "scalograph-results" / "benchmarks" / "inputs_campaign.json"
DEFECTS = ("traceback", "over 10 s", "over 1 GB", "injection", "wrong exit code", "no message", "warning of a library")
# A worker finds these modules as they stand here.
WORKER = {**ENVIRONMENT, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'benchmarks'}"}


def main() -> None:
    """Run the campaign from where it was stopped, or show one input."""
    args = _arguments()
    if args.one is not None:
        show(args.one)
        return
    n = QUICK if args.quick else args.inputs
    known = {} if args.quick else _kept()
    counts, finds = Counter(known.get("counts", {})), dict(known.get("finds", {}))
    cpu_s, begin = float(known.get("cpu_s", 0)), time.monotonic()
    for first in range(int(known.get("next", 0)), n, BATCH):
        for ended in parallel(first, min(n, first + BATCH), args.workers):
            cpu_s += ended["cpu_s"]
            counts[kind_of(ended["seed"])] += 1
            if ended["defect"]:
                counts[ended["defect"]] += 1
                finds.setdefault(f"{ended['defect']}: {ended['place']}", ended["seed"])
        if not args.quick:
            _keep({"next": first + BATCH, "counts": counts, "finds": finds, "cpu_s": cpu_s})
        if time.monotonic() - begin > 60 * args.minutes:
            break
    for figure in _figures(counts, cpu_s):
        _show(figure, args.json)
    for place, seed in finds.items():
        print(f"{sys.executable} benchmarks/inputs_campaign.py --one {seed}    # {place}", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} inputs, nothing is kept or resumed")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    parser.add_argument("--inputs", type=int, default=FULL, help=f"how many; {FULL} in full")
    parser.add_argument("--minutes", type=float, default=600, help="after which it stops, to be resumed")
    parser.add_argument("--workers", type=int, default=1, help="processes that read inputs at the same time")
    parser.add_argument("--one", type=int, metavar="SEED", help="show one input and how it ends")
    return parser.parse_args()


def parallel(first: int, last: int, workers: int) -> Iterator[dict[str, Any]]:
    """How each of some seeds ended, which several processes read at the same time."""
    ends = [first + (last - first) * part // workers for part in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        for part in pool.map(lambda pair: list(batch(*pair)), pairwise(ends)):
            yield from part


def batch(first: int, last: int) -> Iterator[dict[str, Any]]:
    """How each of some seeds ended; one that ends its process is told by that, and the others go on."""
    while first < last:
        argv = [sys.executable, "-c", "import inputs_worker; inputs_worker.main()", str(first), str(last)]
        begun, done = None, None
        with subprocess.Popen(argv, env=WORKER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None and worker.stderr is not None
            for line in worker.stdout:
                told = json.loads(line)
                begun = told.get("begun", begun)
                if "seed" in told:
                    done = told["seed"]
                    yield told
            said = worker.stderr.read()[-300:]
        if worker.returncode == 0:
            return
        if begun is None or begun == done:
            raise SystemExit(f"a worker ended with {worker.returncode} before seed {first}: {said}")
        slow = worker.returncode in (-24, -9)
        place = f"its process ended with {worker.returncode}: {said}"
        yield {"seed": begun, "code": 1, "cpu_s": 10.0, "defect": "over 10 s" if slow else "traceback", "place": place}
        first = begun + 1


def show(seed: int) -> None:
    """One input: its files, its command line, and how it ends, with the traceback if there is one."""
    import os
    import tempfile

    import inputs_worker

    given = case(seed)
    print(f"{kind_of(seed)}, exit code one of {given.codes}: scalograph {' '.join(map(repr, given.argv))}")
    folder = Path(tempfile.mkdtemp(prefix=f"input-{seed}-"))
    inputs_worker.write(given, folder)
    for name, content in given.files.items():
        print(f"{folder / name}: {len(content)} bytes")
    for name, kind in given.nodes.items():
        print(f"{folder / name}: {kind}")
    inputs_worker.prepare()
    os.chdir(folder)
    try:
        print("exit code", inputs_worker.answer(given))
    except SystemExit as ended:
        print("exit code", ended.code)


def _figures(counts: Counter[str], cpu_s: float) -> Iterator[Figure]:
    n = sum(counts[kind] for kind in KINDS)
    for kind in KINDS:
        yield Figure(f"inputs: {kind}", counts[kind], "")
    for defect in DEFECTS:
        yield Figure(defect, counts[defect], "", 0)
    yield Figure("CPU time of an input", 1e3 * cpu_s / max(1, n), "ms")


def _kept() -> dict[str, Any]:
    if not KEPT.exists():
        return {}
    known: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return known if known.pop("code", None) == _code() else {}


def _keep(known: dict[str, Any]) -> None:
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    part = KEPT.with_suffix(".part")
    part.write_text(json.dumps({"code": _code(), **known}), encoding="utf-8")
    part.replace(KEPT)


def _code() -> int:
    """Of all sources: counts of other code are not added to."""
    digest = 0
    for file in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/inputs_*.py")]):
        digest = zlib.crc32(file.read_bytes(), digest)
    return digest


if __name__ == "__main__":
    main()
