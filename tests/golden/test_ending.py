"""How every command ends on the kept journals: with the answer, in a screen, and the last line is a place."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from scalograph.protocol.findings import Findings

from .command import scalograph
from .examples import JOURNALS, NAMES

SCREEN = 25


class Kept(NamedTuple):
    """A kept journal in its folder `kept`, the document of its analysis, and what a report of it prints."""

    folder: Path
    document: str
    answer: str

    def findings(self) -> Findings:
        return Findings.model_validate_json((self.folder / "kept" / "findings.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=NAMES)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("ending")
    shutil.copytree(JOURNALS / request.param, folder / "kept")
    document = scalograph(["analyze", "kept", "--json"], folder).printed
    return Kept(folder, document, scalograph(["report", "kept"], folder).printed)


def test_the_answer_fits_a_screen_and_ends_with_places(kept: Kept) -> None:
    lines = kept.answer.splitlines()
    assert len(lines) <= SCREEN and max(map(len, lines)) <= 80
    assert lines[0] == kept.findings().study.title
    assert [line.split()[0] for line in lines[-3:]] == ["report", "tables", "again"]
    assert "kept/report.html" in lines[-3] and "scalograph report kept --tables" in lines[-2]


def test_all_tables_stand_above_the_answer(kept: Kept) -> None:
    printed = scalograph(["report", "kept", "--tables"], kept.folder).printed
    assert printed.endswith(kept.answer)
    assert all(table.title.split()[0] in printed for table in kept.findings().tables)


def test_one_table_is_asked_for_by_its_name(kept: Kept) -> None:
    tables = kept.findings().tables
    printed = scalograph(["report", "kept", "--table", tables[-1].id], kept.folder).printed
    assert printed.startswith(tables[-1].title[:40]) and printed.endswith(kept.answer)
    unknown = scalograph(["report", "kept", "--table", "nothing"], kept.folder)
    assert unknown.code == 2 and unknown.printed.startswith(kept.answer)
    assert '--table: "nothing", expected' in unknown.printed and tables[0].id in unknown.printed.splitlines()[-1]


def test_documents_hold_the_claim_and_whether_to_believe_it(kept: Kept) -> None:
    found = kept.findings()
    assert found.claim is not None
    for document in (kept.document, scalograph(["report", "kept", "--json"], kept.folder).printed):
        told = json.loads(document)
        assert told["claim"]["sentences"] == found.claim.sentences
        assert told["trust"]["level"] == found.trust.level
