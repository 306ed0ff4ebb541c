"""The golden documents of protocol/examples, one a line: findings as a report reads them."""

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from scalograph.analysis.estimate import Flag
from scalograph.errors import ProtocolError
from scalograph.protocol.findings import Findings, Part
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.surface.document import Surfaces
from tests.kit import ROOT

PROTOCOL = ROOT / "protocol"
LINES = (PROTOCOL / "examples" / "findings.jsonl").read_text(encoding="utf-8").splitlines()
EARLIER = (PROTOCOL / "examples" / "findings_1.jsonl").read_text(encoding="utf-8").splitlines()
REJECTED = (PROTOCOL / "examples" / "findings_rejected.jsonl").read_text(encoding="utf-8").splitlines()


def documented() -> set[str]:
    """The fields of the document, as the first table of findings.md has them."""
    page = (PROTOCOL / "findings.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


@pytest.mark.parametrize("number", range(len(LINES)))
def test_a_golden_document_survives_the_round_trip(number: int) -> None:
    given = json.loads(LINES[number])
    assert json.loads(Findings.model_validate_json(LINES[number]).model_dump_json()) == given


def test_every_field_of_the_page_is_told_by_some_golden_document() -> None:
    documents = [json.loads(line) for line in LINES]
    assert {field for document in documents for field, value in document.items() if value} == documented()
    assert documented() == set(Findings.model_fields)
    questions = {document["study"]["question"] for document in documents}
    assert questions == {"sweep", "effective-cpus", "cliff", "break-even", "throughput", "within-limit", "tunables"}


@pytest.mark.parametrize("number", range(len(EARLIER)))
def test_a_golden_document_of_protocol_1_says_the_same(number: int) -> None:
    earlier, now = (Findings.model_validate_json(lines[number]) for lines in (EARLIER, LINES))
    assert earlier.protocol == 1 and earlier.study == now.study
    assert [flag.text for flag in flags(earlier)] == [flag.text for flag in flags(now)]
    assert earlier.document("surface", Surfaces) == now.document("surface", Surfaces)
    assert {**earlier.parts, "surface": None} == {**now.parts, "surface": None}


def flags(found: Findings) -> list[Flag]:
    """All remarks on points; of protocol 1 they are texts."""
    return [flag for curve in found.curves for point in curve.points for flag in point.flags]


def test_a_search_without_a_part_in_protocol_1_had_no_answer() -> None:
    line = next(line for line in EARLIER if json.loads(line)["study"]["question"] == "cliff")
    parts = Findings.model_validate({**json.loads(line), "cliffs": None}).parts
    assert parts == {"cliff": Part(decided=False)}


def test_a_broken_part_is_refused_where_it_is() -> None:
    found = Findings.model_validate_json(next(line for line in LINES if json.loads(line)["parts"].get("cliff")))
    part = found.parts["cliff"]
    assert part.data is not None
    del part.data["factor"]
    with pytest.raises(ProtocolError, match=r"findings: parts\.cliff\.data\.factor: "):
        found.document("cliff", Cliffs)


def test_a_field_of_a_later_version_is_ignored() -> None:
    given = json.loads(LINES[0])
    later = {**given, "verse": 1, "trust": {**given["trust"], "verse": 2}}
    assert Findings.model_validate(later) == Findings.model_validate(given)


@pytest.mark.parametrize("line", REJECTED)
def test_a_golden_broken_document_is_refused_where_it_is(line: str) -> None:
    """`fields` take the place of those of the first golden document; `without` names one that it then lacks."""
    golden = json.loads(line)
    document: dict[str, Any] = {**json.loads(LINES[0]), **golden.get("fields", {})}
    document.pop(golden.get("without"), None)
    with pytest.raises(ValidationError) as caught:
        Findings.model_validate(document)
    assert [".".join(map(str, error["loc"])) for error in caught.value.errors()] == [golden["where"]]
