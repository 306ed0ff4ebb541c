"""The golden documents of protocol/examples, one a line: findings as a report reads them, reproductions as a page."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from scalograph.analysis.estimate import Flag
from scalograph.errors import ProtocolError
from scalograph.protocol import saved_documents
from scalograph.protocol.findings import Findings, Part
from scalograph.protocol.reproduction import OUTCOMES, ReproducedClaim, ReproducedPart, Reproduction
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.surface.document import Surfaces
from tests.kit import EXAMPLES, ROOT
from tests.kit.refusals import refuses

MODELS: dict[str, type[BaseModel]] = {"findings": Findings, "reproduction": Reproduction}


def lines_of(name: str) -> list[str]:
    return (EXAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def page_of(name: str) -> str:
    return (ROOT / "protocol" / f"{name}.md").read_text(encoding="utf-8")


FINDINGS, EARLIER, REPRODUCTIONS = map(lines_of, ("findings", "findings_1", "reproduction"))


@pytest.mark.parametrize(("name", "line"), [(name, line) for name in MODELS for line in lines_of(name)])
def test_a_golden_document_survives_the_round_trip(name: str, line: str) -> None:
    assert json.loads(MODELS[name].model_validate_json(line).model_dump_json()) == json.loads(line)


@pytest.mark.parametrize("name", MODELS)
def test_a_field_of_a_later_version_is_ignored(name: str) -> None:
    given = json.loads(lines_of(name)[0])
    later = {**given, "verse": 1} | ({"trust": {**given["trust"], "verse": 2}} if "trust" in given else {})
    assert MODELS[name].model_validate(later) == MODELS[name].model_validate(given)


@pytest.mark.parametrize(("name", "line"), [(name, line) for name in MODELS for line in lines_of(f"{name}_rejected")])
def test_a_golden_broken_document_is_refused_where_it_is(name: str, line: str, tmp_path: Path) -> None:
    """`fields` take the place of those of the first golden document; `without` names one that it then lacks."""
    golden = json.loads(line)
    document: dict[str, Any] = {**json.loads(lines_of(name)[0]), **golden.get("fields", {})}
    document.pop(golden.get("without"), None)
    with pytest.raises(ValidationError) as caught:
        MODELS[name].model_validate(document)
    assert [".".join(map(str, error["loc"])) for error in caught.value.errors()] == [golden["where"]]
    if name == "reproduction":
        (tmp_path / saved_documents.NAME).write_text(json.dumps(document), encoding="utf-8")
        refuses(ProtocolError, re.escape(golden["where"]), saved_documents.read_reproduction, tmp_path)


def test_every_field_of_findings_is_told_by_some_golden_document() -> None:
    documents = [json.loads(line) for line in FINDINGS]
    documented = set(re.findall(r"^\| `(\w+)` \|", page_of("findings"), re.MULTILINE))
    assert {field for document in documents for field, value in document.items() if value} == documented
    assert documented == set(Findings.model_fields)
    questions = {document["study"]["question"] for document in documents}
    assert questions == {"sweep", "effective-cpus", "cliff", "break-even", "throughput", "within-limit", "tunables"}


@pytest.mark.parametrize(("before", "after"), list(zip(EARLIER, FINDINGS, strict=False)), ids=range(len(EARLIER)))
def test_a_golden_document_of_protocol_1_says_the_same(before: str, after: str) -> None:
    earlier, now = map(Findings.model_validate_json, (before, after))
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
    found = Findings.model_validate_json(next(line for line in FINDINGS if json.loads(line)["parts"].get("cliff")))
    part = found.parts["cliff"]
    assert part.data is not None
    del part.data["factor"]
    refuses(ProtocolError, r"findings: parts\.cliff\.data\.factor: ", found.document, "cliff", Cliffs)


def test_every_field_of_a_reproduction_is_on_its_page_and_documents_hold_every_state_and_outcome() -> None:
    documents, page = [Reproduction.model_validate_json(line) for line in REPRODUCTIONS], page_of("reproduction")
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(Reproduction.model_fields)
    assert all(f"`{name}`" in page for model in (ReproducedPart, ReproducedClaim) for name in model.model_fields)
    claims = [claim for document in documents for study in document.studies for claim in study.claims]
    states = {part.state for document in documents for part in document.parts}
    assert {claim.outcome for claim in claims} == set(OUTCOMES)
    assert states == {"done", "failed", "skipped", "begun", "not run"}
    assert {document.ended is None for document in documents} == {True, False}
