"""Is a daemon's CPU time counted, and is a tree that hops from process to process killed? (targets 5, 8)

The daemon (probe_tree.c) says itself what the kernel charged to it. The hopper is given up after 100 ms; whoever still
counts a little later has survived.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from probe_common import Figure, build, median, peers, probe
from probe_rounds import Round, main

FOUND = peers("time", "perf")
BURN_MS = 200
HOP_MS = 1000


def one_round(folder: Path, _number: int) -> Round:
    """One daemon and one hopper each."""
    built = folder / "probe_tree"
    tree = str(built) if built.exists() else build("probe_tree", folder)
    return {**daemon(tree, folder), **hop(tree, folder)}


def daemon(tree: str, folder: Path) -> dict[str, list[float]]:
    """The share of its CPU time that each tool saw."""
    said = folder / "said"
    argv = [tree, "daemon", str(BURN_MS), str(said)]
    run = probe(argv)
    # On a busy machine the daemon may outlive the second that it is given: then nobody knows its figure.
    found = {"probe": [] if run["n_survivors"] else [run["cpu_ns"] / truth(said)]}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seen = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found["Python, wait4"] = [seen * 1e9 / truth(said)]
    if "time" in FOUND:
        done = subprocess.run([FOUND["time"], "-f", "%U %S", *argv], capture_output=True, text=True, check=True)
        user, system = map(float, done.stderr.split()[-2:])
        found["GNU time"] = [(user + system) * 1e9 / truth(said)]
    return found


def truth(said: Path) -> float:
    """Waits for the daemon's own figure, and takes it away."""
    end = time.monotonic() + 30
    while not (said.exists() and said.read_text().endswith("\n")):
        if time.monotonic() > end:
            sys.exit("probe_tree: found no figure of the daemon after 30 s, expected one; look for errors above")
        time.sleep(0.01)
    value = float(said.read_text())
    said.unlink()
    return value


def hop(tree: str, folder: Path) -> dict[str, list[float]]:
    """Survivors: of the probe, and of killing the process group."""
    counter = folder / "counter"
    argv = [tree, "hop", str(HOP_MS), str(counter)]
    run = probe(argv, timeout_s=0.1)
    found = {f"survivors, {run['events'][0]['containment']}": [survived(counter)]}
    process = subprocess.Popen(argv, start_new_session=True)
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    found["survivors, killpg"] = [survived(counter)]
    return found


def survived(counter: Path) -> float:
    """Whether anybody still counts; then waits until nobody does."""
    if count(counter) == 0:
        sys.exit("probe_tree: found a count of 0, expected hops; give it more time")
    lives = moves(counter)
    while moves(counter):
        pass
    counter.unlink()
    return float(lives)


def moves(counter: Path) -> bool:
    first = count(counter)
    time.sleep(0.2)
    return count(counter) != first


def count(counter: Path) -> int:
    return int.from_bytes(counter.read_bytes()[:8], sys.byteorder) if counter.exists() else 0


def figures(found: Round) -> list[Figure]:
    """Shares and survivors."""
    table = []
    for name in ("probe", "GNU time", "Python, wait4"):
        if values := found.get(name):
            target = (">=", 99.0) if name == "probe" else None
            number = "5: " if name == "probe" else ""
            note = f"lowest {100 * min(values):.1f}%"
            share = 100 * (median(values) or 0)
            table.append(Figure(f"{number}CPU time of a daemon seen by {name}", share, "%", target, note, len(values)))
    for name, values in found.items():
        if name.startswith("survivors"):
            target = ("<=", 0.0) if "killpg" not in name else None
            number = "8: " if target else ""
            note = "of as many pid-hopping trees"
            table.append(Figure(f"{number}{name}", sum(values), "", target, note, len(values)))
    return table


if __name__ == "__main__":
    main("probe_containment", one_round, figures, rounds=(100, 5))
