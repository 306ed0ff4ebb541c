"""Is a run blamed on neighbors for what it does to itself? 512 threads on 2 CPUs, 100 runs, on a quiet machine.

They preempt each other all the time: threads that only work, and threads of which one works while the rest wait for
its lock. Only runs count during which an independent witness saw nobody else run (verdict_witness.py); what the
hypervisor took meanwhile is no neighbor's either. How many stay undecided is told: some switch too often for records.
"""

import random
from functools import partial
from pathlib import Path

from probe_common import Figure
from probe_rounds import Round, main
from verdict_common import SEED, UNDECIDED, Work, flagged, record
from verdict_witness import witnessed

from scalograph.verdict.judge import judge

THREADS = 512
LENGTHS = (0.1, 0.5, 2.2)
KINDS = {"working": (), "with a lock": ("lock",)}


def one_round(folder: Path, number: int) -> Round:
    """One run of each kind and length, in an order drawn from the number of the round."""
    work, found = Work(folder), {}
    cases = [(kind, length) for kind in KINDS for length in LENGTHS]
    for kind, length in random.Random(SEED * 1000 + number).sample(cases, len(cases)):
        # Work for both CPUs; a lock leaves one of them idle.
        seconds = length * (1 if KINDS[kind] else 2)
        argv = work.argv(seconds, THREADS, *KINDS[kind])
        made, seen = witnessed(folder, partial(record, argv))
        judgment = judge(made)
        found[f"flag {kind} {length}"] = [flagged(judgment)]
        names = [c.cause for c in judgment.causes] if judgment.verdict == "disturbed" else []
        found[f"blamed {kind} {length}"] = [float("neighbor" in names)]
        found[f"still {kind} {length}"] = [float(seen.alone)]
    return found


def figures(found: Round) -> list[Figure]:
    """Runs blamed on neighbors, of each kind and length; beside it what else became of them."""
    return [_of(found, kind, length) for kind in KINDS for length in LENGTHS]


def _of(found: Round, kind: str, length: float) -> Figure:
    parts = (found[f"{key} {kind} {length}"] for key in ("flag", "blamed", "still"))
    every = list(zip(*parts, strict=True))
    flags = [flag for flag, _, still in every if still]
    n, n_blamed = len(flags), sum(flag == 1.0 and blamed == 1.0 for flag, blamed, still in every if still)
    others = flags.count(1.0) - n_blamed
    note = f"{flags.count(0.0)} clean, {flags.count(UNDECIDED)} undecided, {others} disturbed by something else"
    note += f"; {len(every) - n} set aside by the witness"
    name = f"{THREADS} threads, {kind}, {length} s: blamed on neighbors"
    return Figure(name, n_blamed if n else None, "", ("<=", 0), note, n)


if __name__ == "__main__":
    main("verdict_oversubscription", one_round, figures, rounds=(100, 2))
