"""The questions that are searched: which course each takes, over which levels, and what it may cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from scalograph.design.planner import Design
from scalograph.design.search import (
    Course,
    Search,
    counted,
    factor_of,
)
from scalograph.errors import StudyError
from scalograph.questions.break_even import course as break_even_course
from scalograph.questions.break_even.space import pairs, usable_cpus
from scalograph.questions.cliff import course as cliff_course
from scalograph.questions.effective_cpus import course as effective_course
from scalograph.study.model import Study

# Runs of a search in pairs for each pair that it may take: some are disturbed.
RUNS_A_PAIR = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is searched along one factor.

    Attributes:
        first: levels that are measured whatever they say, of all levels, by the seed.
        course: over all levels, by the seed and the study with its searched factor.
        most: runs at most.
        least: levels at least.
    """

    first: Callable[[Sequence[int], int], list[int]]
    course: Callable[[Sequence[int], Study, str], Course]
    most: int
    least: int = 2


def rounds(study: Study, factor: str) -> bool:
    """Whether levels count equal pieces of work, such as threads that each do the same."""
    return study.work == "per-worker" and study.factors[factor].control is None


QUESTIONS = {
    # 24 runs for the model, as many again for the search without one.
    "effective-cpus": Question(
        effective_course.first_levels,
        lambda levels, study, factor: effective_course.EffectiveCourse(levels, study.seed, rounds(study, factor)),
        most=48,
    ),
    "cliff": Question(
        cliff_course.first_levels,
        lambda levels, study, factor: cliff_course.CliffCourse(levels, study.seed),
        most=60,
        least=5,
    ),
}


def search(design: Design) -> Search:
    """The search of a study that asks for one, from its beginning.

    Raises:
        StudyError: it cannot be made over these treatments.
    """
    return _in_pairs(design) if design.study.question == "break-even" else _along_a_factor(design)


def _along_a_factor(design: Design) -> Search:
    question, factor = QUESTIONS[design.study.question], factor_of(design)
    treatments = counted(design, factor)
    if len(treatments) < question.least:
        expected = f"at least {question.least}: fewer are compared by a sweep"
        raise StudyError.one(f"factors.{factor}.levels", f"{len(treatments)} levels", expected, "such as 1:512")
    return Search(
        what=factor,
        steps={level: (treatment,) for level, treatment in treatments.items()},
        first=question.first([*treatments], design.study.seed),
        course=question.course([*treatments], design.study, factor),
        most=question.most,
    )


def _in_pairs(design: Design) -> Search:
    study, found = design.study, pairs(design.study, design.treatments)
    at, even = found.at(), study.protocol.precision
    cpus = usable_cpus(study, design.treatments, design.n_cpus)
    course = break_even_course.BreakEvenCourse(found.axes, at, cpus, study.seed, even, found.named)
    return Search(
        what="points",
        steps=dict(enumerate(found.treatments)),
        first=break_even_course.first_points(found.axes, at, study.seed),
        course=course,
        most=RUNS_A_PAIR * course.most,
        seed=study.seed,
        combined=lambda times: log(times[0] / times[1]),
    )
