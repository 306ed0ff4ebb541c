"""How much longer than the truth does each tool say that a process of 1 ms took? (targets 1, 2, 3)

All tools measure one program whose true duration is known (probe_spin.c), interleaved in one run: what disturbs the
machine disturbs them alike. A bias below zero is impossible, and counted.
"""

import json
import os
import re
import subprocess
import time
from pathlib import Path

from probe_common import Figure, build, median, peers, probe, quantile, ratio
from probe_rounds import Round, main

TRUTH_NS = 1_000_000
BLOCK = 10
FOUND = peers("hyperfine", "perf", "time")
GATE, KERNEL, PLAIN = "probe, gate..wait4", "probe, kernel records", "probe, plain"


def one_round(folder: Path, _number: int) -> Round:
    """A block of runs by each tool."""
    program = folder / "probe_spin"
    argv = [str(program) if program.exists() else build("probe_spin", folder), str(TRUTH_NS)]
    found: dict[str, list[float]] = {KERNEL: [], GATE: [], PLAIN: []}
    for _ in range(BLOCK):
        run = probe(argv)
        if run["wall_source"] == "kernel":
            found[KERNEL].append(run["wall_ns"])
        found[GATE].append(run["wall_outer_ns"])
        found[PLAIN].append(probe(argv, backend="plain", timeline=False)["wall_ns"])
    found["Python subprocess"] = [python(argv) for _ in range(BLOCK)]
    found["posix_spawn..wait4"] = [spawn(argv) for _ in range(BLOCK)]
    if "hyperfine" in FOUND:
        found["hyperfine -N"] = hyperfine(folder, argv, "-N")
        found["hyperfine with shell"] = hyperfine(folder, argv)
    if "perf" in FOUND:
        found["perf stat"] = [ns for _ in range(BLOCK) if (ns := perf_stat(argv)) is not None]
    if "time" in FOUND:
        found["GNU time (10 ms digits)"] = [gnu_time(argv) for _ in range(BLOCK)]
    return {name: [ns - TRUTH_NS for ns in values] for name, values in found.items()}


def python(argv: list[str]) -> float:
    begin = time.perf_counter_ns()
    subprocess.run(argv, check=True)
    return time.perf_counter_ns() - begin


def spawn(argv: list[str]) -> float:
    begin = time.perf_counter_ns()
    os.wait4(os.posix_spawn(argv[0], argv, {}), 0)
    return time.perf_counter_ns() - begin


def hyperfine(folder: Path, argv: list[str], *options: str) -> list[float]:
    out = folder / "hyperfine.json"
    asked = [FOUND["hyperfine"], *options, "--style", "none", "--runs", str(BLOCK), "--export-json", str(out)]
    subprocess.run([*asked, " ".join(argv)], check=True, capture_output=True)
    return [seconds * 1e9 for seconds in json.loads(out.read_text())["results"][0]["times"]]


def perf_stat(argv: list[str]) -> float | None:
    asked = [FOUND["perf"], "stat", "-e", "task-clock:u", *argv]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    elapsed = re.search(r"([0-9.]+) seconds time elapsed", done.stderr)
    return float(elapsed[1]) * 1e9 if elapsed else None


def gnu_time(argv: list[str]) -> float:
    done = subprocess.run([FOUND["time"], "-f", "%e", *argv], capture_output=True, text=True, check=True)
    return float(done.stderr.split()[-1]) * 1e9


def figures(found: Round) -> list[Figure]:
    """The bias of each tool, and the ratios to hyperfine -N."""
    table = []
    for name, values in sorted(found.items(), key=lambda item: median(item[1]) or 0):
        if values:
            short = sum(v < 0 for v in values)
            low, high = (quantile(values, share) / 1e3 for share in (0.05, 0.95))
            note = f"5-95%: {low:.0f}..{high:.0f} us; {short} shorter than the truth"
            table.append(Figure(f"bias of {name}", (median(values) or 0) / 1e3, "us", None, note, len(values)))
    peer = median(found.get("hyperfine -N", []))
    for number, name, limit in ((1, KERNEL, 0.15), (2, PLAIN, 0.6)):
        value = ratio(median(found[name]), peer)
        table.append(Figure(f"{number}: {name} / hyperfine -N", value, "x", ("<=", limit), "", len(found[name])))
    ours = [v for name in (KERNEL, GATE, PLAIN) for v in found[name]]
    short = sum(v < 0 for v in ours)
    table.append(Figure("3: runs shorter than the truth", short, "", ("<=", 0), "all three clocks", len(ours)))
    return table


if __name__ == "__main__":
    main("probe_bias", one_round, figures, rounds=(80, 5))
