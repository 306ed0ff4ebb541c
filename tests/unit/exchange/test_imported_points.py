"""Imported benchmarks over a param: the law of what other instruments measured."""

import pytest

from scalograph.cli.main import _code
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Kind, fork
from scalograph.exchange.csv_points import parse_params, points_over
from tests.unit.exchange.test_readers import HOME, RECORDED


def benchmark(unit: Kind = "1/s", values: tuple[float, ...] = (10.0, 12.0), **params: str) -> Benchmark:
    return Benchmark("x", "run", params, unit, tuple(fork([value]) for value in values))


def test_each_fork_is_a_point_and_times_become_rates() -> None:
    rates = [benchmark(threads="1"), benchmark(values=(20.0,), threads="2")]
    assert points_over(rates, "threads", {}) == ([1, 1, 2], [10, 12, 20])
    assert points_over([benchmark("s", (0.5,), n="4")], "n", {}) == ([4], [2])


def test_what_counts_the_same_is_no_difference_and_another_param_is_chosen() -> None:
    both = [benchmark(clients=str(n), threads=str(n), scale="10") for n in (2, 4)]
    assert points_over(both, "clients", {}).sizes == [2, 2, 4, 4]
    sizes = [benchmark(threads=str(n), size=size) for n in (2, 4) for size in ("7", "9")]
    with pytest.raises(
        StudyError, match=r"2 benchmarks over threads: x size=7; x size=9, expected one; choose one with"
    ):
        points_over(sizes, "threads", {})
    assert points_over(sizes, "threads", {"size": "9"}).sizes == [2, 2, 4, 4]
    with pytest.raises(StudyError, match="--where: no benchmark with size=8, expected one of x size=7; x size=9"):
        points_over(sizes, "threads", {"size": "8"})


@pytest.mark.parametrize(
    ("one", "param", "told"),
    [
        (
            benchmark(threads="2"),
            "clients",
            'no benchmark with the param "clients", expected one of these params: threads',
        ),
        (benchmark(gc="g1"), "gc", "gc=g1 of x, expected a number above 0"),
        (benchmark(values=(0.0,), n="1"), "n", "a score of 0 of x"),
        (benchmark("s", (1e-150,), n="1"), "n", "a score of 1e-150 of x, expected above 0, 1e-100 to 1e\\+100"),
        (benchmark(n="1" * 300), "n", "expected a number above 0, up to 1e\\+09"),
    ],
)
def test_what_makes_no_point_is_refused(one: Benchmark, param: str, told: str) -> None:
    with pytest.raises(StudyError, match=told):
        points_over([one], param, {})


def test_the_command_says_what_the_points_carry(capsys: pytest.CaptureFixture[str]) -> None:
    assert _code(["import", "sysbench", str(HOME / RECORDED["sysbench"]), "--over", "threads"]) == 2
    assert "found 2 different sizes, expected at least 3" in capsys.readouterr().err
    with pytest.raises(StudyError, match="PARAM=LEVEL"):
        parse_params(["threads"])
