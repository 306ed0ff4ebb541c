"""The settings that a command line names, and figures of them, from findings as anybody may have written them."""

import json

import pytest

from scalograph.errors import StudyError
from scalograph.protocol.findings import Findings
from scalograph.questions.tunables.chart import figures
from scalograph.questions.tunables.find import TunablesOptions
from tests.kit.sources import ROOT


def test_each_option_becomes_a_factor_with_what_sets_it() -> None:
    asked = TunablesOptions(
        option=["-O0,-O2", "-ffast-math"],
        env=["ARENAS=1,2", "LANG=C", "HOME"],
        sysctl=["vm.swappiness=60,0"],
        factor=["size=64,256"],
    ).factors()
    assert asked.lists == {
        "o2": ["-O0", "-O2"], "ffast-math": ["", "-ffast-math"], "arenas": [1, 2], "swappiness": ["60", "0"],
        "size": [64, 256],
    }  # fmt: skip
    assert asked.controls == {
        "o2": "arguments", "ffast-math": "arguments", "arenas": "env:ARENAS", "swappiness": "sysctl:vm.swappiness",
    }  # fmt: skip
    assert (asked.fills, asked.plan, asked.runs, asked.titles["o2"]) == ("arguments", None, None, "-O0 or -O2")
    alone = TunablesOptions(factor=["size=64,256"], one_at_a_time=True).factors()
    assert (alone.fills, alone.plan, alone.runs) == (None, "one-at-a-time", 3)


@pytest.mark.parametrize(("options", "told"), [
    (TunablesOptions(), "tunables: no setting to vary"), (TunablesOptions(env=["LANG=C"]), "no setting to vary"),
    (TunablesOptions(factor=["a=1,2", "a=3,4"]), "a is given twice; give all its levels together"),
    (TunablesOptions(factor=["1,2"]), "--factor: '1,2', expected NAME=LEVELS"),
    (TunablesOptions(sysctl=["vm.swappiness"]), "--sysctl: 'vm.swappiness', expected NAME=LEVELS"),
    (TunablesOptions(factor=["a=1,,2"]), "--factor: found an empty item"),
    (TunablesOptions(factor=["a=1,2"], same="ten"), "--same: "),
    (TunablesOptions(factor=["a=1,2"], same="200%"), "--same: '200%', expected a share between 0 and 100%"),
])  # fmt: skip
def test_what_is_no_setting_is_one_message(options: TunablesOptions, told: str) -> None:
    with pytest.raises(StudyError) as error:
        options.factors()
    assert told in str(error.value)


LINES = (ROOT / "protocol" / "examples" / "findings.jsonl").read_text(encoding="utf-8").splitlines()
GIVEN = next(found for found in map(json.loads, LINES) if found["study"]["question"] == "tunables")


def drawn(response: str) -> str:
    """The layout of the settings, of findings about this response."""
    part = {**GIVEN["parts"]["tunables"], "data": {**GIVEN["parts"]["tunables"]["data"], "response": response}}
    found = figures(Findings.model_validate({**GIVEN, "parts": {"tunables": part}}))
    return str(found[0].views[0].plots[0].layout)


def test_the_axis_names_the_response_also_where_no_other_part_of_the_findings_does() -> None:
    assert "'wall time over the default (%)'" in drawn("wall")
    assert "'strange over the default (%)'" in drawn("strange")
