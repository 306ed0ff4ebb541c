import re
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Findings
from tests.kit.findings import JITTER, ONE_FACTOR, findings_of, point_at
from tests.kit.records import recorded

RATE = '\n[responses.rate]\nfrom = "value.rate"\nunit = "requests/s"\nbetter = "higher"\n'
MEMORY = '\n[responses.memory]\nfrom = "run.max_rss"\nunit = "bytes"\n'
REPORTED = '\n[responses.took]\nfrom = "value.rate"\nunit = "ms"\n'
SHARE = '\n[responses.share]\nfrom = "value.rate"\nunit = "%"\nbetter = "higher"\n'
PEAK = '\n[responses.peak]\nfrom = "value.rate"\nbetter = "none"\n'


def rates(tmp_path: Path, text: str, cpus: tuple[int, ...] = (0, 1)) -> Findings:
    """1, 2 and 3 times the rate at 1, 2 and 4 threads, however long the run."""
    truth = {1: 100.0, 2: 200.0, 4: 300.0}
    made = [
        ({"threads": n}, recorded(1.0, cpus=cpus, values={"rate": [j * x]})) for j in JITTER for n, x in truth.items()
    ]
    return findings_of(tmp_path, made, text)


def notes(found: Findings) -> str:
    """Of the configurations, without the effect that is visible."""
    (note,) = [t.note for t in found.tables if t.id == "configurations"]
    return re.sub(r"(; )?n = \d+ runs: effects on .* are visible$", "", note)


def test_speedup_of_a_rate_is_the_rate_over_that_of_the_baseline(tmp_path: Path) -> None:
    found = rates(tmp_path, ONE_FACTOR + RATE)
    gain = point_at(found, 4).speedup
    assert gain and gain.value == pytest.approx(3.0) and gain.low and gain.low < 3.0
    assert notes(found) == "scaling factor = rate of the row over that at threads 1, the other factors equal"
    assert found.answer[0].startswith("2 threads reach 2.00x")  # 3x is more than two CPUs can give
    text = ONE_FACTOR.replace('"total"', '"per-worker"') + RATE
    gain = point_at(rates(tmp_path, text), 4).speedup
    assert gain and gain.value == pytest.approx(3.0)
    each = text.replace("[factors.threads]", 'copies = "{threads}"\n\n[factors.threads]')
    gain = point_at(rates(tmp_path, each), 4).speedup  # each copy reports its own rate
    assert gain and gain.value == pytest.approx(12.0)


@pytest.mark.parametrize("text", [MEMORY, SHARE, PEAK, PEAK + MEMORY], ids=["memory", "share", "none", "both"])
def test_no_speedup_of_what_is_neither_time_nor_rate(tmp_path: Path, text: str) -> None:
    found = rates(tmp_path, ONE_FACTOR + text)
    assert all(p.speedup is None for p in found.curves[0].points)
    assert notes(found).endswith("is neither an elapsed time nor a rate")
    assert not any("x (threads" in text for text in found.answer)


def test_the_window_comes_first_then_the_first_response_with_a_direction(tmp_path: Path) -> None:
    gain = point_at(
        rates(tmp_path, ONE_FACTOR + RATE + '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n'), 2
    ).speedup
    assert gain and gain.value == pytest.approx(1.0)
    gain = point_at(rates(tmp_path, ONE_FACTOR + PEAK + REPORTED), 2).speedup
    assert gain and gain.value == pytest.approx(0.5)


def timed(tmp_path: Path, text: str, factor: str, truth: dict[Any, float]) -> Findings:
    made = [({factor: level}, recorded(j * x, cpus=(0, 1, 2, 3))) for j in JITTER for level, x in truth.items()]
    return findings_of(tmp_path, made, text)


def test_per_worker_work_multiplies_by_workers_and_not_by_cpus(tmp_path: Path) -> None:
    text = ONE_FACTOR.replace('"total"', '"per-worker"')
    found = timed(tmp_path, text, "threads", {1: 1.0, 2: 1.0, 4: 2.0})
    gain = point_at(found, 4).speedup
    assert gain and gain.value == pytest.approx(2.0)
    assert notes(found).startswith("scaling factor = threads times wall time at threads 1 over that of the row")
    text = ONE_FACTOR.replace('"total"', '"per-worker"').replace('"{threads}"', '"1"')
    text = text.replace("[factors.threads]\n", '[factors.cpus]\ncontrol = "cpus"\n').replace("threads = 1", "cpus = 1")
    found = timed(tmp_path, text, "cpus", {1: 2.0, 2: 1.0, 4: 0.5})
    gain = point_at(found, 4).speedup
    assert gain and gain.value == pytest.approx(4.0) and "times" not in notes(found)


@pytest.mark.parametrize(("declaration", "levels"), [
    ('levels = ["self", "child"]', ["self", "child"]),
    ('control = "nice"\nlevels = [1, 5]', [1, 5]),
], ids=["words", "a control"])  # fmt: skip
def test_levels_that_count_nothing_have_no_speedup(tmp_path: Path, declaration: str, levels: list[Any]) -> None:
    text = ONE_FACTOR.replace('"{threads}"', '"{who}"').replace('levels = "1,2,4"', declaration)
    text = text.replace("factors.threads", "factors.who").replace("threads = 1", f"who = {levels[0]!r}")
    found = timed(tmp_path, text, "who", {levels[0]: 1.0, levels[1]: 2.0})
    assert all(p.speedup is None for p in found.curves[0].points)
    assert notes(found) == "no scaling factor: the levels of who count nothing that could do the work"
    assert found.answer[0].startswith("Wall time goes from 1")


def test_without_a_baseline_nothing_is_said_of_scaling(tmp_path: Path) -> None:
    found = timed(tmp_path, ONE_FACTOR.replace("[baseline]\nthreads = 1\n", ""), "threads", {1: 1.0, 2: 0.5})
    assert notes(found) == "" and found.answer[0].startswith("Wall time goes from 500 ms")


def test_baselines_of_a_rate_are_slower_where_it_is_lower(tmp_path: Path) -> None:
    text = ONE_FACTOR.replace("[protocol]", '[factors.cpus]\ncontrol = "cpus"\nlevels = [1, 2]\n\n[protocol]') + RATE
    made = [
        ({"threads": n, "cpus": m}, recorded(1.0, cpus=tuple(range(m)), values={"rate": [j * 100.0 / m]}))
        for j in JITTER
        for n in (1, 2)
        for m in (1, 2)
    ]
    (shown,) = [t for t in findings_of(tmp_path, made, text).tables if t.id == "baseline-across-cpus"]
    assert [c.name for c in shown.columns][-2:] == ["ratio of rates", "so the baseline is"]
    assert shown.rows[0][-2].value == pytest.approx(0.5) and shown.rows[0][-1] == "slower on more CPUs"
