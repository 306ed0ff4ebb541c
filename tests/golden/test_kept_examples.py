"""The kept journals say what they said: every figure, the whole document, and the words on the terminal.

With the answer, in a screen, and the last line is a place.
"""

import json
from difflib import unified_diff

import pytest

from scalograph.protocol.findings import Findings
from tests.golden.command import Said, scalograph
from tests.golden.conftest import Told
from tests.golden.differences import ALIKE, differences, same_text, shown
from tests.golden.kept import (
    FOLDER,
    JOURNALS,
    NAMES,
    Example,
    kept_findings,
    kept_journals,
    kept_numbers,
    kept_terminal,
)
from tests.golden.numbers import numbers

pytestmark = kept_journals
AGAIN = "where that is meant, see tests/golden/README.md"
# The fit of a break-even surface ends where its steps become small: other last digits end it elsewhere, by up to 0.2 %.
SURFACE = 0.005
SCREEN = 25


@pytest.fixture(scope="module", params=NAMES)
def found(request: pytest.FixtureRequest, told: Told) -> tuple[str, Example]:
    return request.param, told(JOURNALS / request.param, request.param)


def test_every_figure_is_the_one_that_was_told(found: tuple[str, Example]) -> None:
    name, now = found
    was, told = kept_numbers(name), numbers(now.findings)
    assert len(was) > 200
    figures = {key: figure for key, figure in was.items() if figure != []}  # an empty list of flags is no figure
    differing = shown(figures, {key: told[key] for key in figures if key in told}, tolerance(now))
    assert not differing, f"figures of {name}; {AGAIN}\n{differing}"


def test_the_findings_are_the_same_document(found: tuple[str, Example]) -> None:
    name, now = found
    differing = shown(kept_findings(name), now.findings, tolerance(now))
    assert not differing, f"findings of {name}; {AGAIN}\n{differing}"


def test_the_terminal_shows_the_same_text(found: tuple[str, Example]) -> None:
    name, now = found
    was = kept_terminal(name)
    lines = unified_diff(was.splitlines(), now.terminal.splitlines(), "was", "is", n=1, lineterm="")
    differing = "\n".join(list(lines)[:60])
    assert same_text(was, now.terminal, tolerance(now)), f"terminal text of {name}; {AGAIN}\n{differing}"


def tolerance(found: Example) -> float:
    """How far figures may be off on another CPU."""
    return SURFACE if found.findings["study"]["question"] == "break-even" else ALIKE


@pytest.fixture(scope="module")
def kept(found: tuple[str, Example]) -> Example:
    return found[1]


def findings(kept: Example) -> Findings:
    return Findings.model_validate_json((kept.folder / "findings.json").read_text(encoding="utf-8"))


def report(kept: Example, *arguments: str) -> Said:
    """What a further report prints; its page, which is there, stays as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scalograph.report.html.write", lambda *_: None)
        return scalograph(["report", kept.folder.name, *arguments], kept.folder.parent)


def test_the_answer_fits_a_screen_and_ends_with_places(kept: Example) -> None:
    lines, name = kept.answer.splitlines(), kept.folder.name
    assert len(lines) <= SCREEN and max(map(len, lines)) <= 80
    assert lines[0] == findings(kept).study.title
    assert [line.split()[0] for line in lines[-3:]] == ["report", "tables", "again"]
    assert f"{name}/report.html" in lines[-3] and f"scalograph report {name} --tables" in lines[-2]


def test_all_tables_stand_above_the_answer(kept: Example) -> None:
    printed = report(kept, "--tables").printed
    assert printed.endswith(kept.answer)
    assert all(table.title.split()[0] in printed for table in findings(kept).tables)


def test_one_table_is_asked_for_by_its_name(kept: Example) -> None:
    tables = findings(kept).tables
    printed = report(kept, "--table", tables[-1].id).printed
    assert printed.startswith(tables[-1].title[:40]) and printed.endswith(kept.answer)
    unknown = report(kept, "--table", "nothing")
    assert unknown.code == 2 and unknown.printed.startswith(kept.answer)
    assert "error: --table nothing is not valid" in unknown.printed and tables[0].id in unknown.printed.splitlines()[-1]


def test_documents_hold_the_claim_and_whether_to_believe_it(kept: Example) -> None:
    found = findings(kept)
    assert found.claim is not None
    for document in (kept.findings, json.loads(report(kept, "--json").printed)):
        assert document["claim"]["sentences"] == found.claim.sentences
        assert document["trust"]["level"] == found.trust.level


def test_findings_are_printed_as_they_are_written(told: Told) -> None:
    kept = told(JOURNALS / "descriptor-cliff", "descriptor-cliff")
    printed = scalograph(["analyze", kept.folder.name, "--json"], kept.folder.parent).printed
    assert json.loads(printed) == kept.findings


@pytest.mark.parametrize("kind", ["numbers", "findings", "terminal"])
def test_each_kept_journal_has_its_goldens_and_nothing_else_has(kind: str) -> None:
    assert sorted(file.name.split(".")[0] for file in (FOLDER / kind).iterdir()) == NAMES
    assert len(NAMES) == 9


def test_a_difference_is_told_with_its_place() -> None:
    was = {"curves": [{"value": 1.0, "n": 3, "sure": True, "kind": "from"}], "gone": None}
    now = {"curves": [{"value": 1.0 + 1e-5, "n": 3.0, "sure": 1, "kind": "until"}, {}], "new": 0}
    assert list(differences(was, now)) == [
        "curves: had 1 items, has 2",
        "curves[0].value: was 1.0, is 1.00001",
        "curves[0].sure: was True, is 1",
        "curves[0].kind: was 'from', is 'until'",
        "gone: was None, is absent",
        "new: was absent, is 0",
    ]
    assert not list(differences(was, {**was, "curves": [{**was["curves"][0], "value": 1.0 + 1e-9}]}))


@pytest.mark.parametrize(("was", "now", "same"), [
    ("0.697]  -  1,204 ms", "0.698]   -   1,204 ms", True), ("0.697] faster", "0.697] slower", False),
    ("0.697", "0.699", False), ("128 threads", "129 threads", False),
    ("1,000,000 pages", "1,000,000.5 pages", True),
])  # fmt: skip
def test_texts_are_the_same_to_the_last_digit_of_a_fraction(was: str, now: str, same: bool) -> None:
    assert same_text(was, now) is same
