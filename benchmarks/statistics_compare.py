"""What is said of two results, and how often is it false? A sweep of six sizes, twice, each a study of its own.

False is: slower, where nothing changed; the same within a margin, where the largest
size differs by more. Found is: slower, where a change makes the largest size slower by so much: of all times (level),
of the serial share, or of the cost of coherency. Disturbed runs are found and left out, as a study does; from more than
half of them on nothing may be said.
"""

from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np
from simulate.noise import HIGH, LOW, FloatArray, Noise
from simulate.two_studies import KINDS, SIZES, Kind, Place, study, times
from statistics_common import Case, Measure, main, share

from scalograph.exchange.compare.measured_source import MeasuredSource, SourceConfiguration
from scalograph.exchange.compare.result_answer import compare_sources
from scalograph.protocol.compared_results import ResultComparison
from scalograph.protocol.findings import FactorDoc, ResponseDoc, Trust

FALSE, FOUND, ALL = (0.0, 5.0), (80.0, 100.0), (100.0, 100.0)
RUNS = 10  # of `measure`
QUIET: dict[str, Noise] = {"low": LOW, "high": HIGH}


def source(label: str, scores: FloatArray, lost: FloatArray | None = None) -> MeasuredSource:
    """A sweep as a result; runs that were disturbed are left out where two clean ones are left.

    Args:
        label: its name.
        scores: shape (n_blocks, n_sizes).
        lost: which were disturbed, of the same shape; None for none.
    """
    gone = np.zeros(scores.shape, dtype=bool) if lost is None else lost > 0
    response = ResponseDoc(name="wall", title="wall time", unit="s")
    factors = {"threads": FactorDoc(name="threads", title="threads", levels=list(SIZES))}
    busy = f"{int(gone.sum())} of {gone.size} runs were disturbed" if 2 * gone.sum() > gone.size else ""
    made = [_configuration(n, scores[:, i], gone[:, i]) for i, n in enumerate(SIZES)]
    trust = Trust(level="reliable", sentence="Simulated.")
    return MeasuredSource(
        label=label, name="simulated", factors=factors, along="threads", response=response, configurations=tuple(made),
        refused=busy, trust=trust,
    )  # fmt: skip


def _configuration(n: int, scores: FloatArray, gone: FloatArray) -> SourceConfiguration:
    falls_back = int((~gone).sum()) < 2
    kept = np.flatnonzero(~gone) if not falls_back else np.arange(scores.size)
    doubt = "rests on disturbed runs" if falls_back and gone.any() else ""
    return SourceConfiguration({"threads": n}, tuple(scores[kept]), tuple(map(int, kept)), doubt=doubt)


def pair(
    rng: np.random.Generator, effect: float, place: Place, noise: Noise | Kind, n: int = RUNS, disturbed: float = 0.0
) -> tuple[MeasuredSource, MeasuredSource]:
    """A sweep before and after a change; a share of the runs of both is disturbed, by a tenth or more, and found."""
    found = []
    for label, typical in (("old", times()), ("new", times(effect, place))):
        scores = study(rng, typical, n, noise)
        lost = rng.random(scores.shape) < disturbed
        found.append(source(label, scores * np.where(lost, 1.1 + rng.random(scores.shape), 1.0), lost))
    return found[0], found[1]


def said(old: MeasuredSource, new: MeasuredSource, margin: float | None) -> ResultComparison:
    """What is said of the new one."""
    return compare_sources(old, [new], margin).results[0]


def false(noise: Noise | Kind, margin: float | None, n: int = RUNS, disturbed: float = 0.0) -> Measure:
    """Share of comparisons of alike studies that say slower; as many say faster."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        told = [said(*pair(rng, 0.0, "level", noise, n, disturbed), margin).answer for _ in range(n_cases)]
        return share(told.count("slower"), n_cases, _shares(told))

    return measure


def found(noise: Noise | Kind, effect: float, place: Place, margin: float | None, disturbed: float = 0.0) -> Measure:
    """Share of comparisons that say slower."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        told = [said(*pair(rng, effect, place, noise, disturbed=disturbed), margin).answer for _ in range(n_cases)]
        return share(told.count("slower"), n_cases, _shares(told))

    return measure


def same_though_not(noise: Noise | Kind, effect: float, place: Place, margin: float) -> Measure:
    """Share of comparisons that say the same within a margin that is half of the difference."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        told = [said(*pair(rng, effect, place, noise), margin).answer for _ in range(n_cases)]
        return share(told.count("equivalent") + told.count("faster"), n_cases, _shares(told))

    return measure


def shape(effect: float, place: Place, is_common: bool) -> Measure:
    """Share of comparisons that say, or do not say, that the shape is the same at another level."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        told = [said(*pair(rng, effect, place, LOW), None) for _ in range(n_cases)]
        alike = [
            one.shift is not None and one.alike is not None and one.alike < (one.shift.value or 1) - 1 for one in told
        ]
        return share(sum(alike) if is_common else n_cases - sum(alike), n_cases)

    return measure


def busy(share_disturbed: float) -> Measure:
    """Share of studies, disturbed in more than half of their runs, of which nothing is said."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        told: list[str] = []
        while len(told) < n_cases:
            old, new = pair(rng, 0.1, "level", LOW, disturbed=share_disturbed)
            if old.refused or new.refused:
                told.append(said(old, new, None).answer)
        return share(told.count("inconclusive"), n_cases)

    return measure


def _shares(told: Sequence[str]) -> str:
    return ", ".join(f"{100 * told.count(word) / len(told):.0f}% {word}" for word in sorted(set(told)))


def cases() -> Iterator[Case]:
    """False ones, found ones, the same that is not, shapes, and busy studies."""
    for name, noise in QUIET.items():
        for margin in (None, 0.05):
            told = "margin 2%" if margin is None else f"margin {100 * margin:g}%"
            yield Case(f"{name}, {told}: alike, called slower", FALSE, false(noise, margin))
            yield Case(
                f"{name}, {told}, a third disturbed: alike, called slower", FALSE, false(noise, margin, disturbed=0.33)
            )
            for place in get_args(Place):
                for effect in (0.02, 0.05, 0.10):
                    target = FOUND if effect >= 0.05 and name == "low" else None
                    text = f"{name}, {told}: {100 * effect:g}% in {place}, called slower"
                    yield Case(text, target, found(noise, effect, place, margin))
    yield Case("low, a third disturbed: 5% in level, called slower", FOUND, found(LOW, 0.05, "level", None, 0.33))
    for n in (3, 5, 20):
        yield Case(f"low, {n} runs: alike, called slower", FALSE, false(LOW, None, n))
    for kind in KINDS:
        for n in (5, RUNS):
            # A machine that takes a step, or wanders, during two studies is not the same one in both: no analysis of
            # their runs can tell that from a change of the program. Versions in one study can (`ab`).
            target = None if kind in ("step", "autocorrelated") else FALSE
            yield Case(f"{kind}, {n} runs: alike, called slower", target, false(kind, None, n))
    for place in get_args(Place):
        yield Case(f"low: 10% in {place}, called the same within 5%", FALSE, same_though_not(LOW, 0.10, place, 0.05))
    yield Case("low: 10% in level, same shape at another level", None, shape(0.10, "level", True))
    yield Case("low: 10% in kappa, not the same shape", (94.0, 100.0), shape(0.10, "kappa", False))
    for busy_share in (0.55, 0.8):
        yield Case(f"low: {100 * busy_share:g}% disturbed, inconclusive", ALL, busy(busy_share))


if __name__ == "__main__":
    main("statistics_compare", list(cases()), n_long=2_000, n_quick=200)
