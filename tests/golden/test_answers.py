"""Comparisons, an imported result and a reproduction say what they said: terminal, document and page."""

from difflib import unified_diff

import pytest

from tests.golden.answers import COMMANDS, GOLDENS, Answer, answer, golden
from tests.golden.differences import same_text, shown
from tests.golden.kept import kept_journals

pytestmark = kept_journals
AGAIN = "where that is meant, see tests/golden/README.md"


@pytest.fixture(scope="module", params=COMMANDS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Answer]:
    return request.param, answer(request.param, tmp_path_factory.mktemp("answer"))


def test_the_terminal_and_the_page_show_the_same_text(made: tuple[str, Answer]) -> None:
    name, now = made
    was = golden(name)
    for before, after in ((was.terminal, now.terminal), (was.page, now.page)):
        lines = unified_diff(before.splitlines(), after.splitlines(), "was", "is", n=1, lineterm="")
        differing = "\n".join([*lines][:60])
        assert same_text(before, after), f"text of {name}; {AGAIN}\n{differing}"


def test_the_document_is_the_same(made: tuple[str, Answer]) -> None:
    name, now = made
    differing = shown(golden(name).document, now.document)
    assert not differing, f"document of {name}; {AGAIN}\n{differing}"


def test_each_command_has_its_goldens_and_nothing_else_has() -> None:
    assert {file.name.split(".")[0].removesuffix("-page") for file in GOLDENS.iterdir()} == set(COMMANDS)
