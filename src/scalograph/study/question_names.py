"""Name the questions that a study can ask, and the folder that answers each.

The rows are strings, and they stand here rather than beside the folders: a study names its question, and is checked by
it, on a lower floor than the folders are. Nothing of a folder is imported before it is asked for. A further question is
a folder and a row; `scalograph.questions.registry` says what the folder holds.
"""

from importlib import import_module
from types import ModuleType
from typing import Literal

# What an answer rests on: treatments of which each stands for itself; levels of a search, with figures of single ones
# beside the answer; all runs of a search together; or pairs of runs, of which none stands for its treatment.
Basis = Literal["treatments", "levels", "runs", "pairs"]

# What a study asks that names no question.
SWEEP = "sweep"
QUESTIONS: dict[str, str] = {
    SWEEP: "scalograph.questions.scaling",
    "effective-cpus": "scalograph.questions.effective_cpus",
    "cliff": "scalograph.questions.cliff",
    "break-even": "scalograph.questions.break_even",
}


def role(question: str, name: str) -> ModuleType:
    """Import one role of a question.

    Args:
        question: by its name in a study.
        name: of a module in the question's folder.

    Raises:
        KeyError: there is no such question.
        ImportError: it has no such role.
    """
    return import_module(f"{QUESTIONS[question]}.{name}")


def basis(question: str) -> Basis:
    """Tell what the answer to a question rests on, as its role `check` says."""
    rests_on: Basis = role(question, "check").BASIS
    return rests_on


def is_search(question: str) -> bool:
    """Tell whether a question's runs are decided by those before them, rather than by the design."""
    return basis(question) != "treatments"
