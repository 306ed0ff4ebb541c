"""Simulate sweeps with known speedups, and check which sentences about them are false."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from msgspec import structs

from scalograph.findings.curves import make_curves
from scalograph.findings.published.published_claims import OfferedQuantity, decide_claims
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import Decision
from scalograph.questions.scaling.claim import claim
from scalograph.questions.scaling.model_claim import (
    LEAST,
    NO_GAIN,
    ComparedPoint,
    compare_points,
    find_best_gain,
    find_decline,
)
from scalograph.simulate.noise import Noise
from scalograph.simulate.runs import amdahl, lock_collapse, sweep
from scalograph.study.load import parse
from scalograph.study.model import Published
from scalograph.study.published_claim import PublishedClaim

N_CPUS, LEVELS = 4, (1, 2, 4, 8, 16)
SHAPES: Mapping[str, Callable[[float], float]] = {
    "flat": lambda n: 1.0,
    "linear": lambda n: min(n, N_CPUS),
    "amdahl": lambda n: amdahl(min(n, N_CPUS), 0.2),
    "cap": lambda n: min(n, 2.0),
    "cliff": lambda n: lock_collapse(n, 8, 0.5, lambda n: min(n, N_CPUS)),
    "odd-even": lambda n: 1.0 if n in (1, 4, 16) else 1.5,
    "slower": lambda n: 1.0 if n == 1 else 0.7,
}
# Name -> of runs, and by how much the machine slows down over the study.
NOISES: Mapping[str, tuple[Noise, float]] = {
    "quiet": (Noise(0.005, 0.005), 0.0),
    "normal": (Noise(0.02, 0.03), 0.0),
    "outliers": (Noise(0.02, 0.03, 0.05, 3.0), 0.0),
    "drift": (Noise(0.02, 0.03), 0.2),
}
_STUDY = """
version = 1
name = "simulated"
title = "Does it scale?"
work = "total"
seed = 0
[workload]
command = ["p", "{threads}"]
[factors.threads]
levels = [1, 2, 4, 8, 16]
[factors.lock]
levels = [%s]
[protocol]
runs = %d
[baseline]
threads = 1
"""
Shape = Callable[[float], float]


def simulate_study(
    rng: np.random.Generator, shapes: Sequence[Shape], noise: Noise, drift: float = 0.0, n_blocks: int = 5
) -> Table:
    """Simulate a study: a lock for each shape of speedups, every configuration once in each block."""
    study = parse(_STUDY % (", ".join(f'"{i}"' for i in range(len(shapes))), n_blocks))
    places = {(i, n): 1 / shape(n) for i, shape in enumerate(shapes) for n in LEVELS}
    keys = list(places)
    times = dict(enumerate(places.values()))
    scores, blocks = sweep(rng, times, n_blocks, noise=noise, drift_total=drift, n_iterations=1)
    configurations: list[Mapping[str, Level]] = [{"threads": n, "lock": str(i)} for i, n in keys]
    rows = [
        Row(f"r{k}-{b}", b, b, False, configurations[k], "ok", None, "clean", (), {}, {"wall": float(x)}, n_cpus=N_CPUS)
        for k, values in scores.items()
        for b, x in zip(blocks[k], values, strict=True)
    ]
    return Table(study, "simulated", {}, configurations, [n_blocks] * len(configurations), rows)


def check_sentences(table: Table, shapes: Sequence[Shape]) -> dict[str, bool]:
    """Tell which templates are said of a study, and whether each is false there."""
    taken = samples_by_configuration(table)
    drawn = make_curves(table, taken)
    points = compare_points(table, taken, drawn)
    best, answer = find_best_gain(table, points), claim(table, taken, drawn)
    text = " ".join(answer.sentences) if answer else ""

    def truth(point: ComparedPoint) -> float:
        return shapes[int(str(point.curve.group["lock"]))](point.level)

    is_false = {}
    slower = [point for point in points if point.state == "slower"]
    if best is None and slower:
        is_false["falls to"] = truth(min(slower, key=lambda point: point.high)) >= 1
    if "never help" in text:
        is_false["never help"] = any(truth(point) > NO_GAIN for point in points)
    if "change nothing" in text:
        is_false["change nothing"] = any(abs(np.log(truth(point))) > np.log(NO_GAIN) for point in points)
    if best is None:
        return is_false
    members = [truth(point) for point in best.members]
    is_false["faster"] = min(members) <= 1
    low, high = min(p.low for p in best.members), max(p.high for p in best.members)
    is_false["so many times"] = not all(low <= value <= high for value in members)
    if best.unless:
        low, high = min(members) * np.exp(-LEAST), max(members) * np.exp(LEAST)
        is_false["unless"] = any(low < truth(p) < high for p in best.others)
    if "only make it slower" in text:
        curves_of = {id(point.curve) for point in best.others}
        is_false["only slower"] = any(truth(point) >= 1 for point in points if id(point.curve) in curves_of)
    past = find_decline(table, taken, best, points)
    if past is not None and past.setting:
        better, worse = ([truth(point) for point in part] for part in past.parts)
        is_false["keeps, falls"] = min(better) <= max(worse)
    elif past is not None:
        before = {id(point.curve): truth(point) for point in best.members}
        is_false["falls back"] = any(truth(point) >= before[id(point.curve)] for point in past.parts[0])
    return is_false


# Kind of claim -> its selections; the figures are of `lock` 0 along threads, or of all locks.
CLAIMS: Mapping[str, Mapping[str, object]] = {
    "one ratio": {"kind": "ratio", "where": {"lock": "0"}, "of": {"threads": 16}, "over": {"threads": 1}},
    "a ratio of each lock": {"kind": "ratio", "of": {"threads": 16}, "over": {"threads": 1}, "along": "lock"},
    "flat": {"kind": "flat", "where": {"lock": "0"}, "along": "threads"},
    "in order": {"kind": "order", "where": {"lock": "0"}, "along": "threads"},
}
INSIDE = 0.7  # a figure that is well inside: the others of a claim of which one is at the end
# Kinds of noise that a machine has, and two of figures: one level is noisier than the others; a clock that ticks.
WAYS = (*NOISES, "one level noisier", "ticks")
TICK = 0.02


def decide_claim(
    rng: np.random.Generator, kind: str, way: str, n_blocks: int, alone: bool, high: float = 1.0
) -> Decision:
    """Decide a claim whose range ends at the truth, at 1, or beyond it.

    `alone`: whether one figure is at the end, and the others are well inside; else all are at the end.
    """
    noise, drift = NOISES[way] if way in NOISES else NOISES["normal"]
    table = simulate_study(rng, _shapes(kind, alone), noise, drift, n_blocks)
    shown = [_add_noise(rng, way, row.configuration, row.scores["wall"]) for row in table.rows]
    table.rows[:] = [structs.replace(row, scores={"wall": x}) for row, x in zip(table.rows, shown, strict=True)]
    # The other claims contribute to the estimate of the spread of runs.
    kinds = sorted(CLAIMS, key=lambda other: other != kind)
    fields = [{"id": "a", "sentence": other, "holds": [0.2, high], **CLAIMS[other]} for other in kinds]
    claims = [PublishedClaim.model_validate(own) for own in fields]
    study = table.study.model_copy(update={"published": Published(claims=claims)})
    taken, offers = samples_by_configuration(table), lambda _: OfferedQuantity("")
    return decide_claims(replace(table, study=study), taken, offers)[0].decision


def _shapes(kind: str, alone: bool) -> list[Shape]:
    """Return speedups; 16 threads of lock 0 take the time of one thread, as do the others unless `alone`."""
    others = INSIDE if alone else 1.0
    along = {"flat": dict.fromkeys((2, 4, 8), others), "in order": {n: others**k for k, n in enumerate((1, 2, 4, 8))}}
    times = along.get(kind, {})
    last = times.get(8, 1.0) if kind == "in order" else 1.0
    rest: Shape = lambda n: 1.0 if n == 1 else 1 / others  # noqa: E731
    return [lambda n: 1 / {**times, 16: last}.get(int(n), 1.0), *[rest] * 3]  # of four locks


def _add_noise(rng: np.random.Generator, way: str, configuration: Mapping[str, object], score: float) -> float:
    if way == "one level noisier" and configuration["threads"] == 16:
        return score * float(np.exp(0.15 * rng.standard_normal()))
    return max(TICK, round(score / TICK) * TICK) if way == "ticks" else score
