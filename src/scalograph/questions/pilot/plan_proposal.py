"""From a pilot, or any earlier journal of a study, to a proposal: how many runs, how many iterations, how long."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from scalograph.analysis.stopping import FIRST_LOOK
from scalograph.design.duration import expected_seconds, key
from scalograph.design.planner import Design
from scalograph.questions.pilot.model import (
    MOST_RUNS,
    Pilot,
    half_width_of,
    noisier,
    pilot,
    runs_for,
)
from scalograph.questions.pilot.plan_iterations import Length, run_length
from scalograph.questions.pilot.plan_prior_runs import Earlier

PRECISIONS = (0.01, 0.02, 0.05)
# Fewer would carry an interval that a single slow run decides.
LEAST_RUNS = 5
# Degrees of freedom of the noise: with fewer it may well be four times as large as it was seen.
LEAST_DF = 4


@dataclass(frozen=True, slots=True)
class Offer:
    """A protocol that reaches a precision in nineteen of twenty treatments.

    Attributes:
        precision: half-width over the value that is asked for.
        runs: of each treatment.
        iterations: of each run, warm-up included.
        half_width: expected, over the value.
        expected_s: time of the whole study.
    """

    precision: float
    runs: int
    iterations: int
    half_width: float
    expected_s: float | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a pilot says.

    Attributes:
        study: name of the study that the runs are proposed for.
        n_runs: runs of the pilot that were not disturbed.
        n_treatments: treatments of these.
        sd_score: standard deviation of log scores of a treatment (0.03 is 3 %).
        sd_within: of logs, between the iterations of a run; None where runs have one.
        sd_between: of logs, between runs; None where it cannot be told from 0.
        start_s: a run without its counted iterations, on average.
        iteration_s: a counted iteration with its think time, on average.
        offers: narrowest first; those that need more than 10,000 runs are left out.
        warnings: what the pilot cannot say.
    """

    study: str
    n_runs: int
    n_treatments: int
    sd_score: float | None = None
    sd_within: float | None = None
    sd_between: float | None = None
    start_s: float | None = None
    iteration_s: float | None = None
    offers: tuple[Offer, ...] = ()
    warnings: tuple[str, ...] = ()

    def within(self, budget_s: float | None) -> Offer | None:
        """The narrowest offer that a time budget in seconds allows, else the widest; None without offers."""
        fits = (o for o in self.offers if budget_s is None or (o.expected_s or 0.0) <= budget_s)
        return next(fits, self.offers[-1] if self.offers else None)


def propose(design: Design, found: Earlier, takes_iterations: bool) -> Proposal:
    """A protocol for a study.

    Args:
        design: of the study.
        found: runs of its pilot, or of an earlier start.
        takes_iterations: whether the workload does as many iterations as it is told; else their number stays.
    """
    groups = [[run.observations for run in runs] for runs in found.by_treatment]
    known, n = pilot(groups), len(found.runs)
    empty = Proposal(design.study.name, n, len(groups), warnings=(*_other_study(design, found), *_left_out(found)))
    if known is None:
        few = f"need >= 2 undisturbed runs of one configuration, above zero; have {n} of {len(groups)} configurations"
        return replace(empty, warnings=(*empty.warnings, few))
    costs = fmean(run.start_s for run in found.runs), fmean(run.iteration_s for run in found.runs)
    length = run_length(design, found, known, costs, takes_iterations)
    offers, missed = _offers(design, found, known, length)
    warnings = (*empty.warnings, *length.why, *missed, *_noisier(found, groups))
    return replace(_measured(empty, known, costs), offers=offers, warnings=warnings)


def _other_study(design: Design, found: Earlier) -> Iterator[str]:
    name = found.study.name.removesuffix("-pilot")
    if not design.study.name.startswith(name):  # a pilot's name may be cut
        yield f"the runs are those of another study, {name}"


def _left_out(found: Earlier) -> Iterator[str]:
    if n := found.n_left_out:
        yield f"{n} of {n + len(found.runs)} runs were disturbed or failed and are left out"


def _measured(empty: Proposal, known: Pilot, costs: tuple[float, float]) -> Proposal:
    found = replace(empty, sd_score=known.sd_score, start_s=costs[0], iteration_s=costs[1] or None)
    if known.spread is None:
        return found
    return replace(found, sd_within=known.spread.within, sd_between=known.spread.between if known.differ else None)


def _offers(design: Design, found: Earlier, known: Pilot, length: Length) -> tuple[tuple[Offer, ...], list[str]]:
    """Offers, and the precisions that are out of reach."""
    protocol = design.study.protocol
    asked = PRECISIONS if protocol.precision is None else (protocol.precision,)
    least = LEAST_RUNS if protocol.precision is None else FIRST_LOOK + 2  # from then on the rule can have passed twice
    sd = known.sd_at(length.counted)
    seconds = _seconds(found, length.counted)
    needed = {precision: runs_for(sd, known.df, precision, protocol.confidence) for precision in asked}
    missed = _missed([precision for precision, n in needed.items() if not n], found, known)
    reached = {precision: max(n, least) for precision, n in needed.items() if n}
    halves = {n: half_width_of(sd, n, protocol.confidence) for n in reached.values()}
    times = {n: expected_seconds(_with_runs(design, n), seconds) for n in reached.values()}
    return tuple(Offer(p, n, length.iterations, halves[n], times[n]) for p, n in reached.items()), missed


def _missed(precisions: list[float], found: Earlier, known: Pilot) -> list[str]:
    """Which precisions are out of reach; of few clean runs, that these are no ground to say so."""
    told = [f"+-{100 * precision:g} %" for precision in precisions]
    if told and known.df < LEAST_DF:
        n = len(found.by_treatment)
        few = f"only {len(found.runs)} clean runs of {n} configuration{'s' * (n > 1)}"
        fix = "repeat it on a quiet machine, or with --wait-quiet 10m"
        return [f"{few}: too few to say how many runs {', '.join(told)} would need; {fix}"]
    return [f"{text} needs more than {MOST_RUNS:,} runs of a configuration" for text in told]


def _with_runs(design: Design, runs: int) -> Design:
    protocol = design.study.protocol.model_copy(update={"runs": runs})
    return replace(design, study=design.study.model_copy(update={"protocol": protocol}))


def _seconds(found: Earlier, counted: int) -> dict[tuple[tuple[str, Any], ...], float]:
    """Of a run of each treatment that was seen, with so many counted iterations."""
    return {
        key(runs[0].treatment): fmean(run.start_s + counted * run.iteration_s for run in runs)
        for runs in found.by_treatment
    }


def _noisier(found: Earlier, groups: list[list[tuple[float, ...]]]) -> list[str]:
    treatments = [found.by_treatment[index][0].treatment for index in noisier(groups)]
    shown = (" ".join(f"{name}={level}" for name, level in t.items()) for t in treatments)
    return [f"runs of {text} vary more than those of the others: it needs more runs than proposed" for text in shown]
