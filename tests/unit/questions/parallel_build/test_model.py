"""The statistics of a parallel build: two one-sided tests; parallelism, load and phases from timelines made up."""

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from scalograph.findings.row import Row
from scalograph.questions.parallel_build.model_equivalence import equivalence
from scalograph.questions.parallel_build.model_parallelism import TimedRun, load, parallelism, read_run
from tests.kit import RECORDED
from tests.kit.records import read, recorded

MS = 1_000_000
S = 1e-9


def test_its_label_is_two_t_tests_and_on_the_margin_wrong_in_at_most_one_case_of_twenty() -> None:
    rng, edge = np.random.default_rng(2), np.log(1.02)
    for _ in range(200):
        a, b = rng.normal(0.01, 0.01, 4), rng.normal(0, 0.01, 6)
        sides = [
            stats.ttest_ind(a + edge, b, equal_var=False, alternative="greater").pvalue,
            stats.ttest_ind(a - edge, b, equal_var=False, alternative="less").pvalue,
        ]
        assert (equivalence(np.exp(a), np.exp(b)).label == "equivalent") == (max(sides) < 0.05)
    rng, edge = np.random.default_rng(4), np.log(1.02)
    pairs = ((np.exp(rng.normal(edge, 0.005, 5)), np.exp(rng.normal(0, 0.005, 5))) for _ in range(1000))
    assert sum(equivalence(*pair).label == "equivalent" for pair in pairs) <= 70


@pytest.mark.parametrize(("a", "b", "label"), [
    ([10, 12, 9], [10, 11, 9.5], "not shown"), ([10.0], [10.0, 10.1], "not shown"),
    ([0.0, 0.0], [0.0, 0.0], "not shown"), ([11, 11.1, 10.9], [10, 10.1, 9.9], "different"),
])  # fmt: skip
def test_no_difference_found_is_not_equivalence(a: list[float], b: list[float], label: str) -> None:
    assert equivalence(a, b).label == label


# Set-up lies before the window, and the end in the middle of a bin counts by its share. `tree_busy_ns` has the whole
# tree in one row, where switches were too many to keep each.
@pytest.mark.parametrize(
    ("busy", "given", "expected"),
    [
        ([[10] * 10, [10] * 8 + [0, 0]], {"asked": 8, "end_ns": 100},
         {"mean": 1.8, "limit": 2, "below_s": 20 * S, "tail_s": 20 * S, "lost_s": 20 * S}),
        ([[5] * 4, [5] * 4], {"asked": 1, "end_ns": 40}, {"limit": 1, "below_s": 0, "lost_s": 0}),
        ([[10, 0, 10], [10, 10, 10]], {"end_ns": 30}, {"below_s": 10 * S, "tail_s": 0}),
        ([[10, 10, 10, 5], [0, 10, 10, 5]], {"begin_ns": 10, "end_ns": 35}, {"mean": (20 + 20 + 5) / 25}),
        ([[15, 15]], {"end_ns": 20}, {"mean": 1.5}),
        ([[10, 10, 5], [10, 10, 5]], {"end_ns": 25, "last_ns": 25},
         {"mean": 2.0, "lost_s": 0.0, "below_s": 0.0, "tail_s": 0.0}),
    ],
    ids=["a tail", "fewer jobs than CPUs", "a dip", "outside the window", "a tree", "the last bin ends with the run"],
)  # fmt: skip
def test_how_parallel_a_run_was(busy: list[list[int]], given: dict[str, int], expected: dict[str, float]) -> None:
    found = parallelism(busy, **{"bin_ns": 10, "asked": 2, "n_cpus": 2, "begin_ns": 0, **given})
    assert found is not None
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1e-15)
    assert len(found.tasks) == -(-(given["end_ns"] - given.get("begin_ns", 0)) // 10)


def test_nothing_to_see_is_no_parallelism() -> None:
    assert parallelism([[10, 10]], 10, asked=2, n_cpus=2, begin_ns=40, end_ns=50) is None
    assert parallelism([[]], 10, asked=2, n_cpus=2, begin_ns=0, end_ns=50) is None


@pytest.mark.parametrize("wrong", [{"bin_ns": 0}, {"end_ns": 0}, {"asked": 0}, {"margin": 0.0}, {"confidence": 0.5}])
def test_refusals(wrong: dict[str, Any]) -> None:
    name = "equivalence" if {"margin", "confidence"} & wrong.keys() else "parallelism"
    given = {"bin_ns": 10, "asked": 2, "n_cpus": 2, "begin_ns": 0, "end_ns": 20, **wrong}
    with pytest.raises(ValueError, match=f"{name}: found"):
        equivalence([1.0, 2.0], [1.0, 2.0], **wrong) if name == "equivalence" else parallelism([[10, 10]], **given)


def decaying(n_bins: int = 40) -> list[list[int]]:
    """Two CPUs and six tasks that wait for the first quarter; then one task."""
    first = n_bins // 4
    return [[10] * n_bins, [10] * first + [0] * (n_bins - first), [60] * first + [0] * (n_bins - first)]


def test_a_load_decays_unless_it_ends_late_or_has_few_bins() -> None:
    found = load(decaying(), 10, 0, 400, 400)
    assert found is not None
    assert found.most_in_first_half == pytest.approx(8)
    assert found.last_over_first == pytest.approx(1 / 8), "a median: three quarters of the first third are full"
    assert found.course[-1] == pytest.approx(1)
    assert found.mean == pytest.approx((8 + 3) / 4)
    # The last tenth of the time has fewer tasks than jobs: an end, no decay.
    found = load([[10] * 40, [10] * 40, [60] * 36 + [0] * 4], 10, 0, 400, 400)
    assert found is not None and found.last_over_first == pytest.approx(1)
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


def test_the_phases_of_a_build_of_an_image_alone_and_without_waits() -> None:
    phases = timed(WAITS, TOLD).phases
    assert list(phases) == ["image", "modules"]
    assert [one.share for one in phases.values()] == pytest.approx([0.4, 0.6])
    assert [one.parallelism.mean for one in phases.values()] == pytest.approx([2, 1])
    assert [one.cpu_percent for one in phases.values()] == [190, 98]
    assert [one.load.mean for one in phases.values() if one.load] == pytest.approx([8, 1])
    alone = {"image_end_ns": [100.0 * MS], "image_wall_s": [0.1], "image_cpu_percent": [190.0]}
    assert list(timed(WAITS, alone).phases) == ["image"]
    assert timed(WAITS, {}).phases == {}
    assert timed(WAITS, {**TOLD, "image_end_ns": [1.0, 2.0]}).phases == {}, "of two builds nobody knows which"
    found = timed(None, TOLD)
    assert found.load is None and found.phases["image"].load is None
    assert found.phases["image"].parallelism.mean == pytest.approx(2)
    assert np.all(found.parallelism.course > 0)


def test_a_recorded_build_decays_where_its_image_is_done() -> None:
    """Eight jobs; the image took 36% of the time, then directories of one to three files each."""
    record = read(json.loads((RECORDED / "build-with-modules.json").read_text()))
    row = Row("r0", 0, 0, False, {"jobs": 8}, "ok", None, "disturbed", (), {}, {}, n_cpus=2)
    found = read_run(record, row, "jobs")
    assert found is not None and found.load is not None
    image, modules = found.phases["image"], found.phases["modules"]
    assert (image.share, modules.share) == pytest.approx((0.359, 0.641), abs=0.001)
    assert image.load and modules.load and image.load.mean > 6.5 and 1 < modules.load.mean < 2
    assert found.load.most_in_first_half > 7
    assert found.load.last_over_first == pytest.approx(0.19, abs=0.01)
    assert modules.cpu_percent == pytest.approx(100 * modules.parallelism.mean, rel=0.02), "two ways to count it"
