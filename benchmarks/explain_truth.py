"""Does `explain` name the planted cause of lost CPU time, and its share? One cause a program, and one that scales.

The truth is what the program's own clocks say: the seconds that its threads lose to the cause, of the CPU time that is
lost from one thread to two, without other programs. From two threads to eight on two CPUs only the names are judged:
its clocks then count waits that cost no CPU. Each cause has three strengths. Every second case is beside a program that
has a CPU for 30% of the time. A round is one case, so that little is lost where it is stopped.
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

PASSES, STRENGTHS, DUTY, RUNS = 120, (0.5, 0.8, 0.2), 30, 5
LEVELS = ((1, 2), (2, 8))  # in turn, a pass over all causes each
SCALES, QUOTA = "scales", "quota"
# The functions of workloads/planted that share the cause, or its kind; the short form has the first of them. Names of
# compiled monitors, callers of compiled methods, and functions of CPython before 3.12 are not known.
CAUSES = {
    "mutex": "insert_locked", "serial": "serial_phase", "barrier": "slow_worker", "pipe": "send_result start_reader",
    SCALES: "", "stripes": "insert_locked", "rwlock": "write_locked", "spinlock": "spin_locked",
    "uneven": "large_share", "queue": "produce_item take_item",
    "servers": "serve_request servers take_item", "spinners": "spin_until_all", "sleep": "take_nap",
    "disk": "write_through", "socket": "ask_service serve_request start_service",
    "child": "wait_for_child", "allocator": "allocate_block", "faults": "touch_fresh", "sharing": "bump_shared",
    "bandwidth": "stream_memory", "quota": "quota",
    "java:monitor": "lock Planted.insertLocked", "java:lock": "lock Planted.insertParked",
    "java:serial": "Planted.serialPhase serial", "java:gc": "gc Planted.allocateObjects",
    "python:gil": "gil", "python:serial": "serial_phase serial",
    # The thread that feeds a queue of multiprocessing waits for the interpreter lock of the producer.
    "python:queue": "produce_item serial gil",
}  # fmt: skip
JAVA = ("java", "-XX:+UseSerialGC", "-Xmx160m")
N_QUICK = 5
NEAR, LARGE = 0.10, 0.20
SOURCES = HERE.parent / "workloads" / "planted"
STUDY = """version = 1
name = "quota"
title = "A program under a CPU quota"
question = "sweep"
work = "total"
seed = 1
workload.command = {command}
factors.threads.levels = [{threads}]
factors.quota = {{ control = "quota", levels = [{cpus}] }}
protocol = {{ runs = 2, max_reruns = 0 }}
"""


def one_round(folder: Path, number: int) -> Round:
    """Explain one program: each cause in turn, every second one beside another program, in later passes the others."""
    cycle, index = divmod(number, len(CAUSES))
    cause, levels = [*CAUSES][index], LEVELS[cycle % 2]
    strength = STRENGTHS[cycle // 4 % len(STRENGTHS)]
    command, work = planted_command(folder, cause, strength), Work(folder)
    # A quota takes as much of one thread's time as of each of two: all that is lost.
    begin, is_clocked = time.monotonic(), levels == LEVELS[0] and cause != QUOTA
    truth = _truth(command) if is_clocked else 1.0
    with neighbors(work.program, steady(DUTY, 1) if (cycle // 2 + index) % 2 else steady(0, 1)):
        document = _explained(command, cause, strength, folder, levels)
    found = {f"{_case(cause, levels)} {key}": [value] for key, value in _judged(cause, truth, document).items()}
    return found | {f"{_case(cause, levels)} took": [time.monotonic() - begin]}


def _case(cause: str, levels: tuple[int, int]) -> str:
    return cause if levels == LEVELS[0] else f"{cause} from {levels[0]} to {levels[1]}"


def planted_command(folder: Path, cause: str, strength: float) -> list[str]:
    """Return the command of a cause, compiled; `{threads}` stands for the level."""
    language, _, name = cause.rpartition(":")
    if language == "python":
        return [sys.executable, str(SOURCES / "planted.py"), name, "{threads}", str(strength)]
    if language == "java":
        if not (folder / "Planted.class").exists():
            subprocess.run(["javac", "-d", folder, SOURCES / "Planted.java"], check=True)
        return [*JAVA, "-cp", str(folder), "Planted", name, "{threads}", str(strength)]
    program = folder / "planted"
    if not program.exists():
        flags = tomllib.loads((SOURCES / "workload.toml").read_text(encoding="utf-8"))["build"]["flags"]
        subprocess.run(["cc", *flags, "-o", program, SOURCES / "main.c"], check=True)
    if cause == QUOTA:
        return [str(program), SCALES, "{threads}", str(strength), "200"]
    return [str(program), cause, "{threads}", str(strength)]


def _truth(command: Sequence[str]) -> float:
    """Share of the lost CPU time that the program counts as lost to the cause; 0 where none is lost.

    The median of those runs whose threads were least kept from a CPU by others.
    """
    runs: dict[int, list[tuple[float, float, float]]] = {1: [], 2: []}
    for _ in range(RUNS):
        for n, measured in runs.items():
            argv = [word.replace("{threads}", str(n)) for word in command]
            printed = subprocess.run(argv, capture_output=True, check=True, text=True).stdout.split()
            wall, lost, ready = map(float, [*printed, "0"][:3])
            measured.append((ready, wall, lost))
    (_, wall, lost), (_, wall_of_two, lost_of_two) = (
        map(median, zip(*sorted(runs[n])[: RUNS // 2 + 1], strict=True)) for n in (1, 2)
    )
    loss = 2 * wall_of_two - wall
    return (lost_of_two - lost) / loss if loss > 0 else 0.0


def _explained(
    command: Sequence[str], cause: str, strength: float, folder: Path, levels: tuple[int, int]
) -> dict[str, Any] | None:
    results, study, threads = folder / "results", folder / "study.toml", f"{levels[0]},{levels[1]}"
    subprocess.run(["rm", "-rf", results], check=True)
    options = ["--wait-lock", "10min", "--json"]
    if cause == QUOTA:
        cpus = round((1 - strength) / 4, 3)
        text = STUDY.format(command=json.dumps(command), threads=threads, cpus=cpus)
        study.write_text(text, encoding="utf-8")
        _scalograph("run", str(study), "-o", str(results), "--wait-lock", "10min")
        _scalograph("explain", str(results), *options)
    else:
        _scalograph("explain", "--runs", "2", "--threads", threads, "-o", str(results), *options, "--", *command)
    file = results / "explanation.json"
    return json.loads(file.read_text()) if file.is_file() else None


def _scalograph(*arguments: str) -> None:
    argv = [sys.executable, "-m", "scalograph", *arguments]
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ), check=False)


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
    is_own = [bool(planted & {part["kind"], part["what"], part["caller"]}) for part, _ in shares]
    own = sum(share for (_, share), is_its in zip(shares, is_own, strict=True) if is_its)
    others = max((share for (_, share), is_its in zip(shares, is_own, strict=True) if not is_its), default=0.0)
    total = sum(share for _, share in shares) + answer["unexplained"]
    return answer | {"share": own, "other": others, "first": float(own > others), "sum": total}


def figures(found: Round) -> list[Figure]:
    """Of each cause: how often it is first, and how near its share is; over all, what the design asks for."""
    cases = [_case(cause, levels) for levels in LEVELS for cause in CAUSES]
    listed = [figure for case in cases if f"{case} first" in found for figure in _of_cause(found, case)]
    return [*listed, *_over_all(found)]


def _of_cause(found: Round, case: str) -> Iterator[Figure]:
    named = [i for i, is_named in enumerate(found[f"{case} named"]) if is_named]
    first, own, truth, other = (
        [found[f"{case} {key}"][i] for i in named] for key in ("first", "share", "truth", "other")
    )
    if not named:
        return
    near = [abs(share - min(1.0, true)) <= NEAR for share, true in zip(own, truth, strict=True)]
    note = f"share {median(own):.2f}, by its own clocks {median(truth):.2f}; another at most {median(other):.2f}"
    yield _percentage(f"{case}: planted cause first", first, (">=", 95.0), note)
    if case in CAUSES:
        yield _percentage(f"{case}: share within 10 points", near, (">=", 95.0))


def _over_all(found: Round) -> Iterator[Figure]:
    def pick(key: str) -> list[float]:
        pairs = (zip(found[f"{c} {key}"], found[f"{c} named"], strict=True) for c in cases if f"{c} {key}" in found)
        return [value for each in pairs for value, is_named in each if is_named]

    cases = [_case(cause, levels) for levels in LEVELS for cause in CAUSES]
    planted = [name for c in CAUSES if c != SCALES for name in found.get(f"{c} named", [])]
    yield _percentage("a planted cause loses enough to be shown", planted, (">=", 95.0))
    yield _percentage("planted cause first, all", pick("first"), (">=", 95.0))
    yield _percentage("another cause above 20% of the loss", [x > LARGE for x in pick("other")], ("<=", 5.0))
    yield _percentage("parts sum to the loss within 5%", [abs(x - 1) <= 0.05 for x in pick("sum")], (">=", 100.0))
    yield _percentage("not explained above 20%", [x > LARGE for x in pick("unexplained")], ("<=", 5.0))
    scaling = [value for levels in LEVELS for value in found.get(f"{_case(SCALES, levels)} named", [])]
    yield _percentage("a program that scales: a cause is named", scaling, ("<=", 5.0))
    answered = [value for c in cases for value in found.get(f"{c} answered", [])]
    yield _percentage("answered at all", answered, (">=", 100.0))


def _percentage(name: str, flags: Sequence[float], target: tuple[str, float], note: str = "") -> Figure:
    share = 100 * sum(map(float, flags)) / len(flags) if flags else None
    return Figure(name, share, "%", target, note, len(flags))


if __name__ == "__main__":
    probe_rounds.DEPENDS += [imported_sources, lambda: SOURCES.glob("*.*")]
    probe_rounds.main("explain_truth", one_round, figures, rounds=(PASSES * len(CAUSES), N_QUICK))
