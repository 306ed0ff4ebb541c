"""The page of the Python interface has every public name, and every example in a docstring gives what it shows."""

import doctest
import importlib
import inspect
import pkgutil
import re
from functools import cache
from importlib import import_module
from types import ModuleType

import pytest

import scalograph
from scalograph import analysis
from tests.kit import ROOT
from tests.kit.scripts import load_script
from tests.kit.sources import FILES


@cache
def api() -> ModuleType:
    """The script that makes the page, loaded when a test first looks at it."""
    return load_script(ROOT / "scripts" / "api_page.py")


@cache
def page() -> str:
    return "\n".join(api().page())


def headings() -> set[str]:
    return set(re.findall(r"^#{3,4} `?([\w.]+)", page(), re.MULTILINE))


OFFERED = sorted(scalograph._OFFERED)


@pytest.mark.parametrize("name", OFFERED)
def test_a_name_of_the_package_is_on_the_page_with_its_arguments(name: str) -> None:
    assert f"scalograph.{name}" in headings()
    found = getattr(scalograph, name)
    if inspect.isfunction(found):
        call = re.search(rf"^scalograph\.{name}\((.*)\) -> ", page(), re.MULTILINE)
        assert call and all(argument in call[1] for argument in inspect.signature(found).parameters)
        assert f"{(inspect.getdoc(found) or '?').splitlines()[0]}\n" in page()


def test_every_statistic_is_on_the_page() -> None:
    both = {"Estimate", "fit_usl"} & {*analysis.__all__}
    assert {f"scalograph.analysis.{name}" for name in {*analysis.__all__} - both} <= headings() | {
        "scalograph.analysis.Estimate"
    }
    assert "scalograph.Estimate" in headings()


def test_what_is_returned_is_on_the_page_and_a_name_that_is_nowhere_is_told() -> None:
    for place in api().RETURNED:
        module, _, name = place.partition(":")
        found = getattr(importlib.import_module(module), name)
        members = {key for key, one in vars(found).items() if inspect.isfunction(one) or isinstance(one, property)}
        public = {key for key in members if not key.startswith("_")}
        assert {name, *public} <= headings(), name
    with pytest.raises(SystemExit, match="found no such function or class"):
        [*api()._entry("x", "scalograph.errors:none")]


def test_its_code_is_fenced_and_its_parts_are_lists() -> None:
    assert page().count("```") % 2 == 0
    assert "**Args** \n\n- `path`: a folder of results" in page()
    assert "```python\n>>> fit = fit_usl([1, 2, 4, 8], [10, 18, 29, 39])" in page()


SIMULATORS = {f"simulate.{file.stem}": file for file in (ROOT / "benchmarks" / "simulate").glob("*.py")}
TEXTS = {name: file.read_text(encoding="utf-8") for name, file in {**FILES, **SIMULATORS}.items()}
WITH_EXAMPLES = sorted(name for name, text in TEXTS.items() if ">>> " in text)


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


@pytest.mark.parametrize("name", analysis.__all__)
def test_a_name_is_no_module(name: str) -> None:
    for module in pkgutil.iter_modules(analysis.__path__):
        importlib.import_module(f"{analysis.__name__}.{module.name}")
    assert not isinstance(getattr(analysis, name), ModuleType)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        analysis.nothing  # noqa: B018
