"""Which planner answers a study's question, and which runs are known before the first is made."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design, Planner, Run
from scalograph.design.search import Search, SearchPlanner, first_runs
from scalograph.design.sequential import SequentialPlanner
from scalograph.design.stopping_rule import score, stopping, work_time
from scalograph.protocol.record import unmeasured
from scalograph.study.check_question import SEARCHED


def search(design: Design) -> Search:
    """The search of a study that asks for one, from its beginning.

    Raises:
        StudyError: it cannot be made over these treatments.
    """
    from scalograph.questions.registry import search  # numerics that a sweep would wait for in vain

    return search(design)


def planner_of(design: Design) -> Planner:
    """All of the grid, of it what is not known well enough, or the levels where a run tells most.

    Raises:
        StudyError: a search cannot be made over these treatments.
    """
    study, rule = design.study, stopping(design.study)
    if study.question in SEARCHED:
        protocol = study.protocol
        return SearchPlanner(
            search(design),
            lambda record: work_time(study, score(study, record)),
            max_reruns=protocol.max_reruns,
            waits=protocol.wait_quiet_s > 0,
        )
    return GridPlanner(design) if rule is None else SequentialPlanner(design, rule, partial(score, study))


def planned_runs(design: Design) -> Iterator[Run]:
    """Every run that is known before the first is made; of a search, those that are made whatever they say."""
    if design.study.question in SEARCHED:
        yield from first_runs(search(design))
        return
    planner = GridPlanner(design)
    while run := planner.ask():
        yield run
        planner.tell(run, unmeasured("not run"), "")


def asked_for(design: Design) -> list[int]:
    """Runs of each treatment that are known before the first is made, warm-up runs left out."""
    if design.study.question in SEARCHED:
        first = Counter(tuple(run.treatment.items()) for run in first_runs(search(design)))
        return [first[tuple(treatment.items())] for treatment in design.treatments]
    return [design.runs_per_block(i) * design.study.protocol.runs for i in range(len(design.treatments))]


def most_runs(design: Design) -> int:
    """Runs after which a search ends without an answer."""
    most = search(design).most
    return min(most, design.study.protocol.budget_runs or most)


def block_size(design: Design) -> int:
    """Runs that a block is expected to hold: each step of a search, a run or a pair of them, is a block of its own."""
    if design.study.question in SEARCHED:
        return max(map(len, search(design).steps.values()))
    return design.block_size


def outlook(design: Design) -> str:
    """What will be run, in words."""
    treatments = f"{len(design.treatments)} treatments"
    if design.study.question not in SEARCHED:
        return f"{treatments}, {design.n_runs} runs in {design.study.protocol.runs} blocks"
    made, most = search(design), most_runs(design)
    first, together = len(made.first), block_size(design)
    if together == 1:
        return f"{treatments}; {first} runs first, then one at a time where it tells most, at most {most}"
    pairs = f"{first} pairs of runs first, then a pair at a time where it tells most"
    return f"{len(made.steps)} points, two versions; {pairs}, at most {most} runs with those that are made again"
