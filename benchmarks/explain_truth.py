"""Does `explain` name the planted cause of lost CPU time, and its share? One cause a program, and one that scales.

The truth is what the program's own clocks say: the seconds that its threads lose to the cause, of the CPU time that is
lost from one thread to two, without the neighbor. Each cause has three strengths. Every second pass is beside a
neighbor that has a CPU for 30% of the time. A round is one case, so that little is lost where it is stopped.
"""

import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import probe_rounds
from gate_tools import imported_sources
from probe_common import HERE, Figure
from probe_rounds import Round
from verdict_common import Work, neighbors, steady

PASSES, STRENGTHS, DUTY, RUNS = 60, (0.5, 0.8, 0.2), 30, 5
# The functions of workloads/planted that share the cause; the short form has the first of them.
SCALES = "scales"
CAUSES = {
    "mutex": "insert_locked", "serial": "serial_phase", "barrier": "slow_worker", "pipe": "send_result start_reader",
    SCALES: "", "stripes": "insert_locked", "rwlock": "write_locked", "spinlock": "spin_locked",
    "uneven": "large_share", "queue": "produce_item take_item",
    "servers": "serve_request servers take_item", "spinners": "spin_until_all", "sleep": "take_nap",
    "disk": "write_through", "socket": "ask_service serve_request start_service",
    "child": "wait_for_child", "allocator": "allocate_block", "faults": "touch_fresh", "sharing": "bump_shared",
    "bandwidth": "stream_memory",
}  # fmt: skip
N_QUICK = 5
NEAR, LARGE = 0.10, 0.20
SOURCES = HERE.parent / "workloads" / "planted"


def one_round(folder: Path, number: int) -> Round:
    """Explain one program: each cause in turn, in every second pass beside a neighbor."""
    cycle, index = divmod(number, len(CAUSES))
    cause, strength = [*CAUSES][index], STRENGTHS[cycle // 2 % len(STRENGTHS)]
    program, work = _compiled(folder), Work(folder)
    begin, truth = time.monotonic(), _truth(program, cause, strength)
    with neighbors(work.program, steady(DUTY, 1) if cycle % 2 else steady(0, 1)):
        document = _explained(program, cause, strength, folder)
    found = {f"{cause} {key}": [value] for key, value in _judged(cause, truth, document).items()}
    return found | {f"{cause} took": [time.monotonic() - begin]}


def _compiled(folder: Path) -> Path:
    program = folder / "planted"
    if not program.exists():
        flags = tomllib.loads((SOURCES / "workload.toml").read_text(encoding="utf-8"))["build"]["flags"]
        subprocess.run(["cc", *flags, "-o", program, SOURCES / "main.c"], check=True)
    return program


def _truth(program: Path, cause: str, strength: float) -> float:
    """Share of the lost CPU time that the program counts as lost to the cause; 0 where none is lost.

    The median of those runs whose threads were least kept from a CPU by others.
    """
    runs: dict[int, list[tuple[float, float, float]]] = {1: [], 2: []}
    for _ in range(RUNS):
        for n, measured in runs.items():
            argv = [program, cause, str(n), str(strength)]
            wall, lost, ready = map(
                float, subprocess.run(argv, capture_output=True, check=True, text=True).stdout.split()
            )
            measured.append((ready, wall, lost))
    (_, wall, lost), (_, wall_of_two, lost_of_two) = (
        map(median, zip(*sorted(runs[n])[: RUNS // 2 + 1], strict=True)) for n in (1, 2)
    )
    loss = 2 * wall_of_two - wall
    return (lost_of_two - lost) / loss if loss > 0 else 0.0


def _explained(program: Path, cause: str, strength: float, folder: Path) -> dict[str, Any] | None:
    results = folder / "results"
    subprocess.run(["rm", "-rf", results], check=True)
    argv = [
        sys.executable, "-m", "scalograph", "explain", "--runs", "2", "--threads", "1,2", "--wait-lock", "10min",
        "-o", results, "--json", "--", program, cause, "{threads}", str(strength),
    ]  # fmt: skip
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ), check=False)
    file = results / "explanation.json"
    return json.loads(file.read_text()) if file.is_file() else None


def _judged(cause: str, truth: float, document: dict[str, Any] | None) -> dict[str, float]:
    if document is None:
        return {"answered": 0.0}
    loss, cpus = document["lost_cpus"]["value"], document["cpus"][1]
    answer = {"answered": 1.0, "loss": loss, "truth": truth, "unexplained": document["unexplained"]["value"]}
    names_any = loss >= 0.05 * cpus and document["lost_cpus"]["low"] > 0
    answer["named"] = float(names_any)
    if cause == SCALES:
        return answer
    planted = set(CAUSES[cause].split())
    shares = [(part, part["share"]["value"]) for part in document["parts"]]
    own = sum(share for part, share in shares if planted & {part["what"], part["caller"]})
    others = max((share for part, share in shares if not planted & {part["what"], part["caller"]}), default=0.0)
    total = sum(share for _, share in shares) + answer["unexplained"]
    return answer | {"share": own, "other": others, "first": float(own > others), "sum": total}


def figures(found: Round) -> list[Figure]:
    """Of each cause: how often it is first, and how near its share is; over all, what the design asks for."""
    listed = [figure for cause in CAUSES if f"{cause} first" in found for figure in _of_cause(found, cause)]
    return [*listed, *_over_all(found)]


def _of_cause(found: Round, cause: str) -> Iterator[Figure]:
    named = [i for i, is_named in enumerate(found[f"{cause} named"]) if is_named]
    first, own, truth, other = (
        [found[f"{cause} {key}"][i] for i in named] for key in ("first", "share", "truth", "other")
    )
    if not named:
        return
    near = [abs(share - min(1.0, true)) <= NEAR for share, true in zip(own, truth, strict=True)]
    note = f"share {median(own):.2f}, by its own clocks {median(truth):.2f}; another at most {median(other):.2f}"
    yield _percentage(f"{cause}: planted cause first", first, (">=", 95.0), note)
    yield _percentage(f"{cause}: share within 10 points", near, (">=", 95.0))


def _over_all(found: Round) -> Iterator[Figure]:
    def pick(key: str) -> list[float]:
        cases = (zip(found[f"{c} {key}"], found[f"{c} named"], strict=True) for c in CAUSES if f"{c} {key}" in found)
        return [value for case in cases for value, is_named in case if is_named]

    planted = [name for c in CAUSES if c != SCALES for name in found.get(f"{c} named", [])]
    yield _percentage("a planted cause loses enough to be shown", planted, (">=", 95.0))
    yield _percentage("planted cause first, all", pick("first"), (">=", 95.0))
    yield _percentage("another cause above 20% of the loss", [x > LARGE for x in pick("other")], ("<=", 5.0))
    yield _percentage("parts sum to the loss within 5%", [abs(x - 1) <= 0.05 for x in pick("sum")], (">=", 100.0))
    yield _percentage("not explained above 20%", [x > LARGE for x in pick("unexplained")], ("<=", 5.0))
    yield _percentage("a program that scales: a cause is named", found.get(f"{SCALES} named", []), ("<=", 5.0))
    answered = [value for c in CAUSES for value in found.get(f"{c} answered", [])]
    yield _percentage("answered at all", answered, (">=", 100.0))


def _percentage(name: str, flags: Sequence[float], target: tuple[str, float], note: str = "") -> Figure:
    share = 100 * sum(map(float, flags)) / len(flags) if flags else None
    return Figure(name, share, "%", target, note, len(flags))


if __name__ == "__main__":
    probe_rounds.DEPENDS += [imported_sources, lambda: SOURCES.glob("*.*")]
    probe_rounds.main("explain_truth", one_round, figures, rounds=(PASSES * len(CAUSES), N_QUICK))
