"""Is a run with a neighbor flagged, and a quiet one left alone? Fixed work at 1 and 2 threads on 2 CPUs.

The neighbor is ours: busy on one CPU or on both for 10, 25, 50 or 100% of every 40 ms, started at a random moment. The
truth is the median of the quiet runs: those without a neighbor of ours that lost less than 1% of their time, half
of what flags a run, to others and to the hypervisor, by an independent witness (verdict_witness.py). A disturbance
counts where it moved the wall time by 2% or more against it. Needs a machine that is quiet but for us.
"""

import random
import time
from itertools import chain
from pathlib import Path

from probe_common import Figure, median
from probe_rounds import Round, main
from verdict_common import DUTIES, SEED, UNDECIDED, Work, judged, neighbors, pace, percent, steady, wilson
from verdict_witness import witnessed

LENGTHS = (0.1, 0.3, 1.0, 1.5)
JUDGED = 1.5  # of shorter runs it is told from which disturbance on they are decided
QUIET = (0, 0)
# Few quiet runs are flagged, so many are needed. A scene: duty in percent, CPUs.
N_QUIET = 3
SCENES = [*[QUIET] * N_QUIET, *((duty, n) for duty in DUTIES for n in (1, 2))]
FINE = [(duty, n) for duty in (2, 5) for n in (1, 2)]
MOVED, FLAGGED, FALSELY = 0.02, 95.0, 2.0
LOST = 0.01
# Disturbances as a share of the wall time: the smallest from which on runs are flagged is one of these.
STEPS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.10, 0.20)
Case = tuple[float, int, tuple[int, int]]


def one_round(folder: Path, number: int) -> Round:
    """Every scene at each length and with each number of threads, in an order drawn from the number of the round."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    cases = [(length, n, scene) for length in LENGTHS for n in (1, 2) for scene in _scenes(length)]
    draw.shuffle(cases)
    found: dict[str, list[float]] = {}
    for case in cases:
        for key, value in _measured(folder, work, case, draw.random()).items():
            found.setdefault(f"{key} {_name(case)}", []).append(value)
    return found


def _scenes(length: float) -> list[tuple[int, int]]:
    return SCENES if length == JUDGED else [*SCENES, *FINE]


def _name(case: Case) -> str:
    length, threads, (duty, n) = case
    return f"{length} {threads} {duty} {n}"


def _measured(folder: Path, work: Work, case: Case, phase: float) -> dict[str, float]:
    """Pace and flag of one run; of a quiet one also whether the witness saw others."""
    length, threads, (duty, n) = case
    argv = work.argv(length * threads, threads)
    with neighbors(work.program, steady(duty, n)):
        time.sleep(0.05 + 0.1 * phase)
        if (duty, n) != QUIET:
            wall, flag = judged(argv)
            return {"pace": pace(wall, argv), "flag": flag}
        (wall, flag), seen = witnessed(folder, lambda: judged(argv))
        return {"pace": pace(wall, argv), "flag": flag, "still": float(seen.lost_s <= LOST * length)}


def figures(found: Round) -> list[Figure]:
    """At each length: quiet runs, disturbed runs, and the smallest disturbance that is decided."""
    return list(chain.from_iterable(_of(found, length) for length in LENGTHS))


def _of(found: Round, length: float) -> list[Figure]:
    falsely, flagged = (("<=", FALSELY), (">=", FLAGGED)) if length == JUDGED else (None, None)
    quiet = [flag for n in (1, 2) for flag in _still(found, "flag", length, n)]
    n_aside = sum(len(found[f"flag {length} {n} 0 0"]) for n in (1, 2)) - len(quiet)
    aside = f"{quiet.count(UNDECIDED)} undecided, {n_aside} set aside by the witness"
    moved = disturbances(found, length)
    hit = [flag for by, flag in moved if by >= MOVED]
    least = smallest(moved)
    decided, what = None if least is None else 100 * least, f"{length} s: from this disturbance on 95% are flagged"
    return [
        Figure(f"{length} s: quiet runs flagged", percent(quiet), "%", falsely, _with(quiet, aside), len(quiet)),
        Figure(f"{length} s: runs 2% longer or more, flagged", percent(hit), "%", flagged, _with(hit), len(hit)),
        Figure(what, decided, "%", None, "of the wall time", len(moved)),
    ]


def _with(flags: list[float], more: str = "") -> str:
    """The 95% interval of the share, and one thing more."""
    if not flags:
        return more
    low, high = wilson(flags.count(1.0), len(flags))
    return f"95%: {low:.1f} to {high:.1f}%" + (f"; {more}" if more else "")


def _still(found: Round, key: str, length: float, threads: int) -> list[float]:
    """Of the quiet runs that the witness saw undisturbed."""
    name = f"{length} {threads} 0 0"
    return [v for v, still in zip(found[f"{key} {name}"], found[f"still {name}"], strict=True) if still]


def disturbances(found: Round, length: float) -> list[tuple[float, float]]:
    """How much longer than the truth each run with a neighbor took, as a share, and its flag."""
    pairs: list[tuple[float, float]] = []
    for threads in (1, 2):
        if truth := median(_still(found, "pace", length, threads)):
            for duty, n in _scenes(length)[N_QUIET:]:
                name = f"{length} {threads} {duty} {n}"
                runs = zip(found[f"pace {name}"], found[f"flag {name}"], strict=True)
                pairs += [(taken / truth - 1, flag) for taken, flag in runs]
    return pairs


def smallest(moved: list[tuple[float, float]], least: int = 10) -> float | None:
    """The smallest step from which on 95% of the runs are flagged, in this step too; None where none is.

    Each stretch between two steps must reach 95% by itself, where it has enough runs: large disturbances, which are
    easily seen, would otherwise speak for small ones.
    """
    found = None
    for low, high in reversed(list(zip(STEPS, (*STEPS[1:], float("inf")), strict=True))):
        flags = [flag for by, flag in moved if low <= by < high]
        if len(flags) < least:
            continue
        if 100 * flags.count(1.0) / len(flags) < FLAGGED:
            break
        found = low
    return found


if __name__ == "__main__":
    main("verdict_contamination", one_round, figures, rounds=(12, 1))
