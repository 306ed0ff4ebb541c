"""What instruments wrote: read to seconds or rates as they print them themselves, and mistakes by their place."""

import json
import re
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, join_files
from scalograph.exchange.benchmark_values import scores
from scalograph.exchange.readers import registry
from scalograph.exchange.readers.foreign_file import MEAN_ONLY
from scalograph.exchange.readers.plain_json import JsonLayout
from tests.kit import RECORDED
from tests.kit.refusals import values
from tests.unit.exchange.instruments import FILES, SMALL, TABLE, given, place_of, read, result, text_of, timed, written

REFUSALS = Path(__file__).parent / "refusals.toml"

_MEAN_ONLY = "the mean of several runs: no interval; give --print-all-runs"


def recorded(name: str) -> list[Benchmark]:
    return read(name, FILES[name])


def test_shots_of_jmh_and_criterion_are_times_of_an_iteration() -> None:
    sequential, pool = recorded("jmh")
    assert [benchmark.params["version"] for benchmark in (sequential, pool)] == ["sequential", "pool"]
    assert (sequential.unit, sequential.mode, len(sequential.forks)) == ("s", "ss", 5)
    raw = json.loads(text_of("jmh"))[0]["primaryMetric"]["rawData"]
    assert [list(fork.values) for fork in sequential.forks] == [pytest.approx([x * 1e-6 for x in f]) for f in raw]
    large, small = recorded("criterion")
    assert (small.name, dict(small.params), dict(large.params)) == ("sum/iter", {"value": "64"}, {"value": "4096"})
    assert small.forks[0].values[0] == pytest.approx(567340.0 / 57459.0 * 1e-9)
    assert read("criterion", FILES["criterion"] / SMALL) == [small]


@pytest.mark.parametrize(("unit", "mode", "kind", "seconds"), [
    ("ns/op", "ss", "s", 1e-9), ("us/op", "avgt", "s", 1e-6), ("s/op", "ss", "s", 1.0), ("min/op", "ss", "s", 60.0),
    ("ops/s", "thrpt", "1/s", 1.0), ("ops/ms", "thrpt", "1/s", 1e3), ("ops/ns", "thrpt", "1/s", 1e9),
])  # fmt: skip
def test_every_unit_of_jmh_has_its_factor(tmp_path: Path, unit: str, mode: str, kind: str, seconds: float) -> None:
    (one,) = read("jmh", written(tmp_path, result([[2.0]], unit, mode)))
    assert one.unit == kind and scores(one) == pytest.approx([2 * seconds])


def test_each_run_of_hyperfine_and_process_of_pyperf_is_a_fork() -> None:
    first, second = recorded("hyperfine")
    document = json.loads(text_of("hyperfine"))["results"]
    assert (first.name, first.unit, dict(first.params), len(first.forks)) == ("sleep 0.01", "s", {"n": "1"}, 6)
    assert [median(scores(one)) for one in (first, second)] == pytest.approx([one["median"] for one in document])
    (one,) = recorded("pyperf")
    runs = json.loads(text_of("pyperf"))["benchmarks"][0]["runs"]
    assert (one.name, len(runs), len(one.forks)) == ("sorted", 4, 3)
    assert [list(fork.values) for fork in one.forks] == [run["values"] for run in runs if "values" in run]


def test_repetitions_of_google_benchmark_and_counts_of_go_are_shots() -> None:
    every = recorded("google-benchmark")
    named = [(one.name, dict(one.params), one.threads) for one in every[:2]]
    assert named == [("BM_Sum", {"n": "64", "threads": str(n)}, n) for n in (1, 2)]
    means = [b for b in json.loads(text_of("google-benchmark"))["benchmarks"] if b.get("aggregate_name") == "mean"]
    assert [mean(one.forks[0].values) for one in every] == pytest.approx([b["real_time"] * 1e-9 for b in means])
    assert all(len(one.forks) == 1 for one in every)
    every = recorded("gobench")
    procs = [{"n": "64", "gomaxprocs": "1"}, {"n": "64", "gomaxprocs": "2"}]
    assert (every[0].name, [dict(one.params) for one in every[:2]]) == ("example.org/sum.Sum", procs)
    assert list(every[0].forks[0].values) == pytest.approx([46.14e-9, 59.99e-9, 117.6e-9])


@pytest.mark.parametrize(("name", "param", "printed"), [
    ("sysbench", "threads", r"events per second: +([0-9.]+)"),
    ("pgbench", "clients", r"tps = ([0-9.]+)"),
    ("wrk", "connections", r"Requests/sec: +([0-9.]+)"),
    ("redis-benchmark", "clients", r"throughput summary: ([0-9.]+)"),
    ("stress-ng", "instances", r"[0-9] +([0-9.]+) +[0-9.]+\n(?=.*\n)"),
])  # fmt: skip
def test_each_output_of_a_load_tool_is_a_fork(name: str, param: str, printed: str) -> None:
    every = recorded(name)
    rates = [float(text) for text in re.findall(printed, text_of(name))]
    assert [rate for one in every for rate in scores(one)] == pytest.approx(rates, rel=0.005)
    assert all(one.unit == "1/s" and one.params[param].isdecimal() for one in every)


LLAMA = json.loads(text_of("llama-bench"))
LLAMA_MD = """ggml_init: done
| model                   |       size |     params | backend    | threads |          test |                  t/s |
| ----------------------- | ---------: | ---------: | ---------- | ------: | ------------: | -------------------: |
| llama 7B Q4_0           |   3.56 GiB |     6.74 B | CPU        |       1 |          pp64 |          6.21 ± 0.08 |
| llama 7B Q4_0           |   3.56 GiB |     6.74 B | CPU        |       2 |  tg16 @ d512  |          7.80 ± 0.07 |

build: 8cf427ff (5163)
"""


def llama_csv() -> str:
    columns = [name for name in LLAMA[0] if not name.startswith("samples")]
    rows = [",".join(f'"{row[name]}"' for name in columns) for row in LLAMA]
    return "\n".join([",".join(columns), *rows, ""])


def test_outputs_of_llama_bench_hold_the_same_rates(tmp_path: Path) -> None:
    whole = recorded("llama-bench")
    assert [list(one.forks[0].values) for one in whole] == [row["samples_ts"] for row in LLAMA]
    assert (whole[1].name, dict(whole[1].params)) == ("llama 7B Q4_0 tg", {"n_threads": "1", "n_gen": "16"})
    lines = read("llama-bench", given(tmp_path, "".join(f"{json.dumps(row)}\n" for row in LLAMA), "lines.json"))
    assert lines == whole
    means = read("llama-bench", given(tmp_path, llama_csv()))
    assert [scores(one) for one in means] == [[pytest.approx(row["avg_ts"])] for row in LLAMA]
    assert [(one.name, one.params) for one in means] == [(one.name, one.params) for one in whole]
    drawn = read("llama-bench", given(tmp_path, LLAMA_MD))
    assert [scores(one) for one in drawn] == [[6.21], [7.8]] and drawn[0].params == whole[0].params
    assert dict(drawn[1].params) == {"n_threads": "2", "n_gen": "16", "n_depth": "512"}
    assert all(one.warnings == (MEAN_ONLY,) for one in [*means, *drawn])


def test_values_of_pytest_benchmark_and_vitest_are_as_printed(tmp_path: Path) -> None:
    small, _, sort = recorded("pytest-benchmark")
    rows = json.loads(text_of("pytest-benchmark"))["benchmarks"]
    assert (small.name, dict(small.params)) == ("test_sum.py::test_sum", {"n": "64"})
    assert median(small.forks[0].values) == pytest.approx(rows[0]["stats"]["median"]) and not small.warnings
    assert scores(sort) == [rows[2]["stats"]["mean"]] and sort.warnings == (MEAN_ONLY,)
    assert (small.facts["host"], small.facts["CPUs"], small.facts["kind"]) == ("a-host", "2", "range")
    assert small.facts["commit"].startswith("0123") and "GC disabled" in small.facts
    small, large, thrown = recorded("vitest")
    printed = [task["mean"] for task in json.loads(text_of("vitest"))["files"][0]["groups"][0]["benchmarks"][:2]]
    assert [scores(one)[0] for one in (small, large)] == pytest.approx([mean * 1e-3 for mean in printed])
    assert (small.name, thrown.forks, small.warnings) == ("sum.bench.ts > sum > reduce n=64", (), (MEAN_ONLY,))
    text = text_of("vitest").replace('"samples": []', '"samples": [0.5, 0.7]', 1)
    (sampled, *_) = read("vitest", given(tmp_path, text))
    assert list(sampled.forks[0].values) == pytest.approx([5e-4, 7e-4]) and not sampled.warnings


def test_a_launch_of_benchmarkdotnet_is_a_fork(tmp_path: Path) -> None:
    small, large, lost = recorded("benchmarkdotnet")
    document = json.loads(text_of("benchmarkdotnet"))
    assert (small.name, dict(large.params)) == ("Example.Sums.SumBench.Loop", {"N": "1000", "Kind": "a&b"})
    assert [len(fork.values) for fork in small.forks] == [3, 3] and lost.forks == ()
    every = [value for fork in small.forks for value in fork.values]
    assert mean(every) == pytest.approx(document["Benchmarks"][0]["Statistics"]["Mean"] * 1e-9)
    assert small.facts["CPUs"] == "4" and small.facts["job"] == "Runtime=.NET 8.0, LaunchCount=2"
    for row in document["Benchmarks"]:
        row.pop("Measurements")
    (brief, *_) = read("benchmarkdotnet", given(tmp_path, json.dumps(document)))
    assert list(brief.forks[0].values) == pytest.approx(every) and len(brief.forks) == 1
    document["Benchmarks"][0]["Statistics"].pop("OriginalValues")
    document["HostEnvironmentInfo"] |= {"Configuration": "DEBUG", "ProcessorName": {"Value": "A CPU"}}
    (summary, *_) = read("benchmarkdotnet", given(tmp_path, json.dumps(document)))
    assert scores(summary) == pytest.approx([mean(every)]) and summary.facts["CPU"] == "A CPU"
    assert summary.warnings == ("a debug build", MEAN_ONLY)
    old = [{"IterationMode": mode, "LaunchIndex": n, "Operations": 4, "Nanoseconds": 8 * n + 80 * (mode != "Result")}
           for n in (1, 2) for mode in ("MainTarget", "Result")]  # fmt: skip
    report = {"Benchmarks": [{"Type": "A", "Method": "B", "Statistics": {"Mean": 3}, "Measurements": old}]}
    assert scores(read("benchmarkdotnet", given(tmp_path, json.dumps(report)))[0]) == pytest.approx([2e-9, 4e-9])


def test_an_invocation_of_rebench_is_a_fork_without_its_warm_up(tmp_path: Path) -> None:
    every = {(one.params["cores"], one.params["inputSize"]): one for one in recorded("rebench")}
    one = every["1", "256"]
    # What ReBench printed: six samples, and a mean of 4 ms.
    assert [len(fork.values) for fork in one.forks] == [2, 2, 2] and round(mean(scores(one)) * 1e3) == 4
    assert (one.name, one.params["executor"], one.facts["suite"], one.facts["host"]) == (
        "Sum",
        "Shell",
        "Small",
        "a-host",
    )
    run = "1\t{}\t{}\t{}\t{}\tSum\tShell\tSmall\t\t2\t64\t"
    rows = [run.format(1, 2.5, "ms", "total"), run.format(2, 3.5, "ms", "total"), run.format(1, 900, "KB", "MaxRSS")]
    for end in ("", "\tyuria"):
        old = given(tmp_path, "\n".join(["#!rebench r.conf", *(f"{row}{end}" for row in rows), ""]))
        reading = registry.read("rebench", old)
        (one,) = reading.benchmarks
        assert scores(one) == [3e-3] and one.params["cores"] == "2" and one.facts.get("machine", "") == end.strip()
        assert [part.reason for part in reading.left_out] == ['MaxRSS in unit "KB" is neither a time nor a rate']
    oldest = "[2016-01-02T10:00:00]\t2.5\tms\ttotal\tSum\tShell\tSmall\t\t0\t2\t64\t\n"
    assert scores(read("rebench", given(tmp_path, oldest * 2))[0]) == [2.5e-3]


def test_variables_of_reframe_are_benchmarks(tmp_path: Path) -> None:
    reading = registry.read("reframe", FILES["reframe"])
    values = [(one.name, dict(one.params), scores(one)) for one in reading.benchmarks]
    cases = json.loads(text_of("reframe"))["runs"][0]["testcases"]
    took = [case["perfvalues"]["generic:default:took"][0] for case in cases]
    assert values[0] == ("Sum:took", {"n": "64"}, [took[0]]) and values[2] == ("Sum:speed", {"n": "64"}, [480.0])
    assert values[-1][0] == "Broken:took" and reading.benchmarks[-1].failed == (1, 1)
    new = {"name": "A", "result": "fail", "perfvalues": {"s:p:t": [2, 1, 0, 0.1, "s", "fail"]}}
    ends = {"success": [{"name": "t", "value": 2.5, "unit": "s"}], "failure": None}
    old = [
        {"name": "A", "check_params": {"n": 1}, "result": result, "fail_reason": "no disk", "perfvars": variables}
        for result, variables in ends.items()
    ]
    skipped = {"name": "A", "result": "skip"}
    report = {"runs": [{"testcases": [new, *old, skipped]}]}
    reading = registry.read("reframe", given(tmp_path, json.dumps(report)))
    missed, one = reading.benchmarks
    assert (scores(missed), missed.warnings, missed.params) == ([2.0], ("misses its reference",), {})
    assert (one.name, scores(one), one.failed, one.warnings) == ("A:t", [2.5], (1, 2), ("no disk",))
    assert [part.reason for part in reading.left_out] == ["A without a value"]


def test_columns_with_a_unit_are_the_results_of_jube(tmp_path: Path) -> None:
    time, *_ = every = recorded("jube")
    assert (time.name, scores(time), dict(time.params)) == (
        "time", [81.52, 80.97], {"nodes": "1", "tasks": "4", "compiler": "gcc"},
    )  # fmt: skip
    assert [(one.unit, one.failed[0]) for one in every[-2:]] == [("s", 1), ("1/s", 1)]
    wide = text_of("jube").replace("gcc", "gcc" * 900)
    assert [scores(one) for one in read("jube", given(tmp_path, wide))] == [scores(one) for one in every]
    table = "nodes,time[ms],time_avg[ms],time_std[ms],time_cnt,mem_max[MB],lag_max[us]\n1,9,20.5,3,2,7,4\n"
    avg, lag = read("jube", given(tmp_path, table))
    assert (avg.name, scores(avg), avg.warnings, dict(lag.params)) == (
        "time_avg", [pytest.approx(0.0205)], (MEAN_ONLY,), {"nodes": "1", "mem_max[MB]": "7"},
    )  # fmt: skip


def test_processes_and_threads_of_will_it_scale_are_benchmarks(tmp_path: Path) -> None:
    every = {(one.params["tasks"], one.params["mode"]): one for one in recorded("will-it-scale")}
    assert scores(every["4", "processes"]) == [1987350.0] and scores(every["2", "threads"]) == [921756.0]
    assert every["4", "threads"].failed == (1, 1) and len(every) == 8
    (one, *_) = read("will-it-scale", given(tmp_path, text_of("will-it-scale") * 2, "brk1.csv"))
    assert (one.name, len(one.forks)) == ("brk1", 2)


def test_right_answers_count(tmp_path: Path) -> None:
    (oha,), (k6,) = recorded("oha"), recorded("k6")
    (listed,) = read("k6", RECORDED / "drivers/k6-metrics-in-a-list.json")
    assert scores(oha) == pytest.approx([476 / 3.002729963])
    assert scores(k6) == pytest.approx([51 / 3.001184912]) and scores(listed) == pytest.approx([52 / 3.001589679])
    summary = {"metrics": {"http_reqs": {"count": 100, "rate": 50}, "http_req_failed": {"value": 0.1}}}
    assert scores(read("k6", given(tmp_path, json.dumps(summary)))[0]) == pytest.approx([45.0])
    text = text_of("wrk").replace("Requests/sec", "  Non-2xx or 3xx responses: 33034\nRequests/sec")
    assert scores(read("wrk", given(tmp_path, text))[0]) == pytest.approx([21701.57 / 2])


RIGHT = {
    "fio-3.33.json": {"seq read": (5739.130435 * 23 + 6105.263158 * 19) / 23, "seq write": 11478.260870},
    "fio-3.33.txt": {"seq read": 26900},
    "vegeta-12.json": {"vegeta": 89.87824217002786},
    "vegeta-12.txt": {"vegeta": 180 / 2.003},
    "hey-0.1.txt": {"hey": 524 / 1.0097},
    "hey-0.1.csv": {"hey": 18 / 0.1106},
    "redis-benchmark-7.csv": {"redis-benchmark SET": 5050.50, "redis-benchmark GET": 27027.03},
    "stress-ng-0.15.yaml": {"stress-ng cpu": 204.350289, "stress-ng vm": 423.238869},
    "autocannon-9.json": {"autocannon http://127.0.0.1:8080/some": 157 / 1.08},
    "ghz-0.120.json": {"ghz shop.Cart.Add": 186 / 0.18157},
    "ghz-0.120.txt": {"ghz": 186 / 0.18157},
    "h2load-1.52.txt": {"h2load": 394.61 * 360 / 400},
    "memtier-benchmark-2.1.json": {"memtier_benchmark": 39531.25},
    "memtier-benchmark-1.4.txt": {"memtier_benchmark": 39062.50},
    "ycsb-0.17.txt": {"ycsb": 3956.478733926805 * 3880 / 4000},
    "oha-1.txt": {"oha": 900 / 2.0020},
    "sysbench-0.txt": {"sysbench cpu": 10000 / 8.1234, "sysbench sql": 10000 / 20.06},
    "wrk2.txt": {"wrk http://127.0.0.1:80/index.html": 2000.28 * (60018 - 612) / 60018},
    "pgbench-9-17.txt": {"pgbench TPC-B (sort of)": 600.2, "pgbench multiple scripts": 1988.204},
}


@pytest.mark.parametrize("file", RIGHT)
def test_rates_are_those_that_the_tool_tells_of_right_answers(file: str) -> None:
    every = read(None, RECORDED / "instruments" / file)
    rates = {one.name: mean(scores(one)) for one in every if one.forks}
    assert rates == pytest.approx(RIGHT[file], rel=1e-3) and all(one.unit == "1/s" for one in every)


@pytest.mark.parametrize(("file", "words"), [
    ("vegeta-12.json", "180 right answers; 20 with status 500 (500 Internal Server Error)"),
    ("vegeta-12.txt", "180 right answers; 20 with status 500 (500 Internal Server Error)"),
    ("hey-0.1.txt", "524 right answers; 58 with status 500"),
    ("hey-0.1.csv", "18 right answers; 2 with status 500"),
    ("autocannon-9.json", "157 right answers; 18 with a wrong status"),
    ("ghz-0.120.json", "186 right answers; 8 with status Internal, 6 with status Unavailable"),
    ("ghz-0.120.txt", "186 right answers; 8 with status Internal, 6 with status Unavailable"),
    ("h2load-1.52.txt", "360 right answers; 40 with a wrong status"),
    ("memtier-benchmark-2.1.json", "3 connection errors beside 39,062/s"),
    ("memtier-benchmark-1.4.txt", "every get missed: the keys were not there"),
    ("ycsb-0.17.txt", "3,880 right answers; 20 READ returned NOT_FOUND, 100 UPDATE returned ERROR"),
    ("oha-1.txt", "900 right answers; 91 with status 500, 5 connection closed before message completed"),
    ("sysbench-0.txt", "3 errors ignored beside 10,000 events"),
    ("wrk2.txt", "3 read errors, 12 late answers, 600 wrong answers beside 60,018 answers"),
    ("pgbench-9-17.txt", "130 transactions failed, 12 transactions late beside 19,870"),
])  # fmt: skip
def test_errors_beside_right_answers_are_told(file: str, words: str) -> None:
    warnings = [warning for one in read(None, RECORDED / "instruments" / file) if one.forks for warning in one.warnings]
    assert words in warnings


REDIS_5 = "====== SET ======\n  9 requests completed in 1.4 seconds\n  50 parallel clients\n  3 bytes payload\n"
FIO_2 = """rw: (g=0): rw=rw, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=32
rw: (groupid=0, jobs=1): err= 0: pid=2311: Tue Jan  5 10:00:00 2016
  read : io=1024.0MB, bw=51200KB/s, iops=12800, runt= 20480msec
  write: io=1020.0MB, bw=51000KB/s, iops=12750, runt= 20480msec
"""
VEGETA_7 = """Requests      [total, rate]            1200, 120.00
Duration      [total, attack, wait]    1m10.094965987s, 1m9.949883921s, 145.082066ms
Status Codes  [code:count]             0:535  200:665
"""
STRESS_NG = """stress-ng: info:  [7] dispatching hogs: 4 cpu, 2 vm, 1 rdrand
stress-ng: info:  [7] cpu                9412     10.01     39.90      0.01       940.26       235.83
stress-ng: info:  [7] skipped: 1: rdrand (1)
"""
H2LOAD = """starting benchmark...
TLS Protocol: TLSv1.3
finished in 1.17s, 85391.05 req/s, 63.14MB/s
requests: 100 total, 100 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout
"""
OHA_0 = {"summary": {"total": 2.0, "sizePerRequest": None}, "statusCodeDistribution": {"200": 100}}
AUTOCANNON_7 = {"connections": 1, "duration": 2, "2xx": 1801, "non2xx": 0, "errors": 12, "timeouts": 10}
CUT_OFF = [f"read tcp 10.0.0.1:{port}->10.0.0.2:80: reset" for port in range(40_000, 44_000)]
GHZ = {"total": 1e9, "rps": 9.0, "statusCodeDistribution": {"OK": 9}, "errorDistribution": dict.fromkeys(CUT_OFF, 1)}


@pytest.mark.parametrize(("name", "text", "rates", "told"), [
    ("redis-benchmark", REDIS_5 + "\n71428.57 requests per second\n", {"redis-benchmark SET": 71428.57}, []),
    ("redis-benchmark", "SET: 71428.57 requests per second\n", {"redis-benchmark SET": 71428.57}, []),
    ("redis-benchmark", '"SET","71428.57"\n', {"redis-benchmark SET": 71428.57}, []),
    ("fio", FIO_2, {"rw read": 12800, "rw write": 12750}, []),
    ("vegeta", VEGETA_7, {"vegeta": 665 / 70.094965987},
        ["665 right answers; 535 without an answer", "120 requests/s were sent"]),
    ("stress-ng", STRESS_NG, {"stress-ng cpu": 940.26}, []),
    ("h2load", H2LOAD, {"h2load": 85391.05}, []),
    ("oha", json.dumps(OHA_0), {"oha": 50}, []),
    ("autocannon", json.dumps(AUTOCANNON_7), {"autocannon": 900.5},
        ["1,801 right answers; 10 timeouts, 2 other errors"]),
    ("ghz", json.dumps(GHZ), {"ghz": 9}, ["9 right answers; 4,000 read tcp 10.0.0.1->10.0.0.2:80: reset"]),
])  # fmt: skip
def test_other_releases_are_read(
    tmp_path: Path, name: str, text: str, rates: dict[str, float], told: list[str]
) -> None:
    every = read(name, given(tmp_path, text))
    assert {one.name: scores(one)[0] for one in every} == pytest.approx(rates)
    assert [warning for one in every for warning in one.warnings] == told


@pytest.mark.parametrize(("name", "form", "before", "after", "param"), [
    ("sysbench", "sysbench-0.txt", "CPU test: 20000", "CPU test: 40000", "Prime numbers limit"),
    ("pgbench", "pgbench-9-17.txt", "/tmp/b.sql", "/tmp/c.sql", "scripts"),
    ("k6", "../drivers/k6-metrics-by-name.json", '"value": 1, "min": 1, "max": 1', '"max": 8', "VUs"),
    ("fio", "fio-3.33.json", "/data/fio.tmp", "/data/other.tmp", "filename"),
    ("vegeta", "vegeta-12.json", '"rate":100.08439105845609', '"rate":200.1', "rate"),
    ("ycsb", "ycsb-0.17.txt", "workloads/workloada", "workloads/workloadb", "workload"),
    ("memtier-benchmark", "memtier-benchmark-2.1.json", '"key_pattern": "R:R"', '"key_pattern": "S:S"', "key_pattern"),
    ("ghz", "ghz-0.120.json", '"concurrency": 50,', '"concurrency": 60,', "concurrency"),
    ("redis-benchmark", "redis-benchmark-7.txt", "keep alive: 1", "keep alive: 0", "keep alive"),
])  # fmt: skip
def test_other_settings_are_other_benchmarks(
    tmp_path: Path, name: str, form: str, before: str, after: str, param: str
) -> None:
    text = (RECORDED / "instruments" / form).read_text()
    assert before in text
    every = read(name, given(tmp_path, text), given(tmp_path, text.replace(before, after), "other.txt"))
    assert len({one.params[param] for one in every if param in one.params}) == 2


def test_a_part_of_a_load_that_failed_is_told_and_the_rest_counts(tmp_path: Path) -> None:
    processes = json.loads(text_of("fio"))
    processes["jobs"][1] |= {"error": 28}
    processes["jobs"][0] |= {"total_err": 4}
    printed = "fio: pid=0, err=28/file:filesetup.c:174, func=open, error=No space left on device\n\n"
    reads, writes = read("fio", given(tmp_path, printed + json.dumps(processes) + "\nfio: ended\n"))
    assert (scores(reads), len(scores(writes))) == ([5739.130435], 1)
    assert reads.warnings == ("1 processes ended by error: No space left on device, 4 I/O errors beside 5,739/s",)
    ended = "stress-ng: info:  [1] failed: 1: vm (1)\nstress-ng: info:  [1] metrics untrustworthy: 1: cpu (2)\n"
    every = read("stress-ng", given(tmp_path, text_of("stress-ng") + ended))
    assert [(one.forks, one.warnings) for one in every] == [((), ("metrics untrustworthy",)), ((), ("failed",))]
    totals = {
        name: {"Totals": {"Ops/sec": 5.0}} for name in ("BEST RUN RESULTS", "AGGREGATED AVERAGE RESULTS (3 runs)")
    }
    (mean_of_runs,) = read("memtier-benchmark", given(tmp_path, json.dumps(totals)))
    assert (scores(mean_of_runs), mean_of_runs.warnings) == ([5.0], (_MEAN_ONLY,))
    # An open load that was not kept up with is no capacity of the rate that was sent.
    slow = {"requests": 100, "rate": 50.0, "duration": 2e9, "wait": 2e9, "status_codes": {"200": 100}, "errors": []}
    (attack,) = read("vegeta", given(tmp_path, json.dumps(slow)))
    assert (scores(attack), attack.warnings) == (pytest.approx([25.0]), ("50 requests/s were sent",))


def test_a_layout_says_where_any_json_has_its_values(tmp_path: Path) -> None:
    first, second, third = recorded("json")
    assert [(one.name, dict(one.params), dict(one.facts)) for one in (first, second)] == [
        ("sort -n", {"threads": n}, {"CPU": "Example 9"}) for n in ("1", "2")
    ]
    assert [[*fork.values] for fork in first.forks] == [[1.52, 1.5, 1.49], [1.55, 1.53]]
    assert (second.unit, scores(second), scores(third)) == ("s", [0.83], pytest.approx([2.45]))

    def read_by(text: str, **layout: Any) -> list[tuple[str, str, list[float]]]:
        every = registry.read("json", given(tmp_path, text), options=JsonLayout(**layout)).benchmarks
        return [(one.name, one.unit, scores(one)) for one in every]

    lines = (
        '{"of": "a/b", "n": [{"x": 5}, {"x": 7}], "u": "1/s"}\n\n{"of": "a/b", "n": [{"x": 8}], "u": "1/s"}\n{"of": '
    )
    assert read_by(lines, value="/n/*/x", unit="/u", name="/of") == [("a/b", "1/s", [6.0, 8.0])]
    keyed = '{"a/b": {"~": 2}, "c": {"~": 3}, "d": [1]}'
    expected = [("a/b", "s", [pytest.approx(0.002)]), ("c", "s", [pytest.approx(0.003)])]
    assert read_by(keyed, at="/*", value="/~0", unit="ms") == expected
    assert read_by(keyed, value="/a~1b/~0", unit="us") == [("value", "s", [pytest.approx(2e-6)])]
    assert read_by('[\n{"x": 1}\n]', at="/*", value="/x", unit="s") == [("0", "s", [1.0])]
    assert read_by("[[1, 2], [3]]", at="/1", value="/0", unit="s") == [("1", "s", [3.0])]


def test_a_table_has_a_fork_for_each_run_and_what_we_export_is_such_a_table(tmp_path: Path) -> None:
    (one,) = read("csv", given(tmp_path, TABLE))
    assert (one.unit, dict(one.params), scores(one)) == ("s", {"threads": "1"}, pytest.approx([0.02, 0.012]))
    (rows,) = read("csv", given(tmp_path, "benchmark,value,unit\nx,5,1/s\nx,6,ops/s\n"))
    assert (rows.name, rows.unit, scores(rows)) == ("x", "1/s", [5.0, 6.0])
    text = "run,block,warmup,status,verdict,threads,response,iteration,value,unit\n"
    text += "a,0,false,ok,clean,1,wall,0,2,s\nb,0,true,ok,clean,1,wall,0,9,s\nc,0,false,failed,failed,1,,,,\n"
    (one,) = read("csv", given(tmp_path, text))
    assert (one.name, scores(one), dict(one.params)) == ("wall", [2.0], {"threads": "1"})


def test_a_disturbed_run_is_one_of_its_benchmark_and_several_files_are_several_forks(tmp_path: Path) -> None:
    judged = {"a": "clean", "b": "disturbed"}
    rows = [f"{name},{run},{verdict},2,s" for name, verdict in judged.items() for run in (1, 2, 3)]
    every = read("csv", given(tmp_path, "\n".join(["benchmark,run,verdict,value,unit", *rows])))
    assert [(one.name, one.disturbed, len(one.forks)) for one in every] == [("a", (0, 3), 3), ("b", (3, 3), 3)]
    (one,) = read("csv", given(tmp_path, "run,verdict,value,unit\na,disturbed,1,s\nb,clean,2,s\nc,impossible,3,s\n"))
    assert scores(one) == [1.0, 2.0, 3.0] and one.notes == ("includes disturbed runs: 2 of 3",)
    assert [len(one.forks) for one in read("gobench", *[FILES["gobench"]] * 3)] == [3] * 4
    same = Benchmark("x", "run", {}, "s", ())
    assert len(join_files([[same, same], [same, same]])) == 2


def jmh(*args: object, **more: object) -> str:
    return json.dumps([result(*args, **more)])  # type: ignore[arg-type]


def hyperfine(*times: object, **more: object) -> str:
    return json.dumps({"results": [timed("x", times, **more)]})


def pyperf(run: object, version: str = "1.0", **metadata: str) -> str:
    return json.dumps({"version": version, "metadata": metadata, "benchmarks": [{"runs": [run]}]})


def google(**more: object) -> str:
    return json.dumps({"benchmarks": [{"name": "B", "real_time": 1.0, "time_unit": "ns", **more}]})


@pytest.mark.parametrize(("name", "text", "words"), [
    *values(REFUSALS, "mistakes"),
    ("jmh", "[" * 100_000, "given.txt: Invalid JSON"),
    ("jmh", jmh([[1.0, 2.0]]).replace("2.0", "NaN"), r"rawData\[0\]\[1\]: .* finite number"),
    ("jmh", jmh([[1.0, 2.0]]).replace("2.0", "1e400"), r"rawData\[0\]\[1\]: .* finite number"),
    ("jmh", jmh([[1.0, "NaN"]]), r"\[0\].primaryMetric.rawData\[0\]\[1\]: Input should be a valid number"),
    ("jmh", jmh([[1.0, True]]), "should be a valid number"),
    ("jmh", jmh([[1.0, -1.0]]), "greater than or equal to 0"),
    ("jmh", jmh([[]]), "at least 1 item"),
    ("jmh", jmh([]), "no rawData, the shots of at least one fork"),
    ("jmh", jmh([[[[1.0, 0]]]], mode="sample"), "greater than or equal to 1"),
    ("jmh", jmh([[[]]], mode="sample"), "no rawDataHistogram"),
    ("jmh", jmh([[1.0]], mode="other"), r'\[0\]: mode: "other" is none of thrpt'),
    ("jmh", jmh([[1.0]], "ops/s"), r'scoreUnit: "ops/s" in mode ss, expected s/op'),
    ("jmh", jmh([[1.0]], "ms/op", "thrpt"), "expected ops/s or ops/ms"),
    ("jmh", jmh([[1.0]], "furlong/op"), "furlong"),
    ("jmh", jmh([[1.0]], params={"n": 3}), r"params.n: Input should be a valid string"),
    ("jmh", jmh([[1e308, 1.0]], "day/op"), "Sum.run: a value above 1e100"),
    ("hyperfine", hyperfine(), r"results\[0\].times: .* at least 1 item"),
    ("hyperfine", hyperfine(-1), r"times\[0\]: .* greater than or equal to 0"),
    ("hyperfine", hyperfine(1.0, 2.0, exit_codes=[1]), "2 times and 1 exit_codes"),
    ("pyperf", pyperf({}, "2.0"), "version: Input should be '1.0'"),
    ("pyperf", pyperf({}), "benchmark without a value"),
    ("pyperf", pyperf({"values": [1.0]}, unit="byte"), 'in unit "byte" is no time'),
    ("google-benchmark", google(run_type="aggregate"), "no benchmark"),
    ("google-benchmark", google(time_unit="min"), r"benchmarks\[0\].time_unit"),
    ("gobench", f"BenchmarkX 10 {10**400} ns/op\n", "given.txt: X: a value above 1e100"),
    ("k6", f'{{"metrics": {{"http_reqs": {{"count": {10**400}, "rate": 1}}}}}}', "no count and rate"),
    ("llama-bench", LLAMA_MD.replace("t/s |", "x/s |"), "Field required"),
    ("llama-bench", LLAMA_MD.replace("16 @ d512", "").replace("pp64", "all"), 'line 4: test "all" of 6.21'),
    ("will-it-scale", text_of("will-it-scale")[:70].replace(",0,100,0\n", ",x,100,0\n1,2,"), "cells, expected 6"),
])  # fmt: skip
def test_a_mistake_is_told_with_its_place(tmp_path: Path, name: str, text: str, words: str) -> None:
    file, source = place_of(name, tmp_path)
    file.write_text(text)
    with pytest.raises(StudyError, match=words) as refused:
        read(name, source)
    assert len(refused.value.problems) == 1 and len(str(refused.value)) < 800
