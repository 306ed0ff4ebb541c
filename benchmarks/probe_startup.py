"""How long does the tool itself take to start? (target 9)

Both tools only print their version, and the probe measures both by kernel records, interleaved. Beside it: a whole
run of a program that does nothing, as its caller sees it.
"""

import json
import subprocess
import time
from pathlib import Path

from probe_common import PROBE, Figure, build, median, peers, probe, quantile, ratio
from probe_rounds import Round, main

FOUND = peers("hyperfine", "perf")
BLOCK = 5


def one_round(folder: Path, _number: int) -> Round:
    """A block of starts of each tool."""
    built = folder / "probe_spin"
    nothing = str(built) if built.exists() else build("probe_spin", folder)
    tools = {"scalograph-probe": PROBE, **FOUND}
    found: dict[str, list[float]] = {}
    for _ in range(BLOCK):
        for name, path in tools.items():
            found.setdefault(name, []).append(probe([path, "--version"])["wall_ns"])
        for name, argv, text in whole_runs(nothing):
            begin = time.perf_counter_ns()
            subprocess.run(argv, input=text, capture_output=True, check=True)
            found.setdefault(f"one run, {name}", []).append(time.perf_counter_ns() - begin)
    return found


def whole_runs(nothing: str) -> list[tuple[str, list[str], bytes]]:
    """Each tool asked to run the same program once."""
    command = {"argv": [nothing], "cwd": "/", "env": {}}
    spec = {"protocol": 1, "run": "b", "commands": [command], "timeout_ns": 10**10}
    asked = [("scalograph-probe", [PROBE], json.dumps(spec).encode())]
    if "hyperfine" in FOUND:
        asked.append(("hyperfine -N", [FOUND["hyperfine"], "-N", "--style", "none", "--runs", "1", nothing], b""))
    return asked


def figures(found: Round) -> list[Figure]:
    """Medians, and the ratio to hyperfine."""
    table = []
    for name, values in found.items():
        note = f"5%: {quantile(values, 0.05) / 1e3:.0f} us"
        what = name if name.startswith("one run") else f"start-up of {name}"
        table.append(Figure(what, (median(values) or 0) / 1e3, "us", None, note, len(values)))
    value = ratio(median(found["scalograph-probe"]), median(found.get("hyperfine", [])))
    n = len(found["scalograph-probe"])
    table.append(Figure("9: start-up, probe / hyperfine", value, "x", ("<=", 0.2), "", n))
    return table


if __name__ == "__main__":
    main("probe_startup", one_round, figures, rounds=(40, 4))
