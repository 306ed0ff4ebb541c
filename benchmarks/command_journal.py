"""Synthetic journals of any length, written line by line: what a probe would have said, without running anything."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, product
from pathlib import Path
from typing import Any

from scalograph.protocol.journal import LATEST
from scalograph.study.identity import dump_study, study_hash
from scalograph.study.load import parse

SEED = 7
N_ITERATIONS = 10
TIMELINE_BINS, TIMELINE_EVERY = 120, 4  # one run in four carries one
LOCKS = ("none", "method", "object", "cas", "reentrant")
HEADER = {
    "protocol": 1, "probe": "0.1.0", "kind": "native", "containment": "cgroup", "cgroup": "scalograph-1e7fc223a53f",
    "backend": "kernel", "degraded": [],
}  # fmt: skip
AT = "2026-01-01T00:00:00.000Z"
Configuration = Mapping[str, Any]

STUDY = """\
version = 1
name = "synthetic"
title = "A journal of many runs"
work = "total"
seed = 7
[workload]
command = ["./program", "{{threads}}", "{{lock}}"]
events = true
[factors.threads]
levels = [{threads}]
[factors.cpus]
control = "cpus"
levels = [1, 2]
[factors.lock]
levels = ["none", "method", "object", "cas", "reentrant"]
[baseline]
threads = 1
[responses.wall]
from = "window.wall"
unit = "s"
[responses.cpu]
from = "window.cpu"
unit = "s"
[responses.startup]
from = "run.startup"
unit = "s"
[responses.peak_threads]
from = "value.peak_threads"
better = "none"
[protocol]
runs = {runs}
iterations = 10
warmup = 2
[[tables]]
title = "Wall time by threads and lock, both CPUs"
rows = "threads"
columns = "lock"
response = "wall"
where = {{ cpus = 2 }}
"""


def write(file: Path, n_runs: int, n_levels: int) -> None:
    """A journal of about `n_runs` runs in blocks, of `n_levels` numbers of threads x 2 CPU counts x 5 locks."""
    levels = range(1, n_levels + 1)
    n_blocks = max(2, round(n_runs / (n_levels * 2 * len(LOCKS))))
    study = parse(STUDY.format(threads=", ".join(map(str, levels)), runs=n_blocks))
    grid = [{"threads": n, "cpus": c, "lock": k} for n, c, k in product(levels, (1, 2), LOCKS)]
    head = {
        "event": "study", "at": AT, "protocol": LATEST, "scalograph": "0.1.0", "study": dump_study(study),
        "study_hash": study_hash(study), "seed": study.seed, "machine": {"cpu_model": "synthetic", "n_cpus": 2},
        "design": {"configurations": grid, "runs": [n_blocks] * len(grid)},
    }  # fmt: skip
    with file.open("w", encoding="utf-8") as out:
        for event in chain([head], _events(grid, n_blocks), [{"event": "end", "at": AT, "reason": "complete"}]):
            out.write(json.dumps(event, separators=(",", ":")) + "\n")


def _events(grid: Sequence[Configuration], n_blocks: int) -> Iterator[dict[str, Any]]:
    """Three events for each run, as the runner writes them."""
    rng = random.Random(SEED)
    timelines = [_timeline(rng) for _ in range(32)]
    for block in range(n_blocks):
        for place, configuration in enumerate(rng.sample(grid, len(grid))):
            run = f"b{block:04d}-{place:04d}"
            asked = {"run": run, "block": block, "configuration": configuration, "replicate": block, "warmup": False}
            timeline = rng.choice(timelines) if rng.randrange(TIMELINE_EVERY) == 0 else None
            disturbed = rng.random() < 0.03
            yield {"event": "ask", "at": AT, **asked}
            yield {"event": "run", "at": AT, **asked, "record": _record(rng, configuration, disturbed, timeline)}
            verdict = "disturbed" if disturbed else "clean"
            yield {"event": "verdict", "at": AT, "run": run, "verdict": verdict, "causes": []}


def _record(rng: random.Random, configuration: Configuration, disturbed: bool, timeline: object) -> dict[str, Any]:
    """Work that scales up to the CPUs there are; 3% between runs, 2% between iterations."""
    n_cpus = configuration["cpus"]
    typical = 2e7 / min(configuration["threads"], n_cpus) * rng.lognormvariate(0, 0.03)
    walls = [round(typical * rng.lognormvariate(0, 0.02)) for _ in range(N_ITERATIONS)]
    ends = [90_000_000 + end for end in accumulate(walls)]
    wall = ends[-1] + 20_000_000
    copy = {
        "copy": 0, "command": 0, "pid": rng.randrange(1000, 30000), "exit_code": 0, "signal": None, "start_ns": 0,
        "exec_ns": 412_000, "end_ns": wall, "reap_ns": 80_000, "user_ns": wall, "system_ns": 0, "stdout": None,
        "stdout_truncated": False, "stderr_tail": "",
        "in_force": {"cpus": list(range(n_cpus)), "policy": "other", "priority": 0, "nice": 0},
    }  # fmt: skip
    iterations = {
        "copy": 0, "index": list(range(N_ITERATIONS)), "work": [30_000_000] * N_ITERATIONS, "end_ns": ends,
        "start_ns": [end - ns for end, ns in zip(ends, walls, strict=True)], "cpu_ns": [ns - 1000 for ns in walls],
    }  # fmt: skip
    values = {
        "copy": 0,
        "values": {"peak_threads": [configuration["threads"]] * N_ITERATIONS, "checksum": [136_698_035]},
    }
    return {
        "header": HEADER, "copies": [copy], "iterations": [iterations], "values": [values], "timeline": timeline,
        "run": _figures(rng, wall, n_cpus, disturbed),
    }  # fmt: skip


def _figures(rng: random.Random, wall: int, n_cpus: int, disturbed: bool) -> dict[str, Any]:
    neighbor = round(wall * n_cpus * (0.1 if disturbed else 0.0005))
    per_cpu = [wall - neighbor] + [wall // 2] * (n_cpus - 1)
    return {
        "status": "ok", "reason": None, "wall_ns": wall, "wall_source": "kernel", "wall_outer_ns": wall + 90_000,
        "tree_wall_ns": wall, "gate_ns": rng.randrange(10**13), "gate_skew_ns": 0, "queue_drain_ns": 0,
        "start_skew_ns": None, "user_ns": sum(per_cpu), "system_ns": 0, "cpu_ns": sum(per_cpu),
        "cpu_source": "cgroup", "wait_ns": 2 * neighbor, "neighbor_ns": neighbor, "wait_scope": "preemption",
        "n_switches": rng.randrange(500, 2000), "n_preemptions": rng.randrange(500), "n_migrations": rng.randrange(50),
        "n_minor_faults": 6316, "n_major_faults": 0, "n_blocks_in": 0, "n_blocks_out": 88,
        "max_rss_bytes": 45_469_696, "n_tasks": 24, "n_processes": 1, "per_cpu_ns": per_cpu, "steal_ns": 0,
        "machine_busy_ns": sum(per_cpu), "n_survivors": 0, "observer_ns": 501_741, "n_lost_records": 0, "degraded": [],
    }  # fmt: skip


def _timeline(rng: random.Random) -> dict[str, Any]:
    busy = [[rng.randrange(10**6) for _ in range(TIMELINE_BINS)] for _ in range(2)]
    tasks = [
        {"tid": 7000 + n, "name": f"worker-{n}", "cpu_ns": 10**8 - n, "wait_ns": 10**6, "per_cpu_ns": [10**8, 0],
         "migrations": n}
        for n in range(8)
    ]  # fmt: skip
    waiting = [rng.randrange(10**5) for _ in range(TIMELINE_BINS)]
    return {"bin_ns": 10**6, "cpus": [0, 1], "busy_ns": busy, "waiting_ns": waiting, "tasks": tasks}
