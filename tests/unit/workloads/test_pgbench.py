"""pgbench's log becomes lines that a probe takes, with the right figures."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.kit import ROOT
from tests.kit.scripts import load_script

HERE = ROOT / "workloads" / "pgbench"
# Two clients, 1 ms a transaction, one right after the other, and one that failed.
LOG = "".join(f"{client} {n} 1000 0 1700000000 {client + 1000 * n}\n" for n in range(100) for client in (0, 1))


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    return load_script(HERE / "figures.py")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.1"
    file.write_text(LOG + "0 100 failed 0 1700000000 101000\n")
    return file


def values(figures: ModuleType, log: Path) -> dict[str, float]:
    lines = [line.split() for line in figures.lines(figures.Transactions.read([log]), 2, 4, 0.05)]
    return {words[1]: float(words[2]) for words in lines if words[0] == "value"}


def test_rate_times_and_failures_are_those_of_the_log(figures: ModuleType, log: Path, tmp_path: Path) -> None:
    found = values(figures, log)
    assert (found["requests"], found["errors"], found["clients"], found["threads"]) == (200, 1, 2, 2)
    assert found["rate"] == pytest.approx(2000, rel=1e-3)
    assert found["p50_ns"] == found["p99_ns"] == found["mean_ns"] == 1_000_000
    assert found["in_flight"] == pytest.approx(2, rel=1e-3) and found["driver_cpu_ns"] == 50_000_000
    assert found["clients"] == pytest.approx(found["rate"] * (found["mean_ns"] + found["cycle_ns"]) / 1e9)
    (tmp_path / "log").write_text("0 0 failed 0 1700000000 5\n")
    assert [*figures.lines(figures.Transactions.read([tmp_path / "log"]), 1, 1, 0.0)] == ["value errors 1"]


@pytest.mark.parametrize(
    ("ns", "index"), [(0, 0), (127, 127), (128, 128), (255, 255), (256, 256), (257, 256), (1_000_000, 1780)]
)
def test_buckets_follow_the_page(figures: ModuleType, ns: int, index: int) -> None:
    assert figures.bucket(ns) == index


def test_a_bucket_is_narrow_and_no_line_of_a_histogram_is_too_long(figures: ModuleType) -> None:
    assert all(figures.bucket(low) < figures.bucket(low + low // 100) for low in range(1_000, 10**7, 997))
    lines = [*figures.histogram([1 << k for k in range(40)] * 1000)]
    assert len(lines) > 1 and max(map(len, lines)) < 512
