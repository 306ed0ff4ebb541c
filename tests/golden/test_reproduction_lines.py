"""The golden documents of protocol/examples, one a line: reproductions as the page reads them."""

import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from scalograph.errors import ProtocolError
from scalograph.protocol import saved_documents
from scalograph.protocol.reproduction import OUTCOMES, ReproducedClaim, ReproducedPart, Reproduction
from tests.kit import ROOT

PROTOCOL = ROOT / "protocol"
PAGE = (PROTOCOL / "reproduction.md").read_text(encoding="utf-8")
LINES = (PROTOCOL / "examples" / "reproduction.jsonl").read_text(encoding="utf-8").splitlines()
REJECTED = (PROTOCOL / "examples" / "reproduction_rejected.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("number", range(len(LINES)))
def test_a_golden_document_survives_the_round_trip(number: int) -> None:
    assert json.loads(Reproduction.model_validate_json(LINES[number]).model_dump_json()) == json.loads(LINES[number])


def test_the_page_names_every_field_and_the_documents_hold_every_state_and_outcome() -> None:
    documents = [Reproduction.model_validate_json(line) for line in LINES]
    rows = [row.split("|")[1] for row in PAGE.splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(Reproduction.model_fields)
    assert all(f"`{name}`" in PAGE for model in (ReproducedPart, ReproducedClaim) for name in model.model_fields)
    claims = [claim for made in documents for study in made.studies for claim in study.claims]
    assert {claim.outcome for claim in claims} == set(OUTCOMES)
    assert {part.state for made in documents for part in made.parts} == {
        "done", "failed", "skipped", "begun", "not run",
    }  # fmt: skip
    assert {made.ended is None for made in documents} == {True, False}


def test_a_field_of_a_later_version_is_ignored() -> None:
    given = json.loads(LINES[0])
    assert Reproduction.model_validate({**given, "verse": 1}) == Reproduction.model_validate(given)


@pytest.mark.parametrize("line", REJECTED)
def test_a_golden_broken_document_is_refused_where_it_is(line: str, tmp_path: Path) -> None:
    golden = json.loads(line)
    document = {**json.loads(LINES[0]), **golden.get("fields", {})}
    document.pop(golden.get("without"), None)
    with pytest.raises(ValidationError) as caught:
        Reproduction.model_validate(document)
    assert [".".join(map(str, error["loc"])) for error in caught.value.errors()] == [golden["where"]]
    (tmp_path / saved_documents.NAME).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ProtocolError, match=re.escape(golden["where"])):
        saved_documents.read_reproduction(tmp_path)
