"""Which runs answer the question of a design, as its role `plan` says."""

from collections.abc import Iterator

from scalograph.design.planner import Design, Planner, Run, RunPlan
from scalograph.study.question_names import role


def run_plan(design: Design) -> RunPlan:
    """Make the plan of the question that a study asks.

    Raises:
        StudyError: the question cannot be asked of these treatments.
    """
    made: RunPlan = role(design.study.question, "plan").plan(design)
    return made


def planner_of(design: Design) -> Planner:
    """Return what asks for the runs: all of the grid, what of it is not known well enough, or where a run tells most.

    Raises:
        StudyError: a search cannot be made over these treatments.
    """
    return run_plan(design).planner()


def planned_runs(design: Design) -> Iterator[Run]:
    """Return every run that is known before the first is made; of a search, those that it makes in any case."""
    return run_plan(design).planned_runs()


def asked_for(design: Design) -> list[int]:
    """Return how many runs of each treatment are known before the first is made, warm-up runs left out."""
    return run_plan(design).asked_for()


def most_runs(design: Design) -> int:
    """Return after how many runs a search ends without an answer."""
    return run_plan(design).most_runs


def block_size(design: Design) -> int:
    """Return how many runs a block is expected to hold."""
    return run_plan(design).block_size


def outlook(design: Design) -> str:
    """Say what will be run."""
    return run_plan(design).outlook()
