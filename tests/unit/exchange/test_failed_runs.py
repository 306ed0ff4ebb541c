"""A run that failed is no measurement, in the file of any instrument that tells of it."""

import json
from pathlib import Path

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_claim import benchmark_claim
from scalograph.exchange.benchmark_values import failed_sentence, printed_score, scores, summarize_benchmark
from scalograph.exchange.compare.benchmark_source import benchmark_source
from scalograph.exchange.compare.result_answer import compare_sources
from scalograph.exchange.csv_points import points_over
from scalograph.exchange.readers.registry import read
from tests.kit import ROOT

HOME = ROOT / "tests" / "recorded"
WRK, SYSBENCH = (HOME / name for name in ("drivers/wrk-4.1.txt", "instruments/sysbench-1.0.txt"))
PGBENCH = (HOME / "instruments/pgbench-15.txt").read_text()
ONE_PGBENCH = PGBENCH[PGBENCH.rindex("pgbench (") :]
ABORTED = ONE_PGBENCH.replace("actually processed: 6791", "actually processed: 57/1000")
GO = "BenchmarkSum-2  \t 10\t 50 ns/op\nBenchmarkMax-2  \t--- FAIL: BenchmarkMax-2\n    max_test.go:7: wrong\nFAIL\n"
TABLE = "run,status,n,response,value,unit\na,ok,1,wall,2,s\nb,ok,1,wall,3,s\nc,failed,1,,,\nd,failed,2,,,\n"


def timed(name: str, seconds: float, n_failed: int = 0, n: int = 6) -> dict[str, object]:
    times = [seconds * (1 + i % 3 / 1000) for i in range(n)]
    return {"command": name, "times": times, "exit_codes": [127] * n_failed + [0] * (n - n_failed)}


def of(folder: Path, *every: dict[str, object], name: str = "h.json") -> list[Benchmark]:
    file = folder / name
    file.write_text(json.dumps({"results": every}))
    return read("hyperfine", file)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("hyperfine", json.dumps({"results": [timed("x", 0.001, 6)]})),
        ("hyperfine", '{"results": [{"command": "x", "times": [1.0], "exit_codes": [null]}]}'),
        ("google-benchmark", '{"benchmarks": [{"name": "B", "error_occurred": true, "error_message": "no disk"}]}'),
        ("gobench", GO.partition("\n")[2]),
        ("k6", '{"metrics": {"http_reqs": {"count": 9, "rate": 3}, "http_req_failed": {"value": 1}}}'),
        ("oha", '{"summary": {"total": 1.0}, "statusCodeDistribution": {"500": 9}}'),
        ("oha", '{"summary": {"total": 1.0}, "statusCodeDistribution": {}}'),
        ("wrk", WRK.read_text().replace("Requests/sec", "  Non-2xx or 3xx responses: 66068\nRequests/sec")),
        ("wrk", WRK.read_text().replace("66068 requests", "0 requests")),
        ("sysbench", SYSBENCH.read_text()[: SYSBENCH.read_text().index("sysbench 1.0", 9)].replace(" 2276\n", " 0\n")),
        ("pgbench", ONE_PGBENCH.replace("tps = 6986.855534", "tps = 0.000000")),
        ("pgbench", ABORTED),
        ("csv", "run,status,value,unit\na,failed,,s\n"),
        ("csv", "run,status,value,unit\na,timeout,1.5,s\n"),
    ],
)
def test_a_benchmark_whose_runs_all_failed_has_no_figure(tmp_path: Path, reader: str, text: str) -> None:
    (tmp_path / "given").write_text(text)
    (one,) = read(reader, tmp_path / "given")
    assert one.forks == () and one.failed[0] == one.failed[1] > 0 and scores(one) == []
    found = summarize_benchmark(one, 0.95)
    assert found.estimate.value is None and found.p50 is None and found.n_failed == one.failed[0]
    claim = benchmark_claim([one])
    assert not claim.answered and claim.sentences == ["Cannot be said: no run succeeded."]
    assert failed_sentence([one]).startswith(f"Failed, and so without a figure: {one.name}")
    source = benchmark_source([one], "an instrument", "new")
    assert source.configurations == () and [lost.runs for lost in source.failed] == [one.failed]
    with pytest.raises(ValueError, match="failed, expected one that succeeded"):
        printed_score(text, reader, None, one.unit)


def test_what_is_left_of_a_benchmark_is_of_runs_that_succeeded(tmp_path: Path) -> None:
    (one,) = of(tmp_path, timed("x", 2.0, 2))
    assert (
        one.failed == (2, 6) and len(one.forks) == 4 and summarize_benchmark(one, 0.95).flags == ["failed: 2 of 6 runs"]
    )
    (tmp_path / "go.txt").write_text(GO + GO)
    assert [(one.name, len(one.forks), one.failed) for one in read("gobench", tmp_path / "go.txt")] == [
        ("Sum", 1, (0, 2)),
        ("Max", 0, (2, 2)),
    ]
    (tmp_path / "table.csv").write_text(TABLE)
    assert [(dict(one.params), scores(one), one.failed) for one in read("csv", tmp_path / "table.csv")] == [
        ({"n": "1"}, [2.0, 3.0], (1, 3)),
        ({"n": "2"}, [], (1, 1)),
    ]
    aborted_by_choice = ABORTED.replace("failed transactions: 0", "failed transactions: 943")
    (tmp_path / "pgbench.txt").write_text(aborted_by_choice)
    assert len(read("pgbench", tmp_path / "pgbench.txt")[0].forks) == 1


def test_failed_runs_of_several_files_are_counted_together(tmp_path: Path) -> None:
    files = [tmp_path / f"{i}.json" for i in range(2)]
    for i, file in enumerate(files):
        file.write_text(json.dumps({"results": [timed("x", 1.0, 6 * i)]}))
    (one,) = read("hyperfine", *files)
    assert one.failed == (6, 12) and len(one.forks) == 6


def test_codes_that_belong_to_no_time_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="6 times and 1 exit_codes"):
        of(tmp_path, {**timed("x", 1.0), "exit_codes": [1]})


def test_a_command_that_failed_is_never_the_fastest(tmp_path: Path) -> None:
    every = of(tmp_path, timed("a", 2.0), timed("broken", 0.001, 6), timed("b", 3.0))
    claim = benchmark_claim(every)
    assert claim.answered and claim.sentences[0].startswith("The fastest is a; the next, b, takes 50.00 % more time")
    assert claim.matrix and [row.label for row in claim.matrix.rows] == ["a", "b"]
    assert benchmark_claim(every[1::-1]).sentences[0].startswith("a: 2")


def test_a_scaling_law_rests_on_what_succeeded(tmp_path: Path) -> None:
    every = of(tmp_path, *({**timed("x", 1.0 / n, 6 * (n == 4)), "parameters": {"n": str(n)}} for n in (1, 2, 4)))
    assert {*points_over(every, "n", {}).sizes} == {1.0, 2.0}
    with pytest.raises(StudyError, match="no run that succeeded"):
        points_over(every[2:], "n", {})


@pytest.mark.parametrize(("n_failed", "answer"), [(0, "same"), (2, "same"), (4, "not measurable")])
def test_a_benchmark_that_mostly_failed_is_no_measurement(tmp_path: Path, n_failed: int, answer: str) -> None:
    old, new = of(tmp_path, timed("x", 1.0), timed("y", 1.0)), of(tmp_path, timed("x", 1.0, n_failed), timed("y", 1.0))
    sources = [benchmark_source(every, "hyperfine", name) for every, name in ((old, "old"), (new, "new"))]
    (found,) = compare_sources(sources[0], [sources[1]]).results
    assert found.answer == answer and [one.name for one in found.lost] == ["x"] * (n_failed == 4)
    assert ("x (2 of 6 runs)" in "".join(found.doubts)) == (n_failed == 2)


def test_failed_runs_of_a_table_ask_for_no_more_than_its_benchmarks(tmp_path: Path) -> None:
    """Each of 4,000 names would get 4,000 configurations."""
    rows = [f"ok,b{i},{i},1,s" for i in range(4000)] + [f"failed,,{i + 9000},," for i in range(4000)]
    (tmp_path / "t.csv").write_text("\n".join(["status,benchmark,n,value,unit", *rows]))
    with pytest.raises(StudyError, match="4000 configurations with failed runs, of 4000 benchmarks"):
        read("csv", tmp_path / "t.csv")
