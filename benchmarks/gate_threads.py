"""Is the speedup of two threads right if other processes use each CPU for half of the time?

The threads wait for each other at twenty barriers, so a delay of one delays both. The true speedup comes from
interleaved quiet runs. Only those count in which an independent witness saw no interference.
"""

import json
import random
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import probe_rounds
from command_common import command
from gate_tools import LOCK, OUR_CODES, imported_sources, run_command
from probe_common import Figure, median
from probe_rounds import Round
from verdict_common import SEED, Work, bursts, neighbors, wilson
from verdict_study import TRUTHS, quiet_paces, truth

ROUNDS, RUNS, BUSY = 60, 10, 0.5
SECONDS = 0.2  # of one thread
OFF = 0.07
SHARE = 90.0  # of the answers, in percent
NOT_KNOWN = -1.0  # in a journal of numbers


def one_round(folder: Path, number: int) -> Round:
    """One `measure` beside other processes, then quiet runs."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    units, results = work.argv(SECONDS, 1)[1], folder / "results"
    options = ["--threads", "1,2", "--runs", str(RUNS), "-o", str(results), *LOCK]
    with neighbors(work.program, bursts(draw, BUSY)):
        begin = time.monotonic()
        run_command(command("measure", *options, "--", work.program, units, "{threads}", "barrier"), folder, OUR_CODES)
        took_s = time.monotonic() - begin
    found = speedup_found(json.loads((results / "findings.json").read_text()))
    shutil.rmtree(results)
    return {
        **{name: [value] for name, value in found.items()},
        "took": [took_s],
        **quiet_paces(folder, work, SECONDS, "barrier"),
    }


def speedup_found(findings: Mapping[str, Any]) -> dict[str, float]:
    """Return the speedup at two threads and its interval; `answered` unless the study is not to be used."""
    points = {point["level"]: point for curve in findings["curves"] for point in curve["points"]}
    estimate = points.get(2, {}).get("speedup") or {}
    known = {key: estimate.get(key) for key in ("value", "low", "high")}
    answered = findings["trust"]["level"] != "unusable" and None not in known.values()
    return {**{k: NOT_KNOWN if v is None else v for k, v in known.items()}, "answered": float(answered)}


def figures(found: Round) -> list[Figure]:
    """The truth, then how far the answers are from it, and how many intervals hold it."""
    true, known = truth(found)
    rows = list(zip(*(found[key] for key in ("value", "low", "high", "answered")), strict=True))
    answers = [row for row in rows if row[3]]
    n = len(answers)
    widths = [100 * (high / low - 1) for _, low, high, _ in answers if low > 0]
    told = [
        Figure("measure --threads 1,2 beside bursts", median(found["took"]), "s", None, "", len(rows)),
        Figure("answered", 100 * n / len(rows), "%", None, "", len(rows)),
        Figure("speedup, typically", median(value for value, *_ in answers), "x", None, "", n),
        Figure("width of its interval, typically", median(widths), "%", None, "", n),
    ]
    if true.value is None or not n:
        return [known, *told]
    target = (">=", SHARE) if known.n >= TRUTHS else None
    near = sum(abs(value / true.value - 1) <= OFF for value, *_ in answers)
    holds = sum(low <= true.value <= high for _, low, high, _ in answers)
    return [
        known,
        *told,
        _of(f"within {100 * OFF:g}% of it", near, n, target),
        _of("its interval holds it", holds, n, target),
    ]


def _of(name: str, hits: int, n: int, target: tuple[str, float] | None) -> Figure:
    low, high = wilson(hits, n)
    return Figure(f"speedup: {name}", 100 * hits / n, "%", target, f"95%: {low:.0f} to {high:.0f}%", n)


if __name__ == "__main__":
    probe_rounds.DEPENDS.append(imported_sources)
    probe_rounds.main("gate_threads", one_round, figures, rounds=(ROUNDS, 3))
