"""How long do `watch` and `site` take over 10,000 results, without an index and with one, and how much memory?

Made-up findings: 50 studies with 200 results each, of one curve with three levels and six runs.
"""

import json
import math
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from command_common import Figure, command, main, run

STUDIES, RESULTS, LEVELS, RUNS = 50, 200, (1, 2, 4), 6


def findings(rng: random.Random, study: str, when: datetime) -> dict[str, Any]:
    """One result, with noise of 1%."""
    level = math.exp(rng.gauss(0, 0.01))
    points = []
    for n in LEVELS:
        scores = [level * 8 / n**0.9 * math.exp(rng.gauss(0, 0.004)) for _ in range(RUNS)]
        mean = sum(scores) / RUNS
        estimate = {"value": mean, "low": 0.99 * mean, "high": 1.01 * mean, "confidence": 0.95, "n": RUNS}
        runs = [f"b{k}-{n}" for k in range(RUNS)]
        response = {"estimate": estimate, "scores": scores, "runs": runs, "verdicts": ["clean"] * RUNS}
        points.append({"level": n, "n_cpus": 4, "responses": {"wall": response}})
    factor = {"name": "threads", "title": "threads", "levels": [*LEVELS]}
    asked = {
        "name": study, "title": "Does it scale?", "question": "sweep", "work": "total", "hash": "0" * 64, "seed": 1,
        "factors": [factor], "responses": [{"name": "wall", "title": "wall time", "unit": "s"}], "primary": "wall",
    }  # fmt: skip
    n_runs = RUNS * len(LEVELS)
    done = {"n_asked": n_runs, "n_done": n_runs, "n_failed": 0, "configurations": len(LEVELS)}
    return {
        "protocol": 4, "study": asked, "machine": {"cpu_model": "AMD EPYC", "n_cpus": 4, "kernel": "6.18"},
        "runs": done | {"started": when.isoformat()}, "trust": {"level": "reliable", "sentence": "All runs used."},
        "curves": [{"group": {}, "factor": "threads", "points": points}],
    }  # fmt: skip


def write(folder: Path, n_results: int) -> None:
    """Write the results of all studies, the newest of today."""
    rng, now = random.Random(7), datetime.now(UTC)
    for study in range(STUDIES):
        for i in range(n_results):
            here = folder / f"study{study}" / f"{i:05}"
            here.mkdir(parents=True)
            document = findings(rng, f"study{study}", now - timedelta(days=n_results - i))
            (here / "findings.json").write_text(json.dumps(document))


def figures(quick: bool) -> Iterator[Figure]:
    """Time the command twice."""
    n_results = RESULTS // 10 if quick else RESULTS
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "results"
        write(folder, n_results)
        # A change that the noise makes within 50% ends in 0.
        argv = command("watch", str(folder), "--margin", "50%")
        first, second = run(argv), run(argv)
        pages = run(command("site", str(folder), "--to", str(Path(scratch) / "public"), "--reports", "0"))
        size = (folder / "index.jsonl").stat().st_size
    n = f"{STUDIES * n_results:,} results"
    yield Figure(f"{n}, first time", first.wall_s, "s", note=f"{first.cpu_s:.1f} s of CPU time")
    yield Figure(f"{n}, with the index", second.wall_s, "s", 5.0, f"{second.cpu_s:.1f} s of CPU time")
    yield Figure("its peak memory", second.peak_bytes / 2**20, "MB", 500.0)
    yield Figure("site of these, without reports", pages.wall_s, "s", note=f"{pages.cpu_s:.1f} s of CPU time")
    yield Figure("size of the index", size / 2**20, "MB")


if __name__ == "__main__":
    main(figures, "a tenth of the results")
