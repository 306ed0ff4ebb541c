"""Load and phases from timelines that are made up."""

import json
from typing import Any

import numpy as np
import pytest

from scalograph.findings.row import Row
from scalograph.questions.parallel_build.model_parallelism import TimedRun, load, read_run
from tests.kit import ROOT
from tests.kit.records import read, recorded

MS = 1_000_000


def decaying(n_bins: int = 40) -> list[list[int]]:
    """Two CPUs and six tasks that wait for the first quarter; then one task."""
    first = n_bins // 4
    return [[10] * n_bins, [10] * first + [0] * (n_bins - first), [60] * first + [0] * (n_bins - first)]


def test_a_load_that_decays() -> None:
    found = load(decaying(), 10, 0, 400, 400)
    assert found is not None
    assert found.most_in_first_half == pytest.approx(8)
    assert found.last_over_first == pytest.approx(1 / 8), "a median: three quarters of the first third are full"
    assert found.course[-1] == pytest.approx(1)
    assert found.mean == pytest.approx((8 + 3) / 4)


def test_a_load_that_ends_late_does_not_decay() -> None:
    """The last tenth of the time has fewer tasks than jobs: an end, no decay."""
    found = load([[10] * 40, [10] * 40, [60] * 36 + [0] * 4], 10, 0, 400, 400)
    assert found is not None and found.last_over_first == pytest.approx(1)


def test_few_bins_have_no_thirds() -> None:
    found = load([[10] * 8], 10, 0, 80, 80)
    assert found is not None and found.thirds is None and found.last_over_first is None
    assert load([[10] * 8], 10, 90, 95, 95) is None


def timed(waiting: list[int] | None = None, values: dict[str, list[float]] | None = None) -> TimedRun:
    """A window of 100 ms: two tasks on a CPU and six waiting for 40 ms, then one; 20 ms are set-up before it."""
    made: dict[str, Any] = recorded(0.12, 0.2, iterations=[(0.1, 0.14, 78)], values=values)
    (part,) = made["iterations"]
    part |= {"start_ns": [20 * MS], "end_ns": [120 * MS]}
    rows = [[10 * MS] * 12, [0, 0, *[10 * MS] * 4, *[0] * 6]]
    made["timeline"] = {
        "source": "records", "bin_ns": 10 * MS, "cpus": [0, 1], "busy_ns": rows, "waiting_ns": waiting, "tasks": [],
    }  # fmt: skip
    row = Row("r0", 0, 0, False, {"jobs": 8}, "ok", None, "clean", (), {}, {}, n_cpus=2)
    found = read_run(read(made), row, "jobs")
    assert found is not None
    return found


WAITS = [0, 0, *[60 * MS] * 4, *[0] * 6]
TOLD = {
    "image_end_ns": [40.0 * MS], "image_wall_s": [0.04], "image_cpu_percent": [190.0],
    "modules_wall_s": [0.06], "modules_cpu_percent": [98.0],
}  # fmt: skip


def test_the_phases_of_a_build() -> None:
    phases = timed(WAITS, TOLD).phases
    assert list(phases) == ["image", "modules"]
    assert [one.share for one in phases.values()] == pytest.approx([0.4, 0.6])
    assert [one.parallelism.mean for one in phases.values()] == pytest.approx([2, 1])
    assert [one.cpu_percent for one in phases.values()] == [190, 98]
    assert [one.load.mean for one in phases.values() if one.load] == pytest.approx([8, 1])


def test_an_image_alone_is_one_phase() -> None:
    alone = {"image_end_ns": [100.0 * MS], "image_wall_s": [0.1], "image_cpu_percent": [190.0]}
    assert list(timed(WAITS, alone).phases) == ["image"]
    assert timed(WAITS, {}).phases == {}
    assert timed(WAITS, {**TOLD, "image_end_ns": [1.0, 2.0]}).phases == {}, "of two builds nobody knows which"


def test_without_waits_there_is_no_load() -> None:
    found = timed(None, TOLD)
    assert found.load is None and found.phases["image"].load is None
    assert found.phases["image"].parallelism.mean == pytest.approx(2)
    assert np.all(found.parallelism.course > 0)


def test_a_recorded_build_decays_where_its_image_is_done() -> None:
    """Eight jobs; the image took 36 % of the time, then directories of one to three files each."""
    record = read(json.loads((ROOT / "tests" / "recorded/build-with-modules.json").read_text()))
    row = Row("r0", 0, 0, False, {"jobs": 8}, "ok", None, "disturbed", (), {}, {}, n_cpus=2)
    found = read_run(record, row, "jobs")
    assert found is not None and found.load is not None
    image, modules = found.phases["image"], found.phases["modules"]
    assert (image.share, modules.share) == pytest.approx((0.359, 0.641), abs=0.001)
    assert image.load and modules.load and image.load.mean > 6.5 and 1 < modules.load.mean < 2
    assert found.load.most_in_first_half > 7
    assert found.load.last_over_first == pytest.approx(0.19, abs=0.01)
    assert modules.cpu_percent == pytest.approx(100 * modules.parallelism.mean, rel=0.02), "two ways to count it"
