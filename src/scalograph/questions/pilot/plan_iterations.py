"""How many iterations a run should have, from what a pilot says of noise and cost."""

from dataclasses import dataclass, replace

from scalograph.analysis.allocate import (
    MOST,
    Allocation,
    Spread,
    iterations_per_run,
)
from scalograph.design.planner import Design
from scalograph.questions.pilot.model import Pilot
from scalograph.questions.pilot.plan_prior_runs import Earlier

# A run of that share of its timeout still ends in time on a bad day.
SHARE_OF_TIMEOUT = 0.5


@dataclass(frozen=True, slots=True)
class Length:
    """Iterations that count, all of them, and why these where they may not be the best."""

    counted: int
    iterations: int
    why: tuple[str, ...] = ()


def run_length(
    design: Design, found: Earlier, known: Pilot, costs: tuple[float, float], takes_iterations: bool
) -> Length:
    """The best number of iterations where the pilot can tell it, else the one that it had.

    Args:
        design: of the study.
        found: runs of the pilot.
        known: their noise.
        costs: seconds of a run without its counted iterations, and of one of these.
        takes_iterations: whether the workload does as many as it is told.
    """
    protocol, had = design.study.protocol, found.study.protocol.iterations
    if known.spread is None:
        why = f"runs of one observation do not tell noise within runs from noise between them: {had} iterations stay"
    elif not takes_iterations or not costs[1]:
        why = f"the workload does not take a number of iterations: {had} stay"
    elif known.differ:
        best = _best(design, known.spread, costs)
        counted = best.iterations or known.iterations
        return Length(counted, protocol.warmup + counted, best.warnings)
    else:
        why = f"noise between runs cannot be told from 0: {had} iterations stay{_at_least(design, known, costs)}"
    return Length(known.iterations, had, (why,))


def _best(design: Design, spread: Spread, costs: tuple[float, float]) -> Allocation:
    start_s, iteration_s = costs
    room_s = SHARE_OF_TIMEOUT * design.study.protocol.timeout_s - start_s
    return iterations_per_run(*costs, spread.within, spread.between, max(1, min(MOST, int(room_s / iteration_s))))


def _at_least(design: Design, known: Pilot, costs: tuple[float, float]) -> str:
    """Noise that cannot be seen is still bounded, and with it the best number of iterations."""
    assert known.spread is not None
    most = _best(design, replace(known.spread, between=known.between_most), costs).iterations or 0
    more = f"; a pilot with {design.study.protocol.warmup + most} or more would tell, and be the better protocol"
    return more if most > known.iterations else ""
