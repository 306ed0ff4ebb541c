"""Figures of settings, from findings as anybody may have written them."""

import json

from scalograph.protocol.findings import Findings
from scalograph.questions.tunables.chart import figures
from tests.kit.sources import ROOT

LINES = (ROOT / "protocol" / "examples" / "findings.jsonl").read_text(encoding="utf-8").splitlines()
GIVEN = next(found for found in map(json.loads, LINES) if found["study"]["question"] == "tunables")


def drawn(response: str) -> str:
    """The layout of the settings, of findings about this response."""
    part = {**GIVEN["parts"]["tunables"], "data": {**GIVEN["parts"]["tunables"]["data"], "response": response}}
    found = figures(Findings.model_validate({**GIVEN, "parts": {"tunables": part}}))
    return str(found[0].views[0].plots[0].layout)


def test_the_axis_names_the_response_also_where_no_other_part_of_the_findings_does() -> None:
    assert "wall time over the default (%)" in drawn("wall")
    assert "strange over the default (%)" in drawn("strange")
