"""How far apart do two copies on two CPUs leave the start gate, and how far apart do they start? (target 4)

The peer is a futex that wakes both (probe_broadcast.c). Leaving the gate is read by the copies themselves; starting is
the kernel's first record of the new image, after each copy's exec.
"""

import os
import subprocess
import sys
from pathlib import Path

from probe_common import Figure, build, median, probe, quantile, ratio
from probe_rounds import Round, main

BLOCK = 10
CPUS = sorted(os.sched_getaffinity(0))[:2]


def one_round(folder: Path, _number: int) -> Round:
    """A block of releases by each."""
    if len(CPUS) < 2:
        sys.exit("probe_skew: found 1 CPU, expected 2; run it on a larger host")
    peer = folder / "probe_broadcast"
    broadcast = str(peer) if peer.exists() else build("probe_broadcast", folder)
    found: dict[str, list[float]] = {"gate": [], "start": []}
    for _ in range(BLOCK):
        run = probe(["true"], copies=2, cpus=[[cpu] for cpu in CPUS])
        found["gate"].append(run["gate_skew_ns"])
        if run["wall_source"] == "kernel":
            found["start"].append(run["start_skew_ns"])
    argv = [broadcast, str(BLOCK), *map(str, CPUS)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    found["futex"] = [float(line) for line in done.stdout.split()]
    return found


def figures(found: Round) -> list[Figure]:
    """Medians, and the ratio to the futex."""
    names = {"gate": "skew at the gate", "start": "skew of the first records", "futex": "skew after a futex broadcast"}
    table = []
    for key, name in names.items():
        if values := found.get(key):
            note = f"95%: {quantile(values, 0.95) / 1e3:.3f} us"
            table.append(Figure(name, (median(values) or 0) / 1e3, "us", None, note, len(values)))
    futex, n = median(found["futex"]), len(found["gate"])
    gate, start = (ratio(median(found[key]), futex) for key in ("gate", "start"))
    table.append(Figure("4: gate / futex", gate, "x", ("<=", 0.01), "", n))
    table.append(Figure("first records / futex", start, "x", None, "", n))
    return table


if __name__ == "__main__":
    main("probe_skew", one_round, figures, rounds=(40, 5))
