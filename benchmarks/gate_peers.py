"""How often is the same build called slower while another process comes and goes, and 5% more work found?

A round asks each tool of two builds that are the same, then of one with 5% more work: ten runs of each build, while
another process repeats the same schedule. The builds are of two programs: a loop that needs no cache, and one that
sorts and hashes, which others on its core or cache slow down. A threshold cannot be inconclusive.
"""

import random
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import probe_rounds
from gate_tools import MORE, PROGRAMS, TOOLS, WORDS, GateAnswer, at_hand, builds, imported_sources, missing
from probe_common import Figure, median
from probe_rounds import Round
from verdict_common import SEED, Work, coming_and_going, neighbors, wilson

ROUNDS = 60
OURS = ("ab", "gate")
PRESENT = (0.25, 0.5, 0.75)
# Above which ratio of means a build is called slower, where a tool leaves that to its user.
THRESHOLDS = (0.05, 0.02)
TRUTH = {"same": 1.0, "more": 1 + MORE}
CASES = {"same": "same build", "more": f"{100 * MORE:g}% more work"}
SHOWN = {"loop": "loop", "mix": "sort and hash"}
NOT_SAID = -1.0  # in a journal of numbers
# Of 60 rounds: a right method calls 3 of the same build slower or faster by chance, and more than 5 in 8% of cases.
FALSE, WRONG, FOUND = ("<=", 100 * 5 / 60), ("<=", 100 * 1 / 60), {"loop": 55, "mix": 42}
SECONDS = 1.5 * 4.0  # that a gate of ours may take


def one_round(folder: Path, number: int) -> Round:
    """Each tool in random order: first of the same build, then of the one with more work, of each program."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    builds(folder)
    scene = coming_and_going(draw, PRESENT[number % len(PRESENT)])
    found: dict[str, list[float]] = {}
    asked = [(program, name) for program in PROGRAMS for name in sorted(at_hand())]
    for program, name in draw.sample(asked, len(asked)):
        for case in CASES:
            with neighbors(work.program, scene):
                begin = time.monotonic()
                told = at_hand()[name](folder / program, "base", case)
                took_s = time.monotonic() - begin
            shutil.rmtree(folder / program / "results", ignore_errors=True)
            found |= {f"{program} {name} {case} {key}": [value] for key, value in numbers(told, took_s).items()}
    return found


def numbers(told: GateAnswer, took_s: float) -> dict[str, float]:
    """Return an answer as a journal of numbers holds it."""
    said = NOT_SAID if told.said is None else float(WORDS.index(told.said))
    ratio = NOT_SAID if told.ratio is None else told.ratio
    low, high = told.ends or (NOT_SAID, NOT_SAID)
    named = float(told.names_ab)
    return {"said": said, "ratio": ratio, "low": low, "high": high, "took": took_s, "names ab": named}


def figures(found: Round) -> list[Figure]:
    """Of each tool and program: what was said of the same build, and of one with more work; then our intervals."""
    asked = [(program, name) for program in PROGRAMS for name in TOOLS if f"{program} {name} same said" in found]
    ours = [coverage(found, name) for name in TOOLS if f"loop {name} same low" in found and name in OURS]
    return [figure for program, name in asked for figure in _of_tool(found, program, name)] + ours


def _of_tool(found: Round, program: str, name: str) -> Iterator[Figure]:
    key, is_ab, is_ours = f"{program} {name}", name == "ab", name in OURS
    took = [value for case in CASES for value in found[f"{key} {case} took"]]
    judged = {case: list(_judged(found, f"{key} {case}")) for case in CASES}
    for (by, same), (_, more) in zip(*judged.values(), strict=True):
        shown = f"{name}{by}, {SHOWN[program]}"
        yield share(
            f"{shown}: {CASES['same']}, slower or faster", same, ("slower", "faster"), FALSE if is_ours else None
        )
        if not by:
            yield share(f"{shown}: {CASES['same']}, inconclusive", same, ("inconclusive",))
        yield share(f"{shown}: {CASES['more']}, faster or passed", more, ("faster", "passed"), WRONG if is_ab else None)
        enough = (">=", 100 * FOUND[program] / ROUNDS) if is_ab else None
        yield share(f"{shown}: {CASES['more']}, found", more, ("slower",), enough)
        if not by:
            yield share(f"{shown}: {CASES['more']}, inconclusive", more, ("inconclusive",))
    yield Figure(
        f"{name}, {SHOWN[program]}: a gate", median(took), "s", ("<=", SECONDS) if is_ab else None, "", len(took)
    )
    if name == "gate":
        yield _names_ab(found, key, f"{name}, {SHOWN[program]}")


def coverage(found: Round, name: str) -> Figure:
    """Return how many intervals of all programs hold the true ratio; its own interval has to reach 95% for `ab`."""
    keys = [(f"{program} {name} {case}", TRUTH[case]) for program in PROGRAMS for case in CASES]
    ends = [
        (low <= true <= high)
        for key, true in keys
        for low, high in zip(found.get(f"{key} low", ()), found.get(f"{key} high", ()), strict=True)
        if low != NOT_SAID
    ]
    if not ends:
        return Figure(f"{name}: intervals that hold the truth, upper end", None, "%", None, "no interval", 0)
    low, high = wilson(sum(ends), len(ends))
    note = f"{sum(ends)} of {len(ends)}: {low:.0f} to {high:.0f}%"
    return Figure(
        f"{name}: intervals that hold the truth, upper end", high, "%",
        (">=", 95.0) if name == "ab" else None, note, len(ends),
    )  # fmt: skip


def _names_ab(found: Round, key: str, shown: str) -> Figure:
    """Return how many of its inconclusive answers name `ab`, which can tell."""
    inconclusive = float(WORDS.index("inconclusive"))
    pairs = [
        named
        for case in CASES
        for said, named in zip(found[f"{key} {case} said"], found[f"{key} {case} names ab"], strict=True)
        if said == inconclusive
    ]
    value = 100 * sum(pairs) / len(pairs) if pairs else None
    return Figure(f"{shown}: inconclusive, names `ab`", value, "%", (">=", 100.0), "", len(pairs))


def _judged(found: Round, key: str) -> Iterator[tuple[str, list[str]]]:
    """What a tool said in each round; by each threshold where it leaves that to its user."""
    said, ratios = found[f"{key} said"], found[f"{key} ratio"]
    if NOT_SAID not in said:
        yield "", said_words(said)
        return
    for threshold in THRESHOLDS:
        yield f" {100 * threshold:g}%", [_by_threshold(ratio, threshold) for ratio in ratios]


def said_words(said: Iterable[float]) -> list[str]:
    """Return the words behind the numbers of a journal."""
    return [WORDS[int(number)] for number in said]


def _by_threshold(ratio: float, threshold: float) -> str:
    return "slower" if ratio > 1 + threshold else "faster" if ratio < 1 / (1 + threshold) else "passed"


def share(
    name: str, said: Sequence[str], words: tuple[str, ...], target: tuple[str, float] | None = None, note: str = ""
) -> Figure:
    """Share of gates that say one of these words, with its interval and how many say each word."""
    n, hits = len(said), sum(word in words for word in said)
    told = ", ".join(f"{said.count(word)} {word}" for word in WORDS if word in said)
    low, high = wilson(hits, n)
    return Figure(name, 100 * hits / n, "%", target, "; ".join(filter(None, (
        f"95%: {low:.0f} to {high:.0f}%", told, note
    ))), n)  # fmt: skip


if __name__ == "__main__":
    for text in missing():
        print(text, file=sys.stderr)
    probe_rounds.DEPENDS.append(imported_sources)
    probe_rounds.main("gate_peers", one_round, figures, rounds=(ROUNDS, 3))
