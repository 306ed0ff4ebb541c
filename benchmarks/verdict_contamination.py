"""Is a run with a neighbor flagged, and a quiet one left alone? Fixed work at 1 and 2 threads on 2 CPUs.

The neighbor is ours: busy on one CPU or on both for 10, 25, 50 or 100 % of every 40 ms, started at a random moment. The
truth is the median of the quiet runs. A disturbance counts where it moved the wall time by 2 % or more. Needs a machine
that is quiet but for us: what others do is counted as a quiet run that was flagged.
"""

import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probe_common import FLAGS, Figure, Round, build, main, median, probe

from scalograph.analysis.verdict import judge

FLAGS["verdict_work"] = ["-O2", "-pthread"]
CPUS = sorted(os.sched_getaffinity(0))[:2]
SCENES = [(0, 0), *((duty, n) for duty in (10, 25, 50, 100) for n in (1, 2))]
LENGTHS = (0.1, 0.3, 1.5)
MOVED, FLAGGED, QUIET = 0.02, 95.0, 2.0


def one_round(folder: Path) -> Round:
    """Every scene once at each length and with each number of threads, in an order drawn anew."""
    program = folder / "verdict_work"
    built = str(program) if program.exists() else build("verdict_work", folder)
    scale = _units_per_second(built, folder)
    cases = [(length, threads, scene) for length in LENGTHS for threads in (1, 2) for scene in SCENES]
    random.shuffle(cases)
    found: dict[str, list[float]] = {}
    for length, threads, (duty, n) in cases:
        record = _measured(built, int(scale * length * threads), threads, duty, n)
        name = f"{length} {threads} {duty} {n}"
        found[f"wall {name}"] = [record["run"]["wall_ns"] / 1e9]
        found[f"flag {name}"] = [{"contaminated": 1.0, "clean": 0.0}.get(judge(record).verdict, 0.5)]
    return found


def _units_per_second(built: str, folder: Path) -> float:
    """Of one thread, from the fastest of three short runs; the same for all rounds."""
    kept = folder / "scale"
    if not kept.exists():
        walls = [_measured(built, 20_000_000, 1, 0, 0)["run"]["wall_ns"] / 1e9 for _ in range(3)]
        kept.write_text(str(20_000_000 / min(walls)))
    return float(kept.read_text())


def _measured(built: str, units: int, threads: int, duty: int, n: int) -> dict[str, Any]:
    """The record of one run, as the journal would hold it."""
    with _neighbors(built, duty, CPUS[:n]):
        run = probe([built, str(units), str(threads)], cpus=CPUS)
    events = run.pop("events")
    parts = {kind: [e for e in events if e["event"] == kind] for kind in ("header", "copy")}
    return {"header": parts["header"][0], "copies": parts["copy"], "iterations": [], "run": run}


@contextmanager
def _neighbors(built: str, duty: int, cpus: list[int]) -> Iterator[None]:
    running = [subprocess.Popen([built, "duty", str(duty), str(cpu)]) for cpu in cpus]
    time.sleep(0.05 + random.random() / 10)
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def figures(found: Round) -> list[Figure]:
    """What was flagged at each length, then the speedup with and without the flags."""
    return [figure for length in LENGTHS for figure in _of(found, length)] + _speedups(found)


def _of(found: Round, length: float) -> list[Figure]:
    moved: list[float] = []
    quiet: list[float] = []
    smallest: dict[int, list[float]] = {}
    for threads in (1, 2):
        truth = median(found[f"wall {length} {threads} 0 0"]) or 1.0
        quiet += found[f"flag {length} {threads} 0 0"]
        for duty, n in SCENES[1:]:
            walls, flags = (found[f"{what} {length} {threads} {duty} {n}"] for what in ("wall", "flag"))
            hit = [flag for wall, flag in zip(walls, flags, strict=True) if wall >= (1 + MOVED) * truth]
            moved += hit
            smallest.setdefault(duty, []).extend(hit)
    judged = length == LENGTHS[-1]  # of shorter runs it is told from which disturbance on they are decided
    sure = [duty for duty, hits in smallest.items() if hits and 100 * hits.count(1.0) / len(hits) >= FLAGGED]
    note = f"from a duty of {min(sure)} % on" if sure else "no duty reaches it"
    targets = (("<=", QUIET), (">=", FLAGGED)) if judged else (None, None)
    undecided = f"{quiet.count(0.5)} undecided"
    return [
        Figure(f"{length} s: quiet runs flagged", _percent(quiet), "%", targets[0], undecided, len(quiet)),
        Figure(f"{length} s: disturbed runs flagged", _percent(moved), "%", targets[1], note, len(moved)),
    ]


def _percent(flags: list[float]) -> float | None:
    return 100 * flags.count(1.0) / len(flags) if flags else None


def _speedups(found: Round) -> list[Figure]:
    """One scene of each round drawn for each run, as a busy day would: the error of the speedup that is reported."""
    draw = random.Random(1)
    length, n_rounds = LENGTHS[-1], len(found[f"wall {LENGTHS[-1]} 1 0 0"])
    quiet = {n: median(found[f"wall {length} {n} 0 0"]) or 1.0 for n in (1, 2)}
    truth = 2 * quiet[1] / quiet[2]  # twice the work with two threads
    errors: dict[str, list[float]] = {"with": [], "without": []}
    for _ in range(200):
        chosen = {n: [(draw.choice(SCENES), draw.randrange(n_rounds)) for _ in range(10)] for n in (1, 2)}
        walls = {n: [found[f"wall {length} {n} {d} {k}"][i] for (d, k), i in runs] for n, runs in chosen.items()}
        clean = {
            n: [
                found[f"wall {length} {n} {d} {k}"][i]
                for (d, k), i in runs
                if found[f"flag {length} {n} {d} {k}"][i] < 1
            ]
            for n, runs in chosen.items()
        }
        for name, sample in (("without", walls), ("with", clean)):
            if all(sample.values()):
                errors[name].append(abs(2 * (median(sample[1]) or 1) / (median(sample[2]) or 1) / truth - 1))
    return [
        Figure(
            f"speedup off by more than 10 %, {name} verdicts",
            _over(errors[name]),
            "%",
            target,
            f"of {truth:.2f}",
            len(errors[name]),
        )
        for name, target in (("with", ("<=", 0.0)), ("without", None))
    ]


def _over(errors: list[float]) -> float | None:
    return 100 * sum(error > 0.10 for error in errors) / len(errors) if errors else None


if __name__ == "__main__":
    main("verdict_contamination", one_round, figures, rounds=(30, 2))
