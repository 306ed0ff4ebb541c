"""Is the line of a break-even study where it says? Points that it never measured, chosen at random, are measured now.

Takes results of a study that asks for break-even (by itself: runs the one that ships), draws as many fresh points on
either side of its line, runs both versions there in randomised blocks, and counts how often the told side is right.
Where the measured ratio is too near to 1 for the noise of these runs, a point decides nothing, and counts as that.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from pathlib import Path

import numpy as np

from scalograph.cli.pipeline import StudyStart, run_declared
from scalograph.findings import table
from scalograph.protocol import results
from scalograph.questions.break_even.answer import EndedSearch, replay_search
from scalograph.questions.break_even.model import SURE
from scalograph.study.declare import Declared, declare
from scalograph.study.responses import primary_response
from scalograph.study.shipped import shipped_study
from scalograph.verdict.cause import COUNTED

NAMES = {1: "loses", -1: "wins"}


@dataclass(frozen=True)
class Point:
    """A fresh point: its index, what was told of it (1: the other version is slower), and the told log ratio."""

    index: int
    side: int
    told: float


def fresh(told: EndedSearch, n: int, seed: int) -> list[Point]:
    """Points that were decided and never measured, half of them on either side as far as there are so many."""
    mean, sd = told.surface(told.space.coordinates())
    sure = [i for i in range(len(mean)) if abs(mean[i]) > SURE * sd[i] and i not in told.state.asked]
    sides = {side: [i for i in sure if np.sign(mean[i]) == side] for side in NAMES}
    draw, taken = random.Random(seed), list[Point]()
    for side, indices in sorted(sides.items(), key=lambda item: len(item[1])):
        share = min(len(indices), n - len(taken) if taken else n // 2)
        taken += [Point(i, side, float(mean[i])) for i in sorted(draw.sample(indices, share))]
    return taken


def only(declared: Declared, told: EndedSearch, points: list[Point], runs: int) -> Declared:
    """The study as a sweep over both versions at these points."""
    wanted = {point.index for point in points}
    left_out = [point for i, point in enumerate(told.space.points) if i not in wanted]
    levels = [{n: _level(x) for n, x in zip(told.space.names, point, strict=True)} for point in left_out]
    exclude = [*declared.study.exclude, *({n: [x] for n, x in point.items()} for point in levels)]
    protocol = declared.study.protocol.model_copy(update={"runs": runs, "precision": None, "budget_s": None})
    changes = {"question": "sweep", "exclude": exclude, "protocol": protocol, "published": None, "baseline": {}}
    return replace(declared, study=declared.study.model_copy(update=changes))


def _level(value: float) -> float | int:
    return int(value) if value == int(value) else value


def measured(read: table.Table, told: EndedSearch, points: list[Point]) -> dict[int, list[float]]:
    """Log ratios of the pairs of each point, from blocks in which both runs count."""
    name, found = primary_response(read.study), dict[int, list[float]]()
    by: dict[tuple[object, int], float] = {
        (row.key, row.block): row.scores[name]
        for row in read.successful_rows()
        if row.verdict in COUNTED and name in row.scores
    }
    for point in points:
        other, base = (tuple(t[n] for n in read.study.factors) for t in told.space.configurations[point.index])
        blocks = {block for key, block in by if key == other} & {block for key, block in by if key == base}
        found[point.index] = [log(by[other, block] / by[base, block]) for block in sorted(blocks)]
    return found


def judged(told: EndedSearch, points: list[Point], found: Mapping[int, list[float]]) -> tuple[Counter[str], float]:
    """How many points were told rightly, with a line for each on stderr; and the noise of a pair, in logs."""
    spread = [g - sum(gs) / len(gs) for gs in found.values() if len(gs) > 1 for g in gs]
    n_free = sum(len(gs) - 1 for gs in found.values() if len(gs) > 1)
    noise, counts = sqrt(sum(x * x for x in spread) / max(1, n_free)), Counter[str]()
    for point in points:
        gs = found[point.index]
        g = sum(gs) / len(gs) if gs else 0.0
        near = abs(g) <= SURE * noise / sqrt(max(1, len(gs)))
        word = "no pair" if not gs else "too near" if near else "right" if np.sign(g) == point.side else "wrong"
        counts[word] += 1
        at = ", ".join(f"{n} {x:g}" for n, x in zip(told.space.names, told.space.points[point.index], strict=True))
        line = f"{at:40} {NAMES[point.side]:6} told {exp(point.told):6.3g}  measured {exp(g):6.3g}  {word}"
        print(line, file=sys.stderr)
    return counts, noise


def tell(counts: Counter[str], noise: float, as_json: bool) -> None:
    """The share of the points that decide anything which were told rightly."""
    n = counts["right"] + counts["wrong"]
    share = 100 * counts["right"] / n if n else None
    note = f"{counts['right']} of {n}; {counts['too near']} too near to 1, {counts['no pair']} without a pair; "
    note += f"a pair varies by {100 * noise:.1f}%"
    name = "fresh points that are on the side that was told"
    if as_json:
        print(json.dumps({"name": name, "value": share, "unit": "%", "verdict": "figure", "note": note}))
    else:
        print(f"{name}: {'unknown' if share is None else f'{share:.0f}%'} ({note})")


def main() -> None:
    """Draw, run, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", help="of a study that asks for break-even; else it is run")
    parser.add_argument("--study", type=Path, help="its folder; default: study.toml of the results")
    parser.add_argument("--points", type=int, help="default 30, with --quick 8")
    parser.add_argument("--runs", type=int, default=3, help="pairs at each point")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, help="results of these runs; given ones are read, not run again")
    parser.add_argument("--quick", action="store_true", help="the quick form of the study, and fewer points")
    parser.add_argument("--json", action="store_true", help="one JSON line instead of a table")
    args = parser.parse_args()
    shipped = shipped_study("break-even")
    folder = results.locate_results(args.results or _searched(shipped, args.quick))
    told = replay_search(table.load(folder.journal, keep_observations=False))
    if told is None:
        raise SystemExit(f"{folder.journal}: no study of break-even, or too few pairs")
    points = fresh(told, args.points or (8 if args.quick else 30), args.seed)
    if args.output is None or not results.Results(args.output).journal.exists():
        source = args.study or (folder.study if args.results else shipped)
        declared = only(declare(source, args.quick and not args.results), told, points, args.runs)
        args.output = run_declared(declared, StudyStart(args.output, noise=False)).results.folder
    read = table.load(results.locate_results(args.output).journal, keep_observations=False)
    tell(*judged(told, points, measured(read, told, points)), args.json)


def _searched(study: Path, quick: bool) -> Path:
    return run_declared(declare(study, quick), StudyStart(noise=False)).results.folder


if __name__ == "__main__":
    main()
