"""Names: a function begins with a verb or is the noun of what it returns; a local says what it holds."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.kit.sources import readers, trees

pytestmark = readers
PARTICIPLE = re.compile(
    r"""\w{2,}ed|begun|bought|broken|brought|built|chosen|done|drawn|driven|fallen|forgone|forgotten|found|given|gone|
    grown|held|hidden|kept|known|laid|made|meant|met|paid|retold|said|seen|sent|shown|sought|spent|spoken|stood|stuck|
    taken|thought|told|understood|undone|unsaid|untold|withdrawn|won|written""",
    re.VERBOSE,
)
VERBS = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"}
PREPOSITION = re.compile(
    r"""above|across|after|along|among|around|as|at|before|below|beside|between|beyond|by|for|from|in|of|on|over|per|
    than|through|to|under|until|with|within|without""",
    re.VERBOSE,
)
# They say that there is something, and not what.
EMPTY = {"found", "known", "made", "one", "place", "said", "told", "why"}


def is_participle(word: str) -> bool:
    return PARTICIPLE.fullmatch(word) is not None and word not in VERBS


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module}.{node.name}", node


def bound(function: ast.AST) -> Iterator[str]:
    """Parameters of a function, and what it assigns."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


@pytest.mark.parametrize(
    ("name", "is_bare"), [("measured", True), ("retold", True), ("seed", False), ("measure", False), ("read", False)]
)
def test_a_participle_is_seen(name: str, is_bare: bool) -> None:
    assert is_participle(name) is is_bare


def test_no_function_or_local_is_empty_of_meaning() -> None:
    wrong = []
    for name, node in functions():
        words = node.name.strip("_").split("_")
        if (len(words) == 1 and is_participle(words[0])) or PREPOSITION.fullmatch(words[0]):
            wrong.append(name)
    assert wrong == []
    assert sorted({f"{name}: {local}" for name, node in functions() for local in bound(node) if local in EMPTY}) == []
