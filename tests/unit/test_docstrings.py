"""Every example in a docstring gives what it shows.

Pytest's own way looks for examples in every module, those of tests too: half of the time in which it collects.
"""

import doctest
from importlib import import_module

import pytest

from tests.kit.sources import FILES

WITH_EXAMPLES = sorted(name for name, file in FILES.items() if ">>> " in file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str) -> None:
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for found in doctest.DocTestFinder(exclude_empty=True).find(import_module(name)):
        runner.run(found, out=said.append)
    assert runner.tries > 0 and not runner.failures, "".join(said)


def test_an_example_that_is_wrong_is_told() -> None:
    said: list[str] = []
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=said.append).failed == 1 and "Got:" in "".join(said)
