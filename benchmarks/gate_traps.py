"""Is a program called equivalent or faster that takes longer and no more CPU time? Six kinds of it, beside a neighbor.

More sleep, more work for one thread alone, a lock that is held longer, a slower end of a pipe, a slower clock, a slower
daemon: of each, `ab` compares two builds of `gate_traps.c`, ten pairs of 0.1 s, while another process comes and goes.
"""

import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import probe_rounds
from gate_peers import NOT_SAID, numbers, said_words, share
from gate_tools import SECONDS, ab, compiled, imported_sources
from probe_common import Figure, median
from probe_rounds import Round
from verdict_common import SEED, Work, coming_and_going, neighbors

ROUNDS = 60
PRESENT = (0.25, 0.5, 0.75)
TRAPS = {
    "sleep": "sleeps 50 instead of 25 ms",
    "serial": "one of two threads works alone, 45 instead of 10%",
    "lock": "a lock of two threads, 80 instead of 20%",
    "pipe": "the slower end of a pipe, 80 instead of 50%",
    "ticker": "works at each tick of 10.5 instead of 10 ms",
    "client": "a daemon outside the run works 25% longer",
}


def trap_builds(folder: Path, per_second: float) -> None:
    """Compile `base` and `worse` of each trap, once."""
    turns, socket = int(per_second * SECONDS), f'"{folder / "daemon"}"'
    for trap in TRAPS:
        if not (folder / trap).exists():
            for worse, name in enumerate(("base", "worse")):
                macros = {"TRAP": f'"{trap}"', "TURNS": turns, "WORSE": worse, "SOCKET": socket}
                compiled(folder / trap / name, "gate_traps.c", **macros)


@contextmanager
def daemon(folder: Path) -> Iterator[None]:
    """Serve the clients meanwhile, from outside of any run."""
    socket = folder / "daemon"
    socket.unlink(missing_ok=True)
    with subprocess.Popen([folder / "client" / "base" / "work", "daemon"]) as process:
        try:
            while not socket.exists() and process.poll() is None:
                time.sleep(0.01)
            yield
        finally:
            process.kill()


def one_round(folder: Path, number: int) -> Round:
    """Each trap once, in random order, beside the same other process."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    trap_builds(folder, work.per_second)
    scene = coming_and_going(draw, PRESENT[number % len(PRESENT)])
    found: dict[str, list[float]] = {}
    for trap in draw.sample(sorted(TRAPS), len(TRAPS)):
        with daemon(folder), neighbors(work.program, scene):
            begin = time.monotonic()
            told = ab(folder / trap, "base", "worse")
            took_s = time.monotonic() - begin
        shutil.rmtree(folder / trap / "results", ignore_errors=True)
        found |= {f"{trap} {key}": [value] for key, value in numbers(told, took_s).items()}
    return found


def figures(found: Round) -> list[Figure]:
    """Of each trap: how often it was fallen into, and how often it was found."""
    return [figure for trap in TRAPS if f"{trap} said" in found for figure in _of_trap(found, trap)]


def _of_trap(found: Round, trap: str) -> Iterator[Figure]:
    said, ratios = said_words(found[f"{trap} said"]), [one for one in found[f"{trap} ratio"] if one != NOT_SAID]
    typical, took = median(ratios), median(found[f"{trap} took"])
    note = f"{TRAPS[trap]}; {took:.1f} s" + ("" if typical is None else f"; ratio {typical:.3f}")
    yield share(f"{trap}: called equivalent or faster", said, ("passed", "faster"), ("<=", 0.0), note)
    yield share(f"{trap}: found", said, ("slower",))


if __name__ == "__main__":
    probe_rounds.DEPENDS.append(imported_sources)
    probe_rounds.main("gate_traps", one_round, figures, rounds=(ROUNDS, 3))
