"""What another instrument measured, as a source: each benchmark is a configuration of its own, or is refused."""

import os
import subprocess
import sys

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, fork
from scalograph.exchange.compare.benchmark_source import benchmark_source
from scalograph.exchange.compare.result_answer import compare_sources
from tests.kit import ROOT

TWICE = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.compare.benchmark_source import benchmark_source
every = [Benchmark(f"b{min(i, 39_998)}", "run", {"n": "1"}, "s", (fork([1.0]),)) for i in range(40_000)]
try:
    benchmark_source(every, "an instrument", "A")
except StudyError as error:
    print(error)
"""


def timed(name: str, **params: str) -> Benchmark:
    return Benchmark(name, "time", params, "s", (fork([1.0]), fork([1.1])))


def test_a_param_called_like_the_name_takes_no_place_of_it() -> None:
    source = benchmark_source([timed("Sum", benchmark="x"), timed("Max", benchmark="x")], "an instrument", "A")
    assert source.levels_of("benchmark") == ["x"] and source.levels_of("benchmark name") == ["Sum", "Max"]
    both = {"benchmark": "x", "benchmark name": "y"}
    assert len(benchmark_source([timed("Sum", **both), timed("Max", **both)], "an instrument", "A").configurations) == 2


def test_a_benchmark_that_is_there_twice_is_found_among_many() -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", TWICE], env=environ, capture_output=True, text=True, check=True)
    assert "several benchmarks are b39998 n=1, expected one of each" in done.stdout


def test_benchmarks_that_share_few_params_make_no_wide_table() -> None:
    every = [timed("Sum", **{f"p{i}": "1"}) for i in range(MAX_PARAMS + 1)]
    with pytest.raises(StudyError, match=f"A: {MAX_PARAMS + 1} params, expected at most {MAX_PARAMS}"):
        benchmark_source(every, "an instrument", "A")


@pytest.mark.parametrize(("n_failed", "answer"), [(0, "equivalent"), (2, "equivalent"), (4, "inconclusive")])
def test_a_benchmark_that_mostly_failed_is_no_measurement(n_failed: int, answer: str) -> None:
    def six(name: str, n_failed: int = 0) -> Benchmark:
        forks = tuple(fork([1 + i % 3 / 1000]) for i in range(6 - n_failed))
        return Benchmark(name, "run", {}, "s", forks, failed=(n_failed, 6))

    old = benchmark_source([six("x"), six("y")], "hyperfine", "old")
    new = benchmark_source([six("x", n_failed), six("y")], "hyperfine", "new")
    (found,) = compare_sources(old, [new]).results
    assert found.answer == answer and [lost.name for lost in found.lost] == ["x"] * (n_failed == 4)
    assert ("x (2 of 6 runs)" in "".join(found.doubts)) == (n_failed == 2)
