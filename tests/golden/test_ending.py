"""How every command ends on the kept journals: with the answer, in a screen, and the last line is a place."""

import json

import pytest

from scalograph.protocol.findings import Findings
from tests.golden.command import Said, scalograph
from tests.golden.conftest import Told
from tests.golden.kept import JOURNALS, NAMES, Example, kept_journals

pytestmark = kept_journals
SCREEN = 25


@pytest.fixture(scope="module", params=NAMES)
def kept(request: pytest.FixtureRequest, told: Told) -> Example:
    return told(JOURNALS / request.param, request.param)


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
    assert '--table: "nothing", expected' in unknown.printed and tables[0].id in unknown.printed.splitlines()[-1]


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
