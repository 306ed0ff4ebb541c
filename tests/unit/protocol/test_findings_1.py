"""Findings that an earlier version wrote are read: here a whole one, of the cliff search that ships."""

import gzip
import json
from pathlib import Path

import pytest

from scalograph.protocol import saved_documents
from scalograph.protocol.findings import Trust
from scalograph.questions.cliff.document import Cliffs
from tests.kit import ROOT

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
    assert Trust(level="believe", sentence=sentence).sentence == "30 runs, clean"
