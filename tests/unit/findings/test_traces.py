"""Which runs' traces stand in the findings."""

from pathlib import Path
from typing import Any

from scalograph.findings import table
from scalograph.protocol.findings import TaskTrace
from scalograph.questions.assemble import findings
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.kit.studies import VALID


def shot(wall_s: float, end_ns: float, workers: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    ends = [end_ns] * len(workers)
    return recorded(
        wall_s, values={"trace_start_ns": [500.0] * len(workers), "trace_end_ns": ends, "trace_worker": list(workers)}
    )


def found(folder: Path, runs: list[tuple[dict[str, Any], dict[str, Any]]], **changes: Any) -> list[TaskTrace]:
    return findings(table.load(write_journal(folder / "journal.jsonl", runs, **changes))).traces


def test_the_run_nearest_the_median_stands_for_its_configuration(tmp_path: Path) -> None:
    runs = [(CONFIGURATIONS[1], shot(wall, end)) for wall, end in ((1.0, 1000), (1.1, 1100), (1.5, 1500))]
    (one,) = found(tmp_path, runs)
    assert (one.run, one.configuration) == ("r1", CONFIGURATIONS[1])
    assert (one.start_us, one.end_us, one.worker) == ([0.5, 0.5], [1.1, 1.1], [0, 1])


def test_one_worker_or_a_broken_trace_has_none(tmp_path: Path) -> None:
    runs = [
        (CONFIGURATIONS[0], shot(1.0, 1000, (0, 0))),
        (CONFIGURATIONS[1], shot(1.0, 400)),
        (CONFIGURATIONS[2], recorded()),
    ]
    assert found(tmp_path, runs) == []


def test_a_failed_run_has_none(tmp_path: Path) -> None:
    assert found(tmp_path, [(CONFIGURATIONS[0], shot(1.0, 1000) | {"run": recorded(status="timeout")["run"]})]) == []


def test_of_many_configurations_eight_are_shown_from_the_first_to_the_last(tmp_path: Path) -> None:
    configurations = [{"threads": n, "lock": lock} for n in range(1, 9) for lock in ("none", "cas")]
    text = VALID.replace('levels = "1,2,4"', 'levels = "1:8"')
    assert text != VALID
    runs = [(configuration, shot(1.0, 1000)) for configuration in configurations]
    shown = found(tmp_path, runs, text=text, design={"configurations": configurations, "runs": [3] * 16})
    assert len(shown) == 8
    assert (shown[0].configuration, shown[-1].configuration) == (configurations[0], configurations[-1])
