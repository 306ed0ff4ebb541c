"""Do on-CPU times from switch records agree with the kernel's accounting, without sampling? (target 6)

Three copies share the CPUs, so that they are preempted. What the records say is compared with rusage and with the
cgroup's usage; `observer` is the probe's own CPU time as a share of the tree's.
"""

from pathlib import Path

from probe_common import Figure, build, median, probe
from probe_rounds import Round, main

SPIN_NS = 300_000_000


def one_round(folder: Path, _number: int) -> Round:
    """One run of three copies."""
    built = folder / "probe_spin"
    run = probe([str(built) if built.exists() else build("probe_spin", folder), str(SPIN_NS)], copies=3)
    if run["per_cpu_ns"] is None:
        return {"refused": [1.0]}
    timeline = next(e for e in run["events"] if e["event"] == "timeline")
    seen = sum(map(sum, timeline["busy_ns"]))
    rusage = run["user_ns"] + run["system_ns"]
    return {
        "rusage": [abs(seen / rusage - 1)],
        "cgroup": [abs(seen / run["cpu_ns"] - 1)] if run["cpu_source"] == "cgroup" else [],
        "wait": [run["wait_ns"] / 3 / run["wall_ns"]],
        "lost": [run["n_lost_records"]],
        "observer": [run["observer_ns"] / rusage],
    }


def figures(found: Round) -> list[Figure]:
    """Differences in percent."""
    if not found.get("rusage"):
        return [Figure("6: timeline against rusage", None, "%", ("<=", 1.0), "switch records are not granted", 0)]
    table = []
    for key, name in {"rusage": "6: timeline against rusage", "cgroup": "timeline against cpu.stat"}.items():
        if values := found[key]:
            target = ("<=", 1.0) if key == "rusage" else None
            note = f"largest {100 * max(values):.2f}%"
            table.append(Figure(name, 100 * (median(values) or 0), "%", target, note, len(values)))
    n = len(found["wait"])
    for key, name in {"wait": "waiting, share of wall and copy", "observer": "observer, share of CPU time"}.items():
        table.append(Figure(name, 100 * (median(found[key]) or 0), "%", None, "", n))
    table.append(Figure("records lost", sum(found["lost"]), "", None, "", n))
    return table


if __name__ == "__main__":
    main("probe_timeline", one_round, figures, rounds=(60, 5))
