"""The kept journals say what they said: every figure, the whole document, and the words on the terminal."""

from difflib import unified_diff
from hashlib import sha256

import numpy as np
import pytest

from .differences import EXACT, differences, shown
from .examples import NAMES, Example, example
from .kept import FOLDER, kept_findings, kept_numbers, kept_terminal
from .numbers import numbers

AGAIN = "where that is meant, see tests/golden/README.md"
# `_arithmetic` of the CPU on which the goldens were made (AVX-512).
ARITHMETIC = "2a3020442a12"
# The fit of a break-even surface ends where its steps become small: other last digits end it elsewhere, by up to 0.2 %.
ELSEWHERE = 0.005


@pytest.fixture(scope="module", params=NAMES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Example]:
    return request.param, example(request.param, tmp_path_factory.mktemp("golden"))


def test_every_figure_is_the_one_that_was_told(found: tuple[str, Example]) -> None:
    name, now = found
    was, told = kept_numbers(name), numbers(now.findings)
    assert len(was) > 200
    within = EXACT if is_reproduced(now) else ELSEWHERE
    differing = shown(was, {key: told[key] for key in was if key in told}, within)
    assert not differing, f"figures of {name}; {AGAIN}\n{differing}"


def test_the_findings_are_the_same_document(found: tuple[str, Example]) -> None:
    name, now = found
    reproduced(now)
    differing = shown(kept_findings(name), now.findings)
    assert not differing, f"findings of {name}; {AGAIN}\n{differing}"


def test_the_terminal_shows_the_same_text(found: tuple[str, Example]) -> None:
    name, now = found
    reproduced(now)
    lines = unified_diff(kept_terminal(name).splitlines(), now.terminal.splitlines(), "was", "is", n=1, lineterm="")
    differing = "\n".join(list(lines)[:60])
    assert not differing, f"terminal text of {name}; {AGAIN}\n{differing}"


def is_reproduced(found: Example) -> bool:
    """Whether this CPU gives all of its digits again."""
    return found.findings["study"]["question"] != "break-even" or _arithmetic() == ARITHMETIC


def reproduced(found: Example) -> None:
    if not is_reproduced(found):
        pytest.skip("numpy's exp and log have other last digits on this CPU than where the goldens were made")


def _arithmetic() -> str:
    """The last digits of exp and log here."""
    x = np.linspace(1, 9, 1001)
    return sha256(np.exp(x - 6).tobytes() + np.log(x).tobytes()).hexdigest()[:12]


@pytest.mark.parametrize("kind", ["numbers", "findings", "terminal"])
def test_each_kept_journal_has_its_goldens_and_nothing_else_has(kind: str) -> None:
    assert sorted(file.name.split(".")[0] for file in (FOLDER / kind).iterdir()) == NAMES
    assert len(NAMES) == 7


def test_a_difference_is_told_with_its_place() -> None:
    was = {"curves": [{"value": 1.0, "n": 3, "sure": True, "kind": "from"}], "gone": None}
    now = {"curves": [{"value": 1.0 + 1e-9, "n": 3.0, "sure": 1, "kind": "until"}, {}], "new": 0}
    assert list(differences(was, now)) == [
        "curves: had 1 items, has 2",
        "curves[0].value: was 1.0, is 1.000000001",
        "curves[0].sure: was True, is 1",
        "curves[0].kind: was 'from', is 'until'",
        "gone: was None, is absent",
        "new: was absent, is 0",
    ]
    assert not list(differences(was, {**was, "curves": [{**was["curves"][0], "value": 1.0 + 1e-13}]}))
