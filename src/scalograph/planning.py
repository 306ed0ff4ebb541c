"""Which planner answers a study's question, and which runs are known before the first is made."""

from collections.abc import Iterator
from functools import partial

from scalograph.design import Design, GridPlanner, Planner, Run, effective
from scalograph.design.effective import EffectivePlanner
from scalograph.design.sequential import SequentialPlanner
from scalograph.precision import score, stopping, work_time


def searches(design: Design) -> bool:
    """Whether runs are decided by those before them, so that few are known in advance."""
    return design.study.question == effective.QUESTION


def planner_of(design: Design) -> Planner:
    """All of the grid, of it what is not known well enough, or the levels where a run tells most.

    Raises:
        StudyError: a search cannot be made over these treatments.
    """
    study, rule = design.study, stopping(design.study)
    if searches(design):
        factor = effective.factor_of(design)
        rounds = study.work == "per-worker" and study.factors[factor].control is None
        return EffectivePlanner(design, factor, lambda record: work_time(study, score(study, record)), rounds=rounds)
    return GridPlanner(design) if rule is None else SequentialPlanner(design, rule, partial(score, study))


def planned_runs(design: Design) -> Iterator[Run]:
    """Every run that is known before the first is made; of a search, those that are made whatever they say."""
    if searches(design):
        yield from effective.first_runs(design)
        return
    planner = GridPlanner(design)
    while run := planner.ask():
        yield run
        planner.tell(run, {}, "")


def asked_for(design: Design) -> list[int]:
    """Runs of each treatment that are known before the first is made, warm-up runs left out."""
    if searches(design):
        first = [run.treatment for run in effective.first_runs(design)]
        return [first.count(treatment) for treatment in design.treatments]
    return [design.runs_per_block(i) * design.study.protocol.runs for i in range(len(design.treatments))]


def block_size(design: Design) -> int:
    """Runs that a block is expected to hold: after its first ones, each run of a search is a block of its own."""
    return 1 if searches(design) else design.block_size


def outlook(design: Design) -> str:
    """What will be run, in words."""
    treatments = f"{len(design.treatments)} treatments"
    if not searches(design):
        return f"{treatments}, {design.n_runs} runs in {design.study.protocol.runs} blocks"
    first, most = len(effective.first_runs(design)), effective.most_runs(design)
    return f"{treatments}; {first} runs first, then one at a time where it tells most, at most {most}"
