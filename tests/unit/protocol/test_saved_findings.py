"""Findings are read back as they were written: an estimate is its own document; those of an earlier version too."""

import gzip
import json
from pathlib import Path

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.protocol import saved_documents
from scalograph.protocol.findings import Column, PointResponse, TableDoc, Trust
from scalograph.questions.cliff.document import Cliffs
from tests.kit import ROOT

KNOWN = Estimate(2.0, 1.5, 2.5, 0.95, 5, "an example", ("a warning",))


def test_a_field_and_a_cell_are_read_back_as_they_were() -> None:
    written = PointResponse(estimate=KNOWN)
    assert PointResponse.model_validate_json(written.model_dump_json()) == written
    # What an older version left out is unknown, and what a later one adds is ignored.
    read = PointResponse.model_validate_json('{"estimate": {"value": 2, "beyond": 3}}')
    assert read.estimate == Estimate(value=2.0)
    rows = [[KNOWN], [None], [{"value": "no number"}]]  # the last one only resembles an estimate
    table = TableDoc(id="t", title="", columns=[Column(name="x", kind="estimate")], rows=rows)
    assert TableDoc.model_validate_json(table.model_dump_json()).rows == rows


RECORDED = ROOT / "tests" / "recorded" / "findings-1-descriptor-cliff.json.gz"


def test_the_cliff_of_protocol_1_is_read(tmp_path: Path) -> None:
    file = tmp_path / "findings.json"
    file.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    found = saved_documents.read_findings(file)
    assert found.protocol == 1 != saved_documents.LATEST
    assert found.parts["cliff"].decided is True and list(found.parts) == ["cliff"]
    part = found.document("cliff", Cliffs)
    assert part is not None and part.model_dump(mode="json") == json.loads(file.read_text())["cliffs"]
    assert [(cliff.low, cliff.high) for cliff in part.cliffs] == [(58, 59)]


@pytest.mark.parametrize("sentence", ["Believe it: 30 runs, clean", "Be careful: 30 runs, clean", "30 runs, clean"])
def test_the_verdict_of_an_earlier_version_is_said_once(sentence: str) -> None:
    assert Trust(level="reliable", sentence=sentence).sentence == "30 runs, clean"
