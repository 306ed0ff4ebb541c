"""List the questions that a study can ask, and the roles that the folder of each one holds.

A further question is a folder and a row. Rows are strings, so that a study names its question, and is checked by it, on
a lower floor than the folders are; nothing of a folder is imported before it is asked for. The modules of a folder are
its roles:

`check`     `BASIS`, and `mistakes(raw, factors)`: what is wrong with the study as it was written; `FAILURES_EXPECTED`
            where an answer may stand beside configurations that failed
`model*`    the statistics
`search_state` what is known after some runs, and which comes next; `begin(study, configurations)` begins the search
`plan`      `plan(design) -> design.planner.RunPlan`; without it, the runs are those of its search, or of a sweep; it
            may have `configurations(study) -> Iterable[Configuration]`: those that are planned first, in place of the
            full grid
`answer`    `answer(table, taken, curves) -> findings.answer.Answer`; of a reading also
            `applies(table) -> str | None`: why it says nothing of a study that did not ask; it is called for every
            study, so that what only the answer needs is imported in `answer`
`claim*`    what it says of the study first, in three sentences and a small matrix (`protocol.claim`)
`document`  its part of the findings as a type
`tables`    that part for people, with sentences beside the claim
`find`      `OPTIONS` of `scalograph find QUESTION` and `figures(findings)`, its answer for machines (questions.asked);
            without it, there is no such command
`published` `quantities(document) -> dict[str, list[tuple[str, Estimate]]]`: figures, by name, that a published claim of
            kind `location` or `count` may ask for
`chart`     `figures(findings) -> list[Figure]`; without it, it draws none

A **reading** answers without being asked: what a sweep, or any other study, tells of itself.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Literal

# What an answer rests on: configurations, each with figures of its own; levels of a search, with figures of single ones
# beside the answer; all runs of a search together; or pairs of runs, or the rows of an array, whose
# configurations have no figures of their own.
Basis = Literal["configurations", "levels", "runs", "pairs", "array"]

SWEEP = "sweep"  # what a study asks that names no question
QUESTIONS: dict[str, str] = {
    SWEEP: "scalograph.questions.scaling",
    "effective-cpus": "scalograph.questions.effective_cpus",
    "cliff": "scalograph.questions.cliff",
    "break-even": "scalograph.questions.break_even",
    "throughput": "scalograph.questions.throughput",
    "within-limit": "scalograph.questions.within_limit",
    "tunables": "scalograph.questions.tunables",
    "size": "scalograph.questions.size",
    "commit": "scalograph.questions.commit",
    "best": "scalograph.questions.best",
}
# What answers without being asked, in the order in which it is told.
READINGS: dict[str, str] = {
    "versions": "scalograph.questions.versions",
    "effective-cpus": QUESTIONS["effective-cpus"],
    "parallel-build": "scalograph.questions.parallel_build",
    "surface": "scalograph.questions.surface",
    "scaling": QUESTIONS[SWEEP],
    "levels": "scalograph.questions.levels",
}


def answering_questions(question: str) -> list[str]:
    """Name all that answer a study of this question: the question itself, then every reading."""
    return [*([] if QUESTIONS[question] in READINGS.values() else [question]), *READINGS]


def publishing_questions(question: str) -> list[str]:
    """Name those that answer a study of this question and offer values to published claims."""
    folders = {**READINGS, **QUESTIONS}
    return [name for name in answering_questions(question) if find_spec(f"{folders[name]}.published") is not None]


def roles_present(module: str) -> list[str]:
    """Name the questions and readings that have a role, each folder once."""
    folders = {folder: name for name, folder in {**READINGS, **QUESTIONS}.items()}
    return [name for folder, name in folders.items() if find_spec(f"{folder}.{module}") is not None]


def role(name: str, module: str) -> ModuleType:
    """Import one role. Raises KeyError: there is no such question. ModuleNotFoundError: it has no such role."""
    return import_module(f"{({**READINGS, **QUESTIONS})[name]}.{module}")


def basis(question: str) -> Basis:
    """Tell what the answer to a question rests on, as its role `check` says."""
    rests_on: Basis = role(question, "check").BASIS
    return rests_on


def expects_failures(question: str) -> bool:
    """Tell whether configurations may fail without failing a study that is answered."""
    return getattr(role(question, "check"), "FAILURES_EXPECTED", False)


def has_curves(question: str) -> bool:
    """Tell whether configurations have values of their own, so that curves run through them."""
    return not why_no_curves(question)


def why_no_curves(question: str) -> str:
    """Say why no configuration of a question has values of its own; empty where each has."""
    rests_on = basis(question)
    if rests_on == "pairs":
        return "its runs were compared in pairs"
    return "all its runs are compared in one fit" if rests_on == "array" else ""


def is_search(question: str) -> bool:
    """Tell whether a question's runs are decided by those before them, rather than by the design."""
    return basis(question) != "configurations"
