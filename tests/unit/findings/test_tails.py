"""The slowest iterations: told where runs have many, of all runs together and by run."""

from pathlib import Path

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import TableDoc
from tests.kit.findings import ONE_FACTOR, Made, findings_of
from tests.kit.records import recorded

TEXT = ONE_FACTOR.replace("runs = 3", "runs = 3\niterations = 99\nwarmup = 5")


def study(n: int, slow: int) -> Made:
    """Three blocks of threads 1 and 2; of the latter so many iterations of the last block take fifty times as long."""
    runs = []
    for block in range(3):
        for threads in (1, 2):
            late = slow if block == 2 and threads == 2 else 0
            windows = [((50.0 if i >= n - late else 1.0) * (1 + 0.001 * (i % 7)), 1.0, 7) for i in range(n)]
            total = sum(wall for wall, _, _ in windows)
            runs.append(({"threads": threads}, recorded(total + 1, total, cpus=(0, 1, 2, 3), iterations=windows)))
    return runs


def tails(folder: Path, n: int, slow: int) -> TableDoc | None:
    found = findings_of(folder, study(n, slow), TEXT.replace("99", str(n)))
    return next((table for table in found.tables if table.id == "tails"), None)


def test_tails_are_those_of_all_runs_together(tmp_path: Path) -> None:
    table = tails(tmp_path, 1005, 20)
    assert table is not None
    fast, late = table.rows
    assert fast[0] == 1 and fast[4] == pytest.approx(1, rel=0.02) and fast[-1] == 3000
    # Twenty of three thousand are slow: they are the slowest, and not in the last hundredth.
    assert late[4] == pytest.approx(1, rel=0.02) and late[6] == pytest.approx(50, rel=0.01)
    assert late[5] is None  # of the last thousandth there are three: no quantile
    p99 = late[3]
    # Of its own run they are two in a hundred: what is told of runs has an interval that says how they differ.
    assert isinstance(p99, Estimate) and p99.low < 1 < p99.value < 50 < p99.high


def test_a_quantile_of_too_few_iterations_is_not_told(tmp_path: Path) -> None:
    table = tails(tmp_path, 205, 1)
    assert table is not None
    p50, p90, p99 = table.rows[0][1:4]
    assert isinstance(p50, Estimate) and isinstance(p90, Estimate) and isinstance(p99, Estimate)
    assert p50.value and p90.value and p99.value is None
    assert tails(tmp_path, 60, 1) is None
