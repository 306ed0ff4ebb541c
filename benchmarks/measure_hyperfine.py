"""How much longer does `measure` take than hyperfine, terminal answer included? 50 runs of a 200 ms command.

Both in turn, each with its own report file, no reruns. The target is of the whole command, from fork to exit: start-up,
runs, journal, statistics and page. What each says the command takes stands beside.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from command_common import ENVIRONMENT, Figure, command, main
from probe_common import PROBE, peers

FOUND = peers("hyperfine")
WORK = ["sleep", "0.2"]


def figures(quick: bool) -> Iterator[Figure]:
    """Seconds for all runs by each tool, their ratio, and the times that they report."""
    n, rounds = (10, 1) if quick else (50, 5)
    walls: dict[str, list[float]] = {}
    told: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, (wall_s, says_s) in _round(n).items():
            walls.setdefault(name, []).append(wall_s)
            told.setdefault(name, []).append(says_s)
    for name, found in walls.items():
        yield Figure(f"{name}: {n} runs of {' '.join(WORK)}", median(found), "s", None, f"fastest {min(found):.2f} s")
        yield Figure("  says that it takes", 1e3 * median(told[name]), "ms")
    if "hyperfine" in walls:
        ratios = [ours / theirs for ours, theirs in zip(walls["measure"], walls["hyperfine"], strict=True)]
        yield Figure("measure / hyperfine, whole command", median(ratios), "x", 1.1, f"of {rounds}")
    else:
        yield Figure("measure, over the runs alone", median(walls["measure"]) / (0.2 * n), "x", None, "no hyperfine")


def _round(n: int) -> dict[str, tuple[float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        found = {"measure": _measure(n, Path(folder))}
        if "hyperfine" in FOUND:
            found["hyperfine"] = _hyperfine(n, Path(folder))
    return found


def _measure(n: int, folder: Path) -> tuple[float, float]:
    options = ["--runs", str(n), "--max-reruns", "0", "-o", str(folder / "results")]
    wall_s = _timed(command("measure", *options, "--", *WORK), folder, (0, 5))
    found = json.loads((folder / "results" / "findings.json").read_text())
    return wall_s, found["curves"][0]["points"][0]["responses"]["wall"]["estimate"]["value"]


def _hyperfine(n: int, folder: Path) -> tuple[float, float]:
    export = folder / "hyperfine.json"
    options = ["-N", "--warmup", "0", "--runs", str(n), "--export-json", str(export)]
    wall_s = _timed([FOUND["hyperfine"], *options, " ".join(WORK)], folder, (0,))
    return wall_s, json.loads(export.read_text())["results"][0]["median"]


def _timed(argv: list[str], folder: Path, codes: tuple[int, ...]) -> float:
    begin = time.perf_counter()
    env = {**ENVIRONMENT, "SCALOGRAPH_PROBE": PROBE}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - begin
    if done.returncode not in codes:
        sys.exit(f"{' '.join(argv)}: exit code {done.returncode}\n{done.stderr}")
    return wall_s


if __name__ == "__main__":
    main(figures, "10 runs, once")
