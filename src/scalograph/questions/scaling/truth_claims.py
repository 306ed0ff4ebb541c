"""Studies of which the truth lies at the end of the range that bears a claim out: how often is it decided, and wrongly?

At the very end a claim can be decided wrongly both ways: just outside it is false that it holds, just inside it is
false that it does not. Farther off either is rarer.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from msgspec import structs

from scalograph.findings.claim_offers import OfferHere
from scalograph.findings.published_claims import decided_claims
from scalograph.findings.sample import samples
from scalograph.findings.table import Table
from scalograph.protocol.published_claim import Decision
from scalograph.questions.scaling.truth import NOISES, Shape, simulated
from scalograph.study.model import Published
from scalograph.study.published_claim import PublishedClaim

# Kind of claim -> its selections; the figures are of `lock` 0 along threads, or of all locks.
CLAIMS: Mapping[str, Mapping[str, object]] = {
    "one ratio": {"kind": "ratio", "where": {"lock": "0"}, "of": {"threads": 16}, "over": {"threads": 1}},
    "a ratio of each lock": {"kind": "ratio", "of": {"threads": 16}, "over": {"threads": 1}, "along": "lock"},
    "flat": {"kind": "flat", "where": {"lock": "0"}, "along": "threads"},
    "in order": {"kind": "order", "where": {"lock": "0"}, "along": "threads"},
}
N_LOCKS = 4
# A figure that is well inside: the others of a claim of which one is at the end.
INSIDE = 0.7
# Kinds of noise that a machine has, and two of figures: one level is noisier than the others; a clock that ticks.
WAYS = (*NOISES, "one level noisier", "ticks")
TICK = 0.02


def decision(rng: np.random.Generator, kind: str, way: str, n_blocks: int, alone: bool, high: float = 1.0) -> Decision:
    """Decide a claim whose range ends where the truth is, at 1, or beyond it.

    Args:
        rng: source of randomness.
        kind: of `CLAIMS`.
        way: of `WAYS`.
        n_blocks: runs of each configuration.
        alone: whether one figure is at the end, and the others are well inside; else all are at the end.
        high: upper end of the range.
    """
    noise, drift = NOISES[way] if way in NOISES else NOISES["normal"]
    table = simulated(rng, _shapes(kind, alone), noise, drift, n_blocks)
    shown = [_shown(rng, way, row.treatment, row.scores["wall"]) for row in table.rows]
    table.rows[:] = [structs.replace(row, scores={"wall": x}) for row, x in zip(table.rows, shown, strict=True)]
    return _decided(table, [_claim(one, high) for one in sorted(CLAIMS, key=lambda one: one != kind)])


def _claim(kind: str, high: float) -> PublishedClaim:
    return PublishedClaim.model_validate({"id": "a", "sentence": kind, "holds": [0.2, high], **CLAIMS[kind]})


def _shapes(kind: str, alone: bool) -> list[Shape]:
    """Speedups; the time of 16 threads of lock 0 is that of one thread, and so are the others where not `alone`."""
    others = INSIDE if alone else 1.0
    along = {"flat": dict.fromkeys((2, 4, 8), others), "in order": {n: others**k for k, n in enumerate((1, 2, 4, 8))}}
    times = along.get(kind, {})
    last = times.get(8, 1.0) if kind == "in order" else 1.0
    return [
        lambda n: 1 / {**times, 16: last}.get(int(n), 1.0),
        *[lambda n: 1.0 if n == 1 else 1 / others] * (N_LOCKS - 1),
    ]


def _shown(rng: np.random.Generator, way: str, treatment: Mapping[str, object], score: float) -> float:
    if way == "one level noisier" and treatment["threads"] == 16:
        return score * float(np.exp(0.15 * rng.standard_normal()))
    return max(TICK, round(score / TICK) * TICK) if way == "ticks" else score


def _decided(table: Table, claims: list[PublishedClaim]) -> Decision:
    """The first of them; the others lend it what they know of the spread of runs."""
    study = table.study.model_copy(update={"published": Published(claims=claims)})
    return decided_claims(replace(table, study=study), samples(table), lambda _: OfferHere(""))[0].decision
