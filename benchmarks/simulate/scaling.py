"""Simulate sweeps with known speedups, and check which sentences about them are false."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

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
    is_resolved,
)
from scalograph.study.load import parse
from scalograph.study.model import Published
from scalograph.study.published_claim import PublishedClaim
from scalograph.verdict.cause import Cause
from simulate import two_studies
from simulate.noise import FloatArray, Noise
from simulate.runs import amdahl, lock_collapse, sweep
from simulate.two_studies import Kind

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
_SETUP = ("simulated", "simulated", "none", "other", "0")  # of a probe: how each run was made
Shape = Callable[[float], float]


def simulate_study(
    rng: np.random.Generator, shapes: Sequence[Shape], noise: Noise, drift: float = 0.0, n_blocks: int = 5
) -> Table:
    """Simulate a study: a lock for each shape of speedups, every configuration once in each block."""
    times = {i: 1 / shape(n) for i, (shape, n) in enumerate(product(shapes, LEVELS))}
    scores, _ = sweep(rng, times, n_blocks, noise=noise, drift_total=drift, n_iterations=1)
    return _make_table(len(shapes), np.stack([*scores.values()], axis=1))


def simulate_regime(rng: np.random.Generator, shapes: Sequence[Shape], kind: Kind, n_blocks: int) -> Table:
    """Simulate such a study under a kind of noise that machines have, in the order of its runs."""
    typical = np.array([1 / shape(n) for shape, n in product(shapes, LEVELS)])
    return _make_table(len(shapes), two_studies.study(rng, typical, n_blocks, kind))


def _make_table(n_shapes: int, scores: FloatArray) -> Table:
    """Return the table of a study with these scores, shape (n_blocks, n_configurations)."""
    n_blocks, n = scores.shape
    study = parse(_STUDY % (", ".join(f'"{i}"' for i in range(n_shapes)), n_blocks))
    configurations: list[Mapping[str, Level]] = [
        {"threads": n, "lock": str(i)} for i in range(n_shapes) for n in LEVELS
    ]
    rows = [
        Row(
            f"r{k}-{b}", b, b, False, configurations[k], "ok", None, "clean", (), {}, {"wall": float(x)},
            n_cpus=N_CPUS, setup=_SETUP, taken=0.0, wall_s=float(x), cpu_s=float(x),
        )
        for k in range(n) for b, x in enumerate(scores[:, k])
    ]  # fmt: skip
    return Table(study, "simulated", {}, configurations, [n_blocks] * n, rows)


def disturb_runs(rng: np.random.Generator, table: Table, share: float) -> Table:
    """Slow a share of the runs of a study, as interference does; as many are unverified, the others lost a little."""
    cause = Cause("steal", 0.1, "of its time", "10% of its time was stolen")
    for i, row in enumerate(table.rows):
        kind, lost = rng.random(), float(rng.uniform(0, 0.01))
        if kind < share:
            scores = {"wall": row.scores["wall"] * 1.3}
            row = structs.replace(row, verdict="disturbed", causes=(cause,), taken=0.1, scores=scores)
        elif kind < 2 * share:
            row = structs.replace(row, verdict="unverified", taken=None)
        table.rows[i] = structs.replace(row, taken=lost) if row.verdict == "clean" else row
    return table


def check_sentences(table: Table, shapes: Sequence[Shape]) -> dict[str, bool]:
    """Tell which templates are said of a study, and whether each is false there."""
    taken = samples_by_configuration(table)
    drawn = make_curves(table, taken)
    points = compare_points(table, taken, drawn)
    best, answer = find_best_gain(table, points), claim(table, taken, drawn)
    stated = {case.case for case in answer.cases} if answer else set()

    def truth(point: ComparedPoint) -> float:
        return shapes[int(str(point.curve.group["lock"]))](point.level)

    is_false = {}
    slower = [point for point in points if point.state == "slower"]
    if best is None and slower:
        is_false["slower"] = truth(min(slower, key=lambda point: point.high)) >= 1
    if "no gain" in stated:
        is_false["no gain"] = any(truth(point) > NO_GAIN for point in points)
    if "equivalent" in stated:
        is_false["equivalent"] = any(abs(np.log(truth(point))) > np.log(NO_GAIN) for point in points)
    if "open" in stated and answer:
        most = next(float(case.values["most"]) for case in answer.cases if case.case == "open")
        is_false["open"] = any(abs(np.log(truth(point))) > np.log1p(most) for point in points if is_resolved(point))
    if best is None:
        return is_false
    members = [truth(point) for point in best.members]
    is_false["faster"] = min(members) <= 1
    low, high = min(p.low for p in best.members), max(p.high for p in best.members)
    is_false["gain"] = not all(low <= value <= high for value in members)
    if best.others:
        is_false["lower"] = any(truth(p) > max(members) * np.exp(LEAST) for p in best.others)
    past = find_decline(table, taken, best, points)
    if past is not None and past.setting:
        better, worse = ([truth(point) for point in part] for part in past.parts)
        is_false["split decline"] = min(better) <= max(worse)
    elif past is not None:
        before = {id(point.curve): truth(point) for point in best.members}
        is_false["decline"] = any(truth(point) >= before[id(point.curve)] for point in past.parts[0])
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
