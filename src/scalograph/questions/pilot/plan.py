"""Plan a pilot, and the protocol that its runs propose: few runs, at the ends of the first and the last curve."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean

from scalograph.analysis.allocate import MOST, Allocation, Spread, iterations_per_run
from scalograph.analysis.stopping import FIRST_LOOK
from scalograph.design.planner import Design, expected_seconds, key
from scalograph.design.replay import timed_runs
from scalograph.findings import table
from scalograph.findings.sample import OtherLevels, other_levels
from scalograph.protocol import journal
from scalograph.questions.pilot.model import MOST_RUNS, Pilot, half_width_of, noisier_configurations, pilot, runs_for
from scalograph.study.levels import Configuration
from scalograph.study.model import Protocol, Study
from scalograph.study.responses import primary_response, windows
from scalograph.study.scalars import Level
from scalograph.verdict.cause import COUNTED

LEAST_RUNS = 3
LEAST_ITERATIONS = 5
# Of the noise between runs, all configurations together; with 8, its standard deviation is known to about a quarter.
FREEDOM = 8
AT_MOST_S = 60.0
SHARE = 0.1


def pilot_study(study: Study, design: Design, takes_iterations: bool) -> Study:
    """Make the study that is the pilot of a study.

    It has two to four configurations with at least three runs each, under the name NAME-pilot. No block begins past
    60 s, or a tenth of the study's own budget where that is more; the first always runs.
    """
    chosen = ends(design)
    changed = {
        "name": f"{study.name[:57].rstrip('-')}-pilot", "exclude": [*study.exclude, *_exclusions(chosen, design)],
        "protocol": _protocol(study.protocol, len(chosen), takes_iterations), "tables": [], "published": None,
    }  # fmt: skip
    return study.model_copy(update=changed)


def takes_iterations(study: Study, argv: Sequence[str]) -> bool:
    """Tell whether a protocol sets the timed iterations; `argv` is the template of the workload."""
    if not study.responses[primary_response(study)].source.startswith("window."):
        return False
    fixed = "iterations" in study.factors or "iterations" in study.workload.parameters
    return not fixed and any("{iterations}" in word for word in argv)


def ends(design: Design) -> list[Configuration]:
    """Return baseline and last level of the first and of the last curve; without a baseline, first and last level."""
    factors, baseline = design.study.factors, design.study.baseline
    factor = next(iter(baseline), None) or max(factors, key=lambda name: len(factors[name].levels))
    curves: dict[OtherLevels, list[Configuration]] = {}
    for configuration in design.configurations:
        curves.setdefault(other_levels(configuration, factor), []).append(configuration)
    chosen: list[Configuration] = []
    groups = [*curves.values()]
    for curve in (groups[0], groups[-1]):
        start = next((t for t in curve if t[factor] == baseline.get(factor)), curve[0])
        # Where the baseline is the last one, the first is the other end.
        for end in (start, curve[0] if start is curve[-1] else curve[-1]):
            chosen += [end] if end not in chosen else []
    return chosen


def _protocol(asked: Protocol, n_configurations: int, takes_iterations: bool) -> Protocol:
    budget_s = AT_MOST_S if asked.budget_s is None else max(AT_MOST_S, SHARE * asked.budget_s)
    iterations = max(asked.iterations, asked.warmup + LEAST_ITERATIONS) if takes_iterations else asked.iterations
    runs = max(LEAST_RUNS, 1 + math.ceil(FREEDOM / n_configurations))
    changed = {"runs": runs, "iterations": iterations, "precision": None, "budget_s": budget_s, "budget_runs": None}
    return asked.model_copy(update={**changed, "warmup_runs": min(1, asked.warmup_runs)})


def _exclusions(chosen: Sequence[Configuration], design: Design) -> Iterator[dict[str, list[Level]]]:
    """Yield exclusions that leave the chosen configurations alone: after each shared prefix, all other levels."""
    names = list(design.study.factors)
    for depth, name in enumerate(names):
        levels = dict.fromkeys(t[name] for t in design.configurations)
        for start in dict.fromkeys(tuple(t.values())[:depth] for t in chosen):
            go_on = [t[name] for t in chosen if tuple(t.values())[:depth] == start]
            if others := [level for level in levels if level not in go_on]:
                yield {**{n: [level] for n, level in zip(names, start, strict=False)}, name: others}


@dataclass(frozen=True, slots=True)
class PriorRun:
    """One run that an estimate may rest on.

    Attributes:
        observations: of the primary response, one for each counted iteration, or one for the run.
        seconds: what the run took, start and end included.
        iteration_s: mean of a counted iteration, with its think time; 0 where the workload reports none.
    """

    configuration: Configuration
    observations: tuple[float, ...]
    seconds: float
    iteration_s: float = 0.0

    @property
    def start_s(self) -> float:
        """Return the seconds of a run besides its counted iterations."""
        return max(0.0, self.seconds - len(self.observations) * self.iteration_s)


@dataclass(frozen=True)
class PriorRuns:
    """The journaled study, its runs that were not disturbed, and how many others there were."""

    study: Study
    runs: list[PriorRun]
    n_excluded: int = 0

    @cached_property
    def groups(self) -> list[list[PriorRun]]:
        groups: dict[object, list[PriorRun]] = {}
        for run in self.runs:
            groups.setdefault(key(run.configuration), []).append(run)
        return [*groups.values()]


def read_prior_runs(file: Path) -> PriorRuns:
    """Read the runs of a journal. Raises ProtocolError: it does not follow protocol/journal.md."""
    read = table.load(file)
    response, protocol = primary_response(read.study), read.study.protocol
    seconds = {run.run: taken for run, taken in timed_runs(journal.read(file))}
    lengths = {}
    for event in (event for event in journal.read(file) if event["event"] == "run"):
        walls = windows(event["record"]).wall_s[protocol.warmup :]
        lengths[event["run"]] = fmean(walls) + protocol.think_s if walls else 0.0
    counted = (row for row in read.successful_rows() if row.verdict in COUNTED and response in row.observations)
    runs = [
        PriorRun(row.configuration, row.observations[response], seconds[row.run], lengths[row.run]) for row in counted
    ]
    return PriorRuns(read.study, runs, sum(not row.warmup for row in read.rows) - len(runs))


# A run of that share of its timeout still ends in time on a bad day.
SHARE_OF_TIMEOUT = 0.5


@dataclass(frozen=True, slots=True)
class IterationPlan:
    """Counted iterations, all iterations, and why these where they may not be the best."""

    counted: int
    iterations: int
    reasons: tuple[str, ...] = ()


def plan_iterations(
    design: Design, prior: PriorRuns, noise: Pilot, costs: tuple[float, float], takes_iterations: bool
) -> IterationPlan:
    """Choose the best number of iterations where the pilot can tell it, else the one that it had.

    `costs`: seconds of a run without its counted iterations, and of one of these.
    """
    protocol, had = design.study.protocol, prior.study.protocol.iterations
    if noise.spread is None:
        reason = f"runs of one iteration cannot separate noise within runs from noise between them; iterations: {had}"
    elif not takes_iterations or not costs[1]:
        reason = f"the workload takes no number of iterations; iterations: {had}"
    elif noise.differ:
        best = _best(design, noise.spread, costs)
        counted = best.iterations or noise.iterations
        return IterationPlan(counted, protocol.warmup + counted, best.warnings)
    else:
        most = _best(design, replace(noise.spread, between=noise.between_most), costs).iterations or 0
        more = f". Repeat the pilot with {design.study.protocol.warmup + most} or more"
        hint = more if most > noise.iterations else ""
        reason = f"noise between runs is not significant; iterations: {had}{hint}"
    return IterationPlan(noise.iterations, had, (reason,))


def _best(design: Design, spread: Spread, costs: tuple[float, float]) -> Allocation:
    start_s, iteration_s = costs
    room_s = SHARE_OF_TIMEOUT * design.study.protocol.timeout_s - start_s
    return iterations_per_run(*costs, spread.within, spread.between, max(1, min(MOST, int(room_s / iteration_s))))


PRECISIONS = (0.01, 0.02, 0.05)
# Fewer would carry an interval that a single slow run decides.
LEAST_PROPOSED_RUNS = 5
# Degrees of freedom of the noise: with fewer it may well be four times as large as it was seen.
LEAST_DF = 4


@dataclass(frozen=True, slots=True)
class SampleSizePlan:
    """A protocol that reaches a precision in nineteen of twenty configurations.

    Attributes:
        precision: half-width over the value that is asked for.
        iterations: of each run, warm-up included.
        half_width: expected, over the value.
    """

    precision: float
    runs: int
    iterations: int
    half_width: float
    expected_s: float | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Protocols that a pilot leads to.

    Attributes:
        n_runs: runs of the pilot that were not disturbed.
        sd_score: standard deviation of log scores of a configuration (0.03 is 3%).
        sd_within: of logs, between the iterations of a run; None where runs have one.
        sd_between: of logs, between runs; None where it is not significant.
        start_s: a run without its counted iterations, on average.
        iteration_s: a counted iteration with its think time, on average.
        offers: narrowest first; those that need more than 10,000 runs are excluded.
    """

    study: str
    n_runs: int
    n_configurations: int
    sd_score: float | None = None
    sd_within: float | None = None
    sd_between: float | None = None
    start_s: float | None = None
    iteration_s: float | None = None
    offers: tuple[SampleSizePlan, ...] = ()
    warnings: tuple[str, ...] = ()

    def choose_plan(self, budget_s: float | None) -> SampleSizePlan | None:
        """Choose the narrowest plan within a time budget in seconds, else the widest; None without plans."""
        fits = (o for o in self.offers if budget_s is None or (o.expected_s or 0.0) <= budget_s)
        return next(fits, self.offers[-1] if self.offers else None)


def propose(design: Design, prior: PriorRuns, takes_iterations: bool) -> Proposal:
    """Propose a protocol for a study from runs of its pilot, or of an earlier session."""
    groups = [[run.observations for run in runs] for runs in prior.groups]
    noise, n = pilot(groups), len(prior.runs)
    warnings = tuple(_run_warnings(design, prior))
    if noise is None:
        few = f"inconclusive: no configuration has 2 undisturbed runs with values above 0 (runs: {n})"
        return Proposal(design.study.name, n, len(groups), warnings=(*warnings, few))
    costs = fmean(run.start_s for run in prior.runs), fmean(run.iteration_s for run in prior.runs)
    length = plan_iterations(design, prior, noise, costs, takes_iterations)
    offers, missed = _plan_sizes(design, prior, noise, length)
    return Proposal(
        design.study.name, n, len(groups), sd_score=noise.sd_score,
        sd_within=noise.spread.within if noise.spread else None,
        sd_between=noise.spread.between if noise.spread and noise.differ else None,
        start_s=costs[0], iteration_s=costs[1] or None, offers=offers,
        warnings=(*warnings, *length.reasons, *missed, *_noisier(prior, groups)),
    )  # fmt: skip


def _run_warnings(design: Design, prior: PriorRuns) -> Iterator[str]:
    name = prior.study.name.removesuffix("-pilot")
    if not design.study.name.startswith(name):  # a pilot's name may be cut
        yield f"the runs belong to another study: {name}"
    if n := prior.n_excluded:
        yield f"{n} of {n + len(prior.runs)} runs are excluded: disturbed or failed"


def _plan_sizes(
    design: Design, prior: PriorRuns, noise: Pilot, length: IterationPlan
) -> tuple[tuple[SampleSizePlan, ...], list[str]]:
    protocol = design.study.protocol
    asked = PRECISIONS if protocol.precision is None else (protocol.precision,)
    # From FIRST_LOOK + 2 runs on the stopping rule can have passed twice.
    least, sd = LEAST_PROPOSED_RUNS if protocol.precision is None else FIRST_LOOK + 2, noise.sd_at(length.counted)
    seconds = {
        key(runs[0].configuration): fmean(run.start_s + length.counted * run.iteration_s for run in runs)
        for runs in prior.groups
    }
    needed = {precision: runs_for(sd, noise.df, precision, protocol.confidence) for precision in asked}
    missed = _precision_warnings([precision for precision, n in needed.items() if not n], prior, noise)
    reached = {precision: max(n, least) for precision, n in needed.items() if n}
    halves = {n: half_width_of(sd, n, protocol.confidence) for n in reached.values()}
    times = {n: expected_seconds(_set_runs(design, n), seconds) for n in reached.values()}
    return tuple(SampleSizePlan(p, n, length.iterations, halves[n], times[n]) for p, n in reached.items()), missed


def _precision_warnings(precisions: list[float], prior: PriorRuns, noise: Pilot) -> list[str]:
    texts = [f"\N{PLUS-MINUS SIGN}{100 * precision:g}%" for precision in precisions]
    if texts and noise.df < LEAST_DF:
        few = f"inconclusive: {len(prior.runs)} undisturbed runs are too few to plan for {', '.join(texts)}"
        return [f"{few}. Repeat the pilot with --wait-quiet 10m"]
    return [f"{text} needs more than {MOST_RUNS:,} runs per configuration" for text in texts]


def _set_runs(design: Design, runs: int) -> Design:
    protocol = design.study.protocol.model_copy(update={"runs": runs})
    return replace(design, study=design.study.model_copy(update={"protocol": protocol}))


def _noisier(prior: PriorRuns, groups: list[list[tuple[float, ...]]]) -> list[str]:
    configurations = [prior.groups[index][0].configuration for index in noisier_configurations(groups)]
    shown = (" ".join(f"{name}={level}" for name, level in t.items()) for t in configurations)
    return [f"{text} varies more than other configurations and needs more runs than proposed" for text in shown]
