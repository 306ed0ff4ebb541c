import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import ProtocolError
from scalograph.findings import table
from tests.kit import ROOT

KEPT = ROOT / "tests" / "golden" / "journals" / "openmp-break-even" / "journal.jsonl.gz"


def events(n: int = 12) -> list[dict[str, Any]]:
    """The first lines of a kept journal."""
    with gzip.open(KEPT, "rt") as stream:
        return [json.loads(line) for line, _ in zip(stream, range(n), strict=False)]


def load(folder: Path, made: list[dict[str, Any]]) -> table.Table:
    file = folder / "journal.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in made))
    return table.load(file)


def first_run(made: list[dict[str, Any]]) -> dict[str, Any]:
    return next(event for event in made if event["event"] == "run")


def test_a_configuration_is_one_of_the_study(tmp_path: Path) -> None:
    made = events()
    assert load(tmp_path, made).rows[0].configuration == first_run(made)["treatment"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t | {"ghost": 1}, "expected a level of "),
        (lambda t: dict([*t.items()][1:]), "expected a level of "),
        (lambda t: dict.fromkeys(t, "ghost"), "= 'ghost', expected "),
        (lambda t: dict.fromkeys(t, True), "= True, expected "),
        (lambda t: {name: [1] for name in t}, "found [1], expected a number, text or a boolean"),
    ],
)
def test_a_run_under_another_configuration_is_a_broken_journal(tmp_path: Path, change: Any, message: str) -> None:
    for planned in (False, True):
        made = events()
        if planned:
            design = made[0]["design"]
            design["treatments"][0] = change(design["treatments"][0])
        else:
            run = first_run(made)
            run["treatment"] = change(run["treatment"])
        with pytest.raises(ProtocolError, match=r"journal\.jsonl:\d+: a broken `(run|study)` event") as caught:
            load(tmp_path, made)
        assert message in str(caught.value)


@pytest.mark.parametrize("runs", [[], [1.5], ["3"], [True], [-1], [10**30]])
def test_a_design_counts_the_runs_of_each_configuration(tmp_path: Path, runs: list[Any]) -> None:
    made = events(1)
    n = len(made[0]["design"]["treatments"])
    made[0]["design"]["runs"] = runs * n
    with pytest.raises(ProtocolError, match="expected a count for each of"):
        load(tmp_path, made)
