import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from scalograph.findings import overview, table
from scalograph.protocol.findings import RunLog
from scalograph.questions.assemble import findings
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded


def journal(folder: Path) -> Path:
    """Three runs of one configuration, the second disturbed, and one of another that failed."""
    walls = [(1.0, {}), (2.5, {"neighbor_s": 1.0}), (1.2, {})]
    runs = [(CONFIGURATIONS[0], recorded(wall, **more)) for wall, more in walls]
    return write_journal(
        folder / "journal.jsonl", [*runs, (CONFIGURATIONS[1], recorded(status="failed", reason="exit code 1"))]
    )


def test_runs_are_listed_in_their_order_with_what_became_of_them(tmp_path: Path) -> None:
    log = findings(table.load(journal(tmp_path))).log
    assert log is not None
    assert log.run == ["r0", "r1", "r2", "r3"] and log.configurations == CONFIGURATIONS[:2]
    assert log.configuration == [0, 0, 0, 1]
    assert log.verdict == ["clean", "disturbed", "clean", "failed"]
    assert log.counted == [True, False, True, False]
    assert log.relative == [pytest.approx(value) for value in (1.0 / 1.1, 2.5 / 1.1, 1.2 / 1.1)] + [None]
    assert log.cause[0] == "" and log.cause[1] == "neighbor" and log.amount[1] == pytest.approx(0.5)


def test_a_run_started_before_its_line_was_written(tmp_path: Path) -> None:
    file = journal(tmp_path)
    head, *lines = [json.loads(line) for line in file.read_text().splitlines()]
    for number, line in enumerate(lines):
        line["at"] = f"2026-01-01T00:01:{10 * number:02d}.500Z"
    file.write_text("".join(json.dumps(line) + "\n" for line in [head, *lines]))
    log = findings(table.load(file)).log
    assert log is not None and log.start_s == [59.5, 68.0, 79.3, 89.5]


def test_more_runs_than_a_page_can_draw_are_not_listed_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MAX_RUNS", 3)
    found = findings(table.load(journal(tmp_path)))
    assert found.log is None and any("list of runs" in text for text in found.warnings)


@pytest.mark.parametrize("broken", [{"status": []}, {"configuration": [1]}, {"configuration": [-1]}])
def test_a_list_whose_columns_do_not_fit_is_refused(broken: dict[str, Any]) -> None:
    columns = {"start_s": [0.0], "status": ["ok"], "verdict": ["clean"], "cause": [""], "amount": [None]}
    known: dict[str, Any] = {
        "configurations": [{"n": 1}],
        "run": ["r"],
        "configuration": [0],
        "counted": [True],
        **columns,
    }
    assert RunLog(**known, relative=[1.0]).run == ["r"]
    with pytest.raises(ValidationError):
        RunLog(**{**known, "relative": [1.0], **broken})
