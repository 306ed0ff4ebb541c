"""Whose speedup is right while a neighbor comes and goes? Ours and that of other tools, under one schedule.

Round i of each tool runs under scene i, drawn from a seed: a neighbor on one CPU or both that comes and goes, present
for none, a quarter, half or three quarters of the time. Five runs at one thread, five at two, of the same work; the
truth comes from interleaved runs without a neighbor, of which only those count that an independent witness saw
undisturbed (verdict_witness.py). 200 rounds of ours, the first 40 of every tool.

The truth is timed by the probe, as ours is: another clock would be another figure. It is the ratio of medians: the host
has hours in which all runs take an eighth longer, and no witness inside a guest sees why.
"""

import random
import sys
from pathlib import Path

from probe_common import Figure
from probe_rounds import Round, main
from verdict_common import SEED, Work, coming_and_going, neighbors
from verdict_study import TRUTHS, quiet_paces, small_study, truth
from verdict_tools import at_hand, missing

from scalograph.analysis.estimate import Estimate

SECONDS = 0.5
ROUNDS, OF_PEERS = 200, 40
PRESENT = (0.0, 0.25, 0.5, 0.75)
# Intervals of 95% may miss 18 of 200: 9%, of however many answers there are.
OFF, MISSES = 0.10, 9.0
# Value, ends of the interval, and whether all clean runs were made.
Answer = tuple[float, float, float, float]
NOT_KNOWN = -1.0  # in a journal of numbers: no interval


def one_round(folder: Path, number: int) -> Round:
    """A small study and, in the first rounds, each other tool under the same scene from its start; then the truth."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    scene = coming_and_going(draw, PRESENT[number % len(PRESENT)])
    found: dict[str, list[float]] = {}
    with neighbors(work.program, scene):
        study = small_study(work, SECONDS, draw)
    for name, estimate in (("ours", study.speedup), ("unjudged", study.unjudged)):
        ends = (estimate.value, estimate.low, estimate.high) if estimate else (None,) * 3
        for key, value in zip(("value", "low", "high"), ends, strict=True):
            found[f"{name} {key}"] = [NOT_KNOWN if value is None else value]
    found["ours full"] = [float(study.full)]
    for name, tool in at_hand().items() if number < OF_PEERS else ():
        with neighbors(work.program, scene):
            told = tool(folder, work.argv(SECONDS, 1), work.argv(SECONDS, 2))
        found[f"{name} value"], found[f"{name} warned"] = [told.speedup], [float(told.warned)]
    return {**found, **quiet_paces(folder, work, SECONDS)}


def figures(found: Round) -> list[Figure]:
    """The truth, then ours against it, then the other tools."""
    true, known = truth(found)
    n = known.n
    return [known] if true.value is None else [known, *_ours(found, true, n >= TRUTHS), *_contrasts(found, true.value)]


def _ours(found: Round, true: Estimate, judged: bool) -> list[Figure]:
    answers = zip(*(found[f"ours {key}"] for key in ("value", "low", "high", "full")), strict=True)
    known: list[Answer] = [answer for answer in answers if answer[0] != NOT_KNOWN]
    full = [answer for answer in known if answer[3]]
    without = len(found["ours value"]) - len(known)
    return [
        *_against(known, true, "not flagged", judged, f"{without} rounds without an answer"),
        *_against(full, true, "not flagged, all clean runs made", judged, ""),
    ]


def _against(answers: list[Answer], true: Estimate, name: str, judged: bool, note: str) -> list[Figure]:
    """How many values are off, and how many intervals miss: on either side, for a truth that is off has them on one."""
    value, n = true.value or 1.0, len(answers)
    wrong = sum(abs(found / value - 1) > OFF for found, *_ in answers)
    above, below = (sum(low > value for _, low, *_ in answers), sum(high < value for *_, high, _ in answers))
    apart = sum(low > (true.high or value) or high < (true.low or value) for _, low, high, _ in answers)
    sides = f"{above} lie above it, {below} below; {apart} miss its interval too"
    off, misses = (("<=", 0), ("<=", MISSES)) if judged else (None, None)
    return [
        Figure(f"speedups off by more than 10%, {name}", wrong, "", off, note, n),
        Figure(f"intervals that miss the truth, {name}", 100 * (above + below) / max(1, n), "%", misses, sides, n),
    ]


def _contrasts(found: Round, true: float) -> list[Figure]:
    """Each tool's own figure against the truth, over the rounds that all tools share, ours among them."""
    names = [key.removesuffix(" value") for key in found if key.endswith(" value")]
    table = []
    for name in names:
        values = found[f"{name} value"][:OF_PEERS]
        errors = [abs(value / true - 1) for value in values if value != NOT_KNOWN]
        if errors:
            warned = found.get(f"{name} warned")
            note = f"largest error {100 * max(errors):.0f}%" + (
                f", it warns in {sum(warned):.0f} rounds" if warned else ""
            )
            off = 100 * sum(error > OFF for error in errors) / len(errors)
            table.append(Figure(f"speedup off by more than 10%: {name}", off, "%", None, note, len(errors)))
    return table


if __name__ == "__main__":
    for text in missing():
        print(text, file=sys.stderr)
    main("verdict_peers", one_round, figures, rounds=(ROUNDS, 2))
