"""How often is the same build called slower beside a neighbor that comes and goes, and 5% more work found?

A round asks each tool of two builds that are the same, then of one with 5% more work: ten runs of each build, while
the neighbor plays the same schedule from its start. Refused is "inconclusive", which a threshold cannot say.
"""

import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import probe_rounds
from command_common import ROOT
from gate_tools import MORE, TOOLS, WORDS, GateAnswer, at_hand, builds, missing
from probe_common import Figure, median
from probe_rounds import Round
from verdict_common import SEED, Work, coming_and_going, neighbors, wilson

ROUNDS = 60
PRESENT = (0.25, 0.5, 0.75)
OURS = ("ab", "gate")
# Above which ratio of means a build is called slower, where a tool leaves that to its user.
THRESHOLDS = (0.05, 0.02)
CASES = {"same": "same build", "more": f"{100 * MORE:g}% more work"}
NOT_SAID = -1.0  # in a journal of numbers


def one_round(folder: Path, number: int) -> Round:
    """Each tool in random order: first of the same build, then of the one with more work."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    builds(folder, work.per_second)
    scene = coming_and_going(draw, PRESENT[number % len(PRESENT)])
    found: dict[str, list[float]] = {}
    for name in draw.sample(sorted(at_hand()), len(at_hand())):
        for case in CASES:
            with neighbors(work.program, scene):
                begin = time.monotonic()
                told = at_hand()[name](folder, "base", case)
                took_s = time.monotonic() - begin
            shutil.rmtree(folder / "results", ignore_errors=True)
            found |= {f"{name} {case} {key}": [value] for key, value in _numbers(told, took_s).items()}
    return found


def _numbers(told: GateAnswer, took_s: float) -> dict[str, float]:
    said = NOT_SAID if told.said is None else float(WORDS.index(told.said))
    return {"said": said, "ratio": NOT_SAID if told.ratio is None else told.ratio, "took": took_s}


def figures(found: Round) -> list[Figure]:
    """Of each tool: the same build called slower, more work found, and how many were refused."""
    return [figure for name in TOOLS if f"{name} same said" in found for figure in _of_tool(found, name)]


def _of_tool(found: Round, name: str) -> Iterator[Figure]:
    took = median(value for case in CASES for value in found[f"{name} {case} took"])
    judged = {case: list(_judged(found, name, case)) for case in CASES}
    for (shown, same), (_, more) in zip(*judged.values(), strict=True):
        target = ("<=", 0.0) if name in OURS else None
        yield _share(f"{shown}: {CASES['same']}, called slower", same, "slower", target, f"{took:.1f} s a gate")
        yield _share(f"{shown}: {CASES['same']}, refused", same, "refused")
        yield _share(f"{shown}: {CASES['more']}, found", more, "slower")
        yield _share(f"{shown}: {CASES['more']}, refused", more, "refused")


def _judged(found: Round, name: str, case: str) -> Iterator[tuple[str, list[str]]]:
    """What a tool said in each round; by each threshold where it leaves that to its user."""
    said, ratios = found[f"{name} {case} said"], found[f"{name} {case} ratio"]
    if NOT_SAID not in said:
        yield name, [WORDS[int(number)] for number in said]
        return
    for threshold in THRESHOLDS:
        yield f"{name}, threshold {100 * threshold:g}%", [_by_threshold(ratio, threshold) for ratio in ratios]


def _by_threshold(ratio: float, threshold: float) -> str:
    return "slower" if ratio > 1 + threshold else "faster" if ratio < 1 / (1 + threshold) else "passed"


def _share(
    name: str, said: Sequence[str], word: str, target: tuple[str, float] | None = None, note: str = ""
) -> Figure:
    """Share of gates that say a word, with its interval and how many say each other one."""
    n, hits = len(said), said.count(word)
    others = ", ".join(f"{said.count(other)} {other}" for other in WORDS if other in said)
    low, high = wilson(hits, n)
    return Figure(name, 100 * hits / n, "%", target, "; ".join(filter(None, (
        f"95%: {low:.0f} to {high:.0f}%", others, note
    ))), n)  # fmt: skip


if __name__ == "__main__":
    for text in missing():
        print(text, file=sys.stderr)
    # What a command says depends on all sources.
    probe_rounds.DEPENDS |= set((ROOT / "src").rglob("*.py"))
    probe_rounds.main("gate_peers", one_round, figures, rounds=(ROUNDS, 3))
