"""A study that asks for the best configuration, from its file to its findings, on a machine that is made up."""

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import analyze_steps
from scalograph.errors import Exit, StudyError
from scalograph.protocol.findings import Claim, Findings
from scalograph.questions.best.claim import recommend
from scalograph.questions.best.document import Best
from scalograph.questions.best.find import figures
from scalograph.questions.best.search_state import DEFAULT_FAILS, MOST_CONFIGURATIONS, N_FRESH
from scalograph.study.levels import Configuration
from tests.kit import simulated
from tests.kit.findings import cases_of, claim_of, part_of
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study

WALL = {"wall": {"from": "window.wall", "unit": "s"}}
RATE = {"rate": {"from": "value.rate", "unit": "1/s", "better": "higher"}}
THREADS = {"threads": "1:32"}


def seconds(levels: Configuration) -> float:
    """A program that is fastest with 12 threads and batches of 8, and a little faster with -O3."""
    threads, batch = int(levels.get("threads", 12)), int(levels.get("batch", 8))
    return (1 / threads + threads / 144) * (1.2 if batch != 8 else 1.0) * (0.9 if levels.get("o3") == "-O3" else 1.0)


def asked(folder: Path, factors: dict[str, Any], time: Callable[[Configuration], float], **more: Any) -> Findings:
    machine = simulated.Machine(time, more.pop("fails", lambda levels: False), noise=more.pop("noise", 0.01))
    study = a_study(factors, question="best", **{"responses": WALL, **more})
    found = simulated.run(folder, machine, study, 4)[1]
    if claim_of(found).matrix is not None:
        check_numbers(claim_of(found))
    return found


def answered(found: Findings) -> tuple[Best, Claim]:
    return part_of(found, "best", Best), claim_of(found)


def test_the_fastest_of_numbers_and_texts_is_confirmed_by_fresh_runs(tmp_path: Path) -> None:
    factors = {**THREADS, "batch": [1, 8, 64], "o3": ["-O2", "-O3"]}
    part, said = answered(asked(tmp_path, factors, seconds))
    assert part.decided and part.n_configurations == 192 and part.n_runs < 192 / 3
    assert (part.winner.levels["batch"], part.winner.levels["o3"]) == (8, "-O3")
    least = seconds({"threads": 12, "batch": 8, "o3": "-O3"})
    assert seconds(part.winner.levels) <= 1.02 * least
    assert {"threads": 12, "batch": 8, "o3": "-O3"} in [member.levels for member in part.members]
    speed = part.winner.speed
    truth = seconds(part.default.levels) / seconds(part.winner.levels)
    assert speed is not None and speed.n == N_FRESH and speed.value == pytest.approx(truth, rel=0.03)
    assert cases_of(said).keys() >= {"faster", "several"}
    cheap = recommend(part)
    assert cheap is not None and cheap.cost < part.winner.cost and seconds(cheap.levels) <= 1.04 * least
    assert figures(asked(tmp_path / "again", factors, seconds))["recommended"] == cheap.levels


@pytest.mark.parametrize(("time", "noise", "cases"), [
    (lambda levels: 1.0, 0.01, {"equivalent", "several", "cheapest"}),
    (lambda levels: 1 + 0.1 * int(levels["threads"]), 0.01, {"default", "alone"}),
    (lambda levels: 1.0, 0.2, {"several"}),
])  # fmt: skip
def test_nothing_is_called_faster_that_fresh_runs_do_not_confirm(
    time: Callable[[Configuration], float], noise: float, cases: set[str], tmp_path: Path
) -> None:
    said = claim_of(asked(tmp_path, THREADS, time, noise=noise))
    assert "faster" not in cases_of(said) and cases_of(said).keys() >= cases


def test_the_default_is_the_one_that_is_named(tmp_path: Path) -> None:
    part, _ = answered(asked(tmp_path, THREADS, seconds, baseline={"threads": 4}))
    assert part.default.levels == {"threads": 4}
    assert part.winner.speed is not None and part.winner.speed.value == pytest.approx(0.2778 / 0.1667, rel=0.03)


@pytest.mark.parametrize(("shape", "holds"), [
    ("ranks*threads=16", lambda ranks, threads: ranks * threads == 16),
    ("ranks*threads <= cores", lambda ranks, threads: ranks * threads <= 4),
    ("threads>=9", lambda ranks, threads: threads >= 9),
])  # fmt: skip
def test_only_configurations_of_the_shape_run(shape: str, holds: Callable[[int, int], bool], tmp_path: Path) -> None:
    factors = {"ranks": "1:16", "threads": "1:16"}
    part, _ = answered(asked(tmp_path, factors, lambda levels: 1 / prod(map(int, levels.values())), shape=[shape]))
    every = [(a, b) for a in range(1, 17) for b in range(1, 17) if holds(a, b)]
    assert part.n_configurations == len(every)
    assert tuple(part.winner.levels.values()) in every and tuple(part.default.levels.values()) == every[0]


def test_configurations_that_fail_are_excluded(tmp_path: Path) -> None:
    found = asked(tmp_path, THREADS, seconds, fails=lambda levels: int(levels["threads"]) > 7)
    part, _ = answered(found)
    assert part.decided and part.winner.levels == {"threads": 7} and part.n_excluded > 0
    assert all(int(member.levels["threads"]) <= 7 for member in part.members)
    assert analyze_steps.exit_code(found) == Exit.CONFIGURATION_FAILED


def test_without_a_default_that_runs_nothing_is_compared(tmp_path: Path) -> None:
    class Failing(simulated.Machine):
        def record(self, levels: Configuration, wall: float, **figures: Any) -> Any:
            return super().record(levels, wall, **figures, reason="exit code 1: no license")

    machine = Failing(seconds, lambda levels: int(levels["threads"]) == 1)
    done, found = simulated.run(tmp_path, machine, a_study(THREADS, question="best", responses=WALL), 4)
    assert len(machine.made) == 2 and found.parts["best"].decided is False
    assert DEFAULT_FAILS in done.results.journal.read_text()
    assert claim_of(found).sentences == [f"No answer: {DEFAULT_FAILS} (exit code 1: no license)."]
    assert analyze_steps.exit_code(found) == Exit.CONFIGURATION_FAILED


def test_a_rate_is_best_where_it_is_highest(tmp_path: Path) -> None:
    class Rated(simulated.Machine):
        def record(self, levels: Configuration, wall: float, **figures: Any) -> Any:
            return simulated.records.record(1.0, 1.0, values={"rate": [1 / wall]}, **figures)

    machine = Rated(seconds, noise=0.01)
    found = simulated.run(tmp_path, machine, a_study(THREADS, question="best", responses=RATE), 4)[1]
    part, said = answered(found)
    assert 9 <= int(part.winner.levels["threads"]) <= 16 and "faster" in cases_of(said)
    assert part.winner.fresh is not None and part.winner.fresh.value == pytest.approx(6.0, rel=0.04)


@pytest.mark.parametrize(("factors", "more", "message"), [
    (THREADS, {"shape": ["threads=64"]}, "shape: no configuration has threads=64"),
    ({"threads": [2]}, {}, "factors: no factor of several levels"),
    (THREADS, {"shape": ["threads=many"]}, "shape"), (THREADS, {"shape": ["ranks=4"]}, '"ranks" is not declared'),
    ({"o3": ["-O2", "-O3"]}, {"shape": ["o3=2"]}, "factors.o3.levels: level '-O2', expected whole numbers"),
    ({"a": "1:200", "b": "1:200"}, {}, f"40000 configurations, expected 2 to {MOST_CONFIGURATIONS:,}"),
    (THREADS, {"shape": ["threads>=9"], "baseline": {"threads": 2}}, "baseline: no configuration has threads = 2"),
])  # fmt: skip
def test_what_cannot_be_searched_is_refused_before_any_run(
    factors: dict[str, Any], more: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(StudyError) as error:
        asked(tmp_path, factors, seconds, **more)
    assert message in str(error.value)
