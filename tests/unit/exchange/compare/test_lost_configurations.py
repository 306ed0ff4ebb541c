"""Configurations that failed or are missing in the other: beside them nothing is the same, whoever measured."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, fork
from scalograph.exchange.compare.benchmark_source import benchmark_source
from scalograph.exchange.compare.compare_claim import compare_claim, compare_tables
from scalograph.exchange.compare.measured_source import FailedConfiguration, MeasuredSource, select_levels
from scalograph.exchange.compare.paired_versions import paired_versions
from scalograph.exchange.compare.result_answer import compare_sources
from scalograph.exchange.readers.registry import ImportedFiles
from scalograph.report.compared_page import compared_plots
from tests.kit import ROOT
from tests.kit.findings import cases_of
from tests.kit.refusals import refuses
from tests.unit.exchange.compare.made import source

CURVE = {1: 8.0, 2: 4.2, 4: 2.3, 8: 1.4}
OLD = source("old", CURVE)
NOISY = (1.0, 1.6, 0.7, 1.4, 0.8, 1.3)
LOST = "in new, threads=2 failed in 6 of 6 runs, threads=8 is missing"


def new(by: float = 1.0, failed: tuple[int, ...] = (), missing: tuple[int, ...] = ()) -> MeasuredSource:
    times = {n: t * by for n, t in CURVE.items() if n not in (*failed, *missing)}
    lost = tuple(FailedConfiguration({"threads": n}, (6, 6)) for n in failed)
    made = source("new", times) if times else replace(OLD.relabel("new"), configurations=())
    return replace(made, failed=lost)


@pytest.mark.parametrize(
    ("by", "answer", "cases"),
    [(1.0, "inconclusive", ["lost"]), (0.7, "inconclusive", ["lost"]), (1.3, "slower", ["alike", "missing"])],
)
def test_beside_it_nothing_is_the_same_or_faster(by: float, answer: str, cases: list[str]) -> None:
    found = compare_sources(OLD, [new(by, failed=(2,), missing=(8,))])
    lost = [(one.name, one.why, one.n_failed, one.n_runs) for one in found.results[0].lost]
    assert (found.answer, lost) == (answer, [("threads=2", "failed", 6, 6), ("threads=8", "missing", 0, 0)])
    told = cases_of(compare_claim(found))
    assert [*told][: len(cases)] == cases
    assert told[cases[-1]]["reason" if answer == "inconclusive" else "lost"] == LOST
    assert [table.id for table in compare_tables(found)][:2] == ["ratios", "lost"]


def test_what_is_allowed_to_be_missing_or_failed_before_decides_nothing() -> None:
    others = [new(failed=(2,), missing=(8,))]
    found = compare_sources(OLD, others, allow_missing=["threads=2", "threads=8"])
    assert found.answer == "equivalent" and all(one.allowed for one in found.results[0].lost)
    assert compare_claim(found).cases[1].values["allowed"] == "threads=2 and threads=8"
    found = compare_sources(OLD, others, allow_missing=["threads=8"])
    assert found.answer == "inconclusive" and "threads=8" not in found.results[0].why
    with pytest.raises(StudyError, match=r'old has no "threads=3", expected one of threads=1, .* did you mean'):
        compare_sources(OLD, [new()], allow_missing=["threads=3"])
    reference = replace(source("old", {1: 8.0, 4: 2.3}), failed=(FailedConfiguration({"threads": 2}, (6, 6)),))
    found = compare_sources(reference, [new(failed=(2,), missing=(8,))])
    assert found.answer == "equivalent" and found.results[0].lost == []
    assert compare_sources(replace(OLD, trust=None), [new(missing=(8,))]).results[0].lost == []


def test_what_is_new_is_named_and_decides_nothing() -> None:
    before = select_levels([OLD], ["threads=1", "threads=2", "threads=4"])[0]
    found = compare_sources(before, [new()])
    assert (found.answer, found.results[0].added, found.results[0].lost) == ("equivalent", ["threads=8"], [])
    assert "New in new, without a baseline: threads=8." in compare_claim(found).sentences


def test_of_a_result_in_which_all_failed_the_reason_is_told() -> None:
    found = compare_sources(OLD, [new(failed=(1, 2, 4, 8))])
    assert found.answer == "inconclusive" and found.results[0].configurations == []
    assert "threads=1 failed in 6 of 6 runs" in cases_of(compare_claim(found))["lost"]["reason"]
    assert compare_claim(found).matrix is None and [table.id for table in compare_tables(found)] == ["lost"]
    assert compared_plots(found.results[0]) == []
    refuses(StudyError, "no configuration that both have", compare_sources, OLD, [source("new", {3: 1.0})])


@pytest.mark.parametrize(("asked", "answer"), [((1, 4, 8), "equivalent"), ((2,), "inconclusive")])
def test_levels_that_were_not_asked_for_may_fail(asked: tuple[int, ...], answer: str) -> None:
    reference, other = select_levels([OLD, new(failed=(2,))], [f"threads={n}" for n in asked])
    assert compare_sources(reference, [other]).answer == answer


@pytest.mark.parametrize(
    ("margin", "answer"), [(3.0, "equivalent"), (0.25, "inconclusive"), (0.005, "inconclusive"), (None, "inconclusive")]
)
def test_noise_never_widens_the_margin(margin: float | None, answer: str) -> None:
    sides = (source(name, {1: 1.0, 2: 1.0}, NOISY) for name in ("old", "new"))
    found = compare_sources(next(sides), [next(sides)], margin)
    assert found.answer == answer and found.results[0].margin == (margin or 0.02)
    case = compare_claim(found).cases[0]
    assert case.case == ("open" if answer == "inconclusive" else answer) and case.values["margin"] == (margin or 0.02)


def test_the_sentence_counts_what_the_decision_counts() -> None:
    """One of three is noisy, and lies within the margin like the others: it was looked at, so it is counted."""

    def made(label: str) -> MeasuredSource:
        (noisy,) = source(label, {8: 1.4}, NOISY).configurations
        steady = source(label, {1: 8.0, 2: 4.2})
        return replace(steady, configurations=(*steady.configurations, noisy))

    found = compare_sources(made("old"), [made("new")], 3.0)
    (one,) = found.results
    assert (one.answer, one.n_inconclusive) == ("equivalent", 0) and one.reach is not None and 0.25 < one.reach <= 3.0
    assert compare_claim(found).cases[0].values["n"] is None  # all of them
    unasked = compare_sources(made("old"), [made("new")])
    assert unasked.answer == "inconclusive" and unasked.results[0].n_inconclusive == 1
    assert compare_claim(unasked).cases[0].values["left"] == ["8 threads"]


@pytest.mark.parametrize("why", ["failed", "missing"])
def test_versions_that_cannot_be_paired_somewhere_are_not_the_same(why: str) -> None:
    sides = [source("s", {1: 8.0, 2: 4.2}, levels={"version": name}) for name in ("old", "new")]
    first, last = sides[0].configurations, sides[1].configurations[:1]
    failed = (FailedConfiguration({"threads": 2, "version": "new"}, (6, 6)),) if why == "failed" else ()
    both = replace(sides[0], configurations=(*first, *last), failed=failed)
    found = paired_versions(both, "version", {"old": "old", "new": "new"})
    assert found.answer == "inconclusive" and [one.why for one in found.results[0].lost] == [why]
    assert "threads=2 version=new" in cases_of(compare_claim(found))["lost"]["reason"]


TWICE = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.compare.benchmark_source import benchmark_source
from scalograph.exchange.readers.registry import ImportedFiles
every = [Benchmark(f"b{min(i, 39_998)}", "run", {"n": "1"}, "s", (fork([1.0]),)) for i in range(40_000)]
try:
    benchmark_source(ImportedFiles("an instrument", every), "A")
except StudyError as error:
    print(error)
"""


def timed(name: str, **params: str) -> Benchmark:
    return Benchmark(name, "time", params, "s", (fork([1.0]), fork([1.1])))


def test_params_take_no_place_of_the_name_and_twice_the_same_is_found_among_many() -> None:
    source = benchmark_source(
        ImportedFiles("an instrument", [timed("Sum", benchmark="x"), timed("Max", benchmark="x")]), "A"
    )
    assert source.levels_of("benchmark") == ["x"] and source.levels_of("benchmark name") == ["Sum", "Max"]
    both = {"benchmark": "x", "benchmark name": "y"}
    assert (
        len(
            benchmark_source(
                ImportedFiles("an instrument", [timed("Sum", **both), timed("Max", **both)]), "A"
            ).configurations
        )
        == 2
    )
    every = [timed("Sum", **{f"p{i}": "1"}) for i in range(MAX_PARAMS + 1)]
    with pytest.raises(StudyError, match=f"A: {MAX_PARAMS + 1} params, expected at most {MAX_PARAMS}"):
        benchmark_source(ImportedFiles("an instrument", every), "A")
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", TWICE], env=environ, capture_output=True, text=True, check=True)
    assert "several benchmarks are b39998 n=1, expected one of each" in done.stdout


@pytest.mark.parametrize(("n_failed", "answer"), [(0, "equivalent"), (2, "equivalent"), (4, "inconclusive")])
def test_a_benchmark_that_mostly_failed_is_no_measurement(n_failed: int, answer: str) -> None:
    def six(name: str, n_failed: int = 0) -> Benchmark:
        forks = tuple(fork([1 + i % 3 / 1000]) for i in range(6 - n_failed))
        return Benchmark(name, "run", {}, "s", forks, failed=(n_failed, 6))

    old = benchmark_source(ImportedFiles("hyperfine", [six("x"), six("y")]), "old")
    new = benchmark_source(ImportedFiles("hyperfine", [six("x", n_failed), six("y")]), "new")
    (found,) = compare_sources(old, [new]).results
    assert found.answer == answer and [lost.name for lost in found.lost] == ["x"] * (n_failed == 4)
    assert ("x (2 of 6 runs)" in "".join(found.doubts)) == (n_failed == 2)
