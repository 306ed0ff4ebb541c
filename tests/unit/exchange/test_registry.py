"""What every reader promises; and a further one is a file and a row."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.main import _code
from scalograph.errors import Problem, StudyError
from scalograph.exchange.benchmark_claim import benchmark_claim
from scalograph.exchange.benchmark_values import failed_sentence, printed_score, scores, summarize_benchmark
from scalograph.exchange.compare.benchmark_source import benchmark_source
from scalograph.exchange.readers import foreign_file
from scalograph.exchange.readers.registry import ImportedFiles, recognize
from scalograph.exchange.readers.registry import read as registry_read
from scalograph.study.reader_names import READERS, Reader
from tests.kit import RECORDED, ROOT
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.unit.exchange.instruments import (
    FILES,
    OTHER_FORMS,
    SMALL,
    exported,
    file_of,
    given,
    place_of,
    read,
    read_all,
    result,
    text_of,
    timed,
)

every_reader = pytest.mark.parametrize("name", READERS)
# Where the text of an instrument that prints is cut; of the others it is the middle.
CUTS = {
    "wrk": "Requests/sec", "sysbench": "General stat", "pgbench": "tps =", "gobench": " ns/op", "csv": ",unit",
    "hey": "Status code", "redis-benchmark": "throughput", "stress-ng": " cpu  ", "h2load": "requests:",
    "ycsb": "Throughput(", "rebench": "\ttotal", "jube": "16 |", "will-it-scale": ",",
}  # fmt: skip
NOTHING = (b"", b"{}", b"[]", b"x,y\n1,2\n", b"\x00" * 100, b"\x00\xff" * 50, b"value,unit\n", b"[" * 100_000)
# In place of a number of the file.
NUMBERS = ("9" * 400, "1e999", "-1", "NaN", "Infinity", "1e-320", "0", "null", '"x"', "true", "[]", "{}", "")
_NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")
_PLACES = 6


def refusal(name: str, *sources: Path) -> Problem:
    """Return the problem of sources that are refused."""
    with pytest.raises(StudyError) as refused:
        read(name, *sources)
    return problem_of(refused.value, sources[-1])


def problem_of(error: StudyError, source: Path) -> Problem:
    """Return the one problem of an error, which names the source, or a file in it."""
    (problem,) = error.problems
    assert any(file.name in problem.where for file in (source, *source.rglob("*.json"))), problem
    assert problem.found and problem.expected and len(str(problem)) < 800
    return problem


@pytest.mark.parametrize(("name", "file"), [*((name, None) for name in READERS), *OTHER_FORMS])
def test_its_files_are_recognized_by_it_alone(tmp_path: Path, name: str, file: Path | None) -> None:
    file = file or file_of(name, tmp_path)
    accepted = []
    for reader in READERS:
        with suppress(StudyError):
            accepted.append((reader, read(reader, file)))
    assert accepted == [(name, read(name, file))]
    if name == "json":  # of any layout: none is recognized
        assert recognize(file) is None
        return
    recognized = recognize(file)
    assert recognized == ImportedFiles(READERS[name].instrument, accepted[0][1]) and read(None, file) == accepted[0][1]


def test_what_no_reader_takes_has_no_format(tmp_path: Path) -> None:
    for content in NOTHING:
        (tmp_path / "odd").write_bytes(content)
        assert recognize(tmp_path / "odd") is None
    assert recognize(tmp_path) is None and recognize(Path("/dev/null")) is None


@every_reader
def test_what_is_no_such_file_is_refused(tmp_path: Path, name: str) -> None:
    file, source = place_of(name, tmp_path)
    for content in NOTHING:
        file.write_bytes(content)
        refusal(name, source)
    other = file if name == "criterion" else tmp_path
    assert refusal(name, other).found.endswith(("no folder", "Is a directory"))
    assert refusal(name, tmp_path / "none").found.endswith(("no folder", "No such file or directory"))


@every_reader
def test_a_file_that_was_cut_is_refused(tmp_path: Path, name: str) -> None:
    file, source = place_of(name, tmp_path)
    text = text_of(name)
    file.write_text(text[: text.rindex(CUTS[name]) if name in CUTS else len(text) // 2])
    with suppress(StudyError):
        assert read_all(name, source).left_out, "what was cut is named"


@every_reader
def test_a_file_that_was_changed_is_read_or_refused(tmp_path: Path, name: str) -> None:
    file, source = place_of(name, tmp_path)
    n_read = n_refused = 0
    for text in changed(text_of(name)):
        file.write_text(text)
        try:
            every = read(name, source)
        except StudyError as error:
            problem_of(error, source)
            n_refused += 1
        else:
            assert every and all(isfinite(x) and x >= 0 for one in every for fork in one.forks for x in fork.values)
            assert all(len(str(summarize_benchmark(one, 0.95))) < 4000 for one in every[:1]), text
            n_read += 1
    assert n_read > 2 and n_refused > 1


def changed(text: str) -> Iterator[str]:
    """The text cut, twice, with each of its parts twice, and with each of some numbers replaced by something else."""
    step = max(1, len(text) // 20)
    yield from (text[:end] for end in range(0, len(text), step))
    yield from (text * 2, re.sub(r"(?m)^(.*)$", r"\1\n\1", text), re.sub(r'("\w+":\s*[^,{}\[\]]+)', r"\1,\1", text))
    places = list(_NUMBER.finditer(text))
    for place in places[:: max(1, len(places) // _PLACES)]:
        yield from (f"{text[: place.start()]}{other}{text[place.end() :]}" for other in NUMBERS)


@every_reader
def test_what_is_too_large_is_refused_unparsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    source = file_of(name, tmp_path)
    contents = [file.read_bytes() for file in (source, *source.rglob("*.json")) if file.is_file()]
    signs = b",[{" if contents[0].startswith((b"{", b"[")) else b"\n"
    n_parts = sum(content.count(sign) for content in contents for sign in signs)
    limits = {
        "MAX_TOGETHER": (sum(map(len, contents)), "with the files before it larger than"),
        "MAX_PARTS": (n_parts, "more than"),
        "MAX_BYTES": (max(map(len, contents)), "larger than"),
    }
    for limit, (most, words) in limits.items():
        with monkeypatch.context() as patch:
            patch.setattr(foreign_file, limit, most)
            read(name, source)
            if limit != "MAX_BYTES":
                assert words in refusal(name, source, source).found, "several files together"
            patch.setattr(foreign_file, limit, most - 1)
            left_out = read_all(name, source).left_out if (name, limit) == ("criterion", "MAX_BYTES") else ()
            assert words in (left_out[0].reason if left_out else refusal(name, source).found)


@every_reader
def test_many_files_hold_as_many_benchmarks_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    source = file_of(name, tmp_path)
    monkeypatch.setattr("scalograph.exchange.readers.registry.MOST_BENCHMARKS", len(read(name, source)))
    assert "with the files before it more than" in refusal(name, source, source).found


# What holds more than a reader takes, or is nothing: 1 to 4 MB each, of which some took a hundred times that.
LARGE = [
    ("gobench", r'"BenchmarkX 1 1 ns/op\n" * n', "given: more than 10000 lines"),
    ("gobench", r'"ab\x0b" * (5 * n)', "given: no line of a benchmark"),
    ("gobench", r'"BenchmarkX" + "".join(f"/{i:x}=b" for i in range(120)) + " 1 1 ns/op\n"',
        "given: X: 121 params are more than 64"),
    ("csv", r'"value,unit," + ",".join(f"p{i}" for i in range(900)) + "\n" + "1,s,2\n" * (n // 4)',
        "given: 900 columns of params, expected at most 64"),
    ("csv", r'"value,unit,p\n" + "".join(f"1,s,{i}\n" for i in range(n // 4))', "given: line 10002: more than 10000"),
    ("csv", r'"value,unit,response\n1,s,a\n" + "".join(f"1,bytes,{i}\n" for i in range(n // 4))', "1 benchmark"),
    ("hyperfine", """'{"results":[{"command":"x","times":[1.0],"exit_codes":[' + '"x",' * n + '"x"]}]}'""",
        "given: results[0].exit_codes[0]"),
    ("hyperfine", """'{"results":[{"command":"x","times":[1.0],"parameters":{' + keys + '"x":1}}]}'""",
        "given: results[0].parameters"),
    ("oha", """'{"summary":{"total":1},"statusCodeDistribution":{' + keys + '"x":1}}'""", "given: statusCodeDistr"),
    ("k6", """'{"metrics":{' + keys + '"x":1}}'""", "given: metrics"),
    ("k6", """'{"metrics":{"http_reqs":{' + keys + '"count":1,"rate":1}}}'""", "1 benchmark"),
    ("jmh", """'[' + '{"benchmark":1},' * (n // 4) + '{}]'""", "given: List should have at most 10000 items"),
    ("jmh", f"'[' + '{json.dumps(result([[1.0]]))},' * 10_000 + '{json.dumps(result([[1.0]]))}]'",
        "given: List should have at most 10000 items"),
    ("google-benchmark", """'{"benchmarks":[' + '{"name":1},' * (n // 4) + '{}]}'""",
        "given: benchmarks: List should have at most 10000 items"),
    ("pyperf", """'{"version":"1.0","benchmarks":[{"runs":[' + '{"values":["x"]},' * (n // 4) + '{}]}]}'""",
        "given: benchmarks[0].runs[0].values[0]"),
    ("json", """'{"results":[' + '{"seconds":1},' * (n // 4) + '{}]}'""", "given: more than 10000 entries"),
    ("json", r"""'{"results":[{"seconds":"x"}]}\n' * (n // 4)""", "given: line 10001: more than 10000 entries"),
    ("json", """'{"results":[{"seconds":[' + '[],' * n + '1]}]}'""", "given: results[0]"),
    ("json", r"""'{"results":[{"cmd":"x","threads":1,"seconds":1}],"host":{"cpu":' + '[' * 100 + ']' * 100 + '}}'""",
        "given: results[0]: neither"),
    ("sysbench", r'"sysbench 1\n" * n', "given: more than 10000 outputs"),
    ("pgbench", r'"transaction type: x\n" * (n // 4)', "given: more than 10000 outputs"),
    ("wrk", r'"Running 1s test @ x\n" * (n // 4)', "given: more than 10000 outputs"),
    ("rebench", r'"#!x\n" + "".join(f"1\t1\t1\tms\ttotal\tb{i}\te\ts\t\t\t\t\n" for i in range(n // 4))',
        "given: more than 10000 benchmarks"),
    ("rebench", r'"#!x\n" + "\t" * (5 * n) + "\n" + "# benchmark: 0={" + "[" * n + "}\n"', "given"),
    ("rebench", r'"#!x\n" + "1\t1\t1\tms\ttotal\tb\te\ts\t\t\t\t\n" * (n // 4)', "1 benchmark"),
    ("jube", r'"|" * n + "\n|-|\n" + "|1" * n + "|\n"', "given"),
    ("jube", r'",".join(f"a{i}[s]" for i in range(900)) + "\n" + ("1," * 900 + "\n") * (n // 9000)', "given: line 2"),
    ("will-it-scale", r'"tasks,processes,processes_idle,threads,threads_idle,linear\n" + "1,2,3,4,5,6\n" * n',
        "given: more than 10000 rows"),
    ("llama-bench", """'[' + '{"avg_ts":1},' * (n // 4) + '{}]'""", "given: List should have at most 10000 items"),
    ("llama-bench", r'"{}\n" * n', "given: more than 10000 tests"),
    ("vitest", """'{"files":[{"groups":[{"fullName":"","benchmarks":[' + '{"name":""},' * 10_001"""
        """ + '{"name":""}]}]}]}'""",
        "given: more than 10000 benchmarks"),
    ("vitest", """'{"files":[{"groups":[{"fullName":"x","benchmarks":[' + '{"name":1},' * (n // 40) + '{}]}]}]}'""",
        "given: files[0].groups[0].benchmarks[0].name"),
    ("reframe", """'{"runs":[{"testcases":[' + '{"name":1},' * (n // 4) + '{}]}]}'""",
        "given: runs[0].testcases[0].name"),
    ("benchmarkdotnet", """'{"Benchmarks":[{"Type":"a","Method":"b","Measurements":[' + '1,' * n + '1]}]}'""",
        "given: Benchmarks[0].Measurements[0]"),
    ("fio", """'{"jobs":[' + '{"jobname":"x"},' * n + '{}]}'""", "given: jobs: List should have at most 10000 items"),
    ("pytest-benchmark", """'{"benchmarks":[' + '{"fullname":"x"},' * (n // 4) + '{}]}'""",
        "given: benchmarks: List should have at most 10000 items"),
    ("vegeta", """'{"requests":1,"rate":1,"duration":1,"wait":1,"status_codes":{' + keys + '"x":1}}'""",
        "given: status_codes"),
    ("autocannon", """'{"url":[' + '1,' * n + '1],' + keys + '"2xx":{}}'""", "given: url"),
    ("h2load", r'"starting benchmark...\n" * n', "given: more than 10000 outputs"),
    ("memtier-benchmark", """'{' + keys + '"x":1}'""", 'given: no "ALL STATS"'),
    ("memtier-benchmark", """'{' + ''.join(f'"RUN #{i} RESULTS":0,' for i in range(n)) + '"x":1}'""",
        "given: more than 10000 runs"),
    ("hey", r'"Summary:\n  Total:\t1 secs\n" + "  [200] 9 responses\n" * n', "given: line 1: a summary without"),
    ("ycsb", r'"[OVERALL], RunTime(ms), 1\n" + "[READ], Return=OK, 1\n" * n', "given: line 1: an output without its"),
    ("redis-benchmark", r"""'"GET","1.0"\n' * n""", "given: more than 10000 outputs"),
    ("stress-ng", r'"stress-ng: info: [1] dispatching hogs: 1 x\n" + "stress-ng: fail: [1] y: z\n" * n',
        "given: line 1: a run without"),
    ("ghz", """'{"total":1,"rps":1,"statusCodeDistribution":{' + keys + '"x":1}}'""", "given: statusCodeDistr"),
]  # fmt: skip
READ_LARGE = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from scalograph.errors import StudyError
from scalograph.exchange.readers.plain_json import JsonLayout
from scalograph.exchange.readers.registry import read

LAYOUT = JsonLayout(at="/results/*", value="/seconds", unit="s", facts={"CPU": "/host/cpu"})
n = 200_000
keys = "".join(f'"{i}":"x",' for i in range(n))
for name, text in eval(sys.stdin.read()):
    file = Path("given")
    file.write_text(eval(text))
    try:
        print(len(read(name, file, options=LAYOUT if name == "json" else None).benchmarks), "benchmark")
    except StudyError as error:
        (problem,) = error.problems
        print(problem)
# What getrusage tells begins with what the parent had.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_every_reader_has_a_large_file() -> None:
    assert {*READERS} - {name for name, *_ in LARGE} == {"criterion"}, "which reads a folder of small files"


def test_a_large_file_fills_no_memory(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    texts = repr([(name, text) for name, text, _ in LARGE])
    done = subprocess.run(
        [sys.executable, "-c", READ_LARGE], input=texts, cwd=tmp_path, env=environ, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    *answers, n_kib = done.stdout.splitlines()
    assert int(n_kib) < 250 << 10
    for answer, (_, text, expected) in zip(answers, LARGE, strict=True):
        assert answer.startswith(expected) and len(answer) < 800, text


def test_criterion_follows_no_link_and_waits_for_no_pipe(tmp_path: Path) -> None:
    home = FILES["criterion"] / SMALL / "new"
    for name, replaced in {"pipe": "benchmark.json", "pipes": "sample.json", "endless": "sample.json"}.items():
        shutil.copytree(home, tmp_path / name / "new")
        (tmp_path / name / "new" / replaced).unlink()
    os.mkfifo(tmp_path / "pipe/new/benchmark.json")
    os.mkfifo(tmp_path / "pipes/new/sample.json")
    (tmp_path / "endless/new/sample.json").symlink_to("/dev/zero")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/new").symlink_to(home)
    for name in ("pipe", "linked"):
        assert "no benchmark" in refusal("criterion", tmp_path / name).found
    for name in ("pipes", "endless"):
        assert "sample.json is no plain file" in str(refusal("criterion", tmp_path / name))


def test_links_in_a_circle_are_no_file(tmp_path: Path) -> None:
    (tmp_path / "circle.json").symlink_to("circle.json")
    with pytest.raises(StudyError, match="No such file"):
        registry_read(None, tmp_path / "circle.json", FILES["hyperfine"])


def test_a_status_that_is_none_leaves_out_a_file_of_one_part(tmp_path: Path) -> None:
    header = (RECORDED / "instruments/hey-0.1.csv").read_text().splitlines()[0]
    (tmp_path / "hey.csv").write_text(f"{header}\n0.1,0,0,0,0,0,000,0.1\n")
    assert "000" in refusal("hey", tmp_path / "hey.csv").found


def read_changed(tmp_path: Path, tool: str, file: str, old: str, new: str) -> ImportedFiles:
    """Read a recorded output in which one text was replaced, which it must hold."""
    text = (RECORDED / "instruments" / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    return registry_read(tool, tmp_path / file)


@pytest.mark.parametrize(("tool", "file", "old", "new", "told"), [
    ("pgbench", "pgbench-15.txt", "\ninitial connection time", "\nrate limit schedule lag: avg 0.2 (max 3.1) ms"
     "\ninitial connection time", "--rate"),
    ("wrk", "wrk2.txt", "Running", "Running", "-R"),
    ("fio", "fio-3.33.json", '"rw": "randrw",', '"rw": "randrw", "rate_iops": "100",', "rate_iops"),
    ("ycsb", "ycsb-0.17.txt", "-t -db", "-load -db", "load"),
    ("redis-benchmark", "redis-benchmark-7.csv", '"27027.03"', '"-nan"', "a rate of -nan"),
    ("gobench", "gobench-1.26.txt", "PASS", "FAIL\tsums\t0.1s", "the package failed"),
    ("pytest-benchmark", "pytest-benchmark-5.3.json", "perf_counter", "process_time", "CPU time, by"),
])  # fmt: skip
def test_what_makes_a_value_another_one_is_reported(
    tmp_path: Path, tool: str, file: str, old: str, new: str, told: str
) -> None:
    reading = read_changed(tmp_path, tool, file, old, new)
    texts = [text for each in reading.benchmarks for text in (*each.warnings, *each.params, *each.params.values())]
    assert any(told in text for text in (*texts, *(part.reason for part in reading.left_out)))


def test_a_time_below_a_clock_cycle_and_a_name_that_comes_twice_are_no_measurement_of_one(tmp_path: Path) -> None:
    (tmp_path / "go.txt").write_text("BenchmarkA-8 \t 1000000000\t 0.0000001 ns/op\nBenchmarkB-8 \t 100\t 12 ns/op\n")
    reading = registry_read("gobench", tmp_path / "go.txt")
    assert [each.name for each in reading.benchmarks] == ["B"] and "clock cycle" in reading.left_out[0].reason
    entry = {"name": "a", "run_type": "iteration", "time_unit": "ns"}
    entries = [{**entry, "repetition_index": i % 2, "real_time": 10.0 if i < 2 else 900.0} for i in range(4)]
    (tmp_path / "g.json").write_text(json.dumps({"context": {}, "benchmarks": entries}))
    first, second = registry_read("google-benchmark", tmp_path / "g.json").benchmarks
    assert (first.params, second.params) == ({}, {"registration": "2"})


PGBENCH = text_of("pgbench")[text_of("pgbench").rindex("pgbench (") :]
ABORTED = PGBENCH.replace("actually processed: 6791", "actually processed: 57/1000")
SYSBENCH = text_of("sysbench")[: text_of("sysbench").index("sysbench 1.0", 9)]
GO_FAILED = "BenchmarkMax-2  \t--- FAIL: BenchmarkMax-2\n    max_test.go:7: wrong\nFAIL\n"
VEGETA = (RECORDED / "instruments/vegeta-12.txt").read_text()
STRESS_NG_FAILED = "stress-ng: fail:  [6090] stress-ng-cpu: ackermann error detected\n"
FAILED = [
    ("hyperfine", '{"results": [{"command": "x", "times": [0.1, 0.1], "exit_codes": [127, 1]}]}'),
    ("hyperfine", '{"results": [{"command": "x", "times": [1.0], "exit_codes": [null]}]}'),
    ("google-benchmark", '{"benchmarks": [{"name": "B", "error_occurred": true, "error_message": "no disk"}]}'),
    ("gobench", GO_FAILED),
    ("k6", '{"metrics": {"http_reqs": {"count": 9, "rate": 3}, "http_req_failed": {"value": 1}}}'),
    ("oha", '{"summary": {"total": 1.0}, "statusCodeDistribution": {"500": 9}}'),
    ("oha", '{"summary": {"total": 1.0}, "statusCodeDistribution": {}}'),
    ("wrk", text_of("wrk").replace("Requests/sec", "  Non-2xx or 3xx responses: 66068\nRequests/sec")),
    ("wrk", text_of("wrk").replace("66068 requests", "0 requests")),
    ("sysbench", SYSBENCH.replace(" 2276\n", " 0\n")),
    ("pgbench", PGBENCH.replace("tps = 6986.855534", "tps = 0.000000")),
    ("pgbench", ABORTED),
    ("benchmarkdotnet", '{"Benchmarks": [{"Type": "A", "Method": "B", "Statistics": null}]}'),
    ("vitest", '{"files": [{"groups": [{"fullName": "a", "benchmarks": [{"name": "b", "samples": []}]}]}]}'),
    ("reframe", '{"runs": [{"testcases": [{"name": "A", "result": "failure", "perfvars": null}]}]}'),
    (
        "reframe",
        '{"runs": [{"testcases": [{"name": "A", "result": "fail", "perfvalues": {"s:p:t": [null,0,0,0,"s"]}}]}]}',
    ),
    ("jube", "nodes,time[s]\n1,nan\n"),
    ("jube", "|nodes|time[s]|\n|-|-|\n|1||\n"),
    ("pgbench", PGBENCH.replace("actually processed: 6791", "actually processed: 0").replace("6986.855534", "nan")),
    ("fio", '{"jobs": [{"jobname": "a", "error": 28, "job options": {"rw": "randwrite"}, "write": {"iops": 9}}]}'),
    ("fio", "a: (groupid=0, jobs=1): err= 2 (file:filesetup.c:174, error=No such file or directory): pid=0: Sun\n"),
    ("vegeta", '{"requests": 5, "rate": 6, "duration": 7, "wait": 1, "status_codes": {"0": 5}, "errors": ["refused"]}'),
    ("vegeta", VEGETA.replace("200:180  500:20", "500:200")),
    ("hey", text_of("hey").replace("[200]", "[404]")),
    ("hey", "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"),
    ("redis-benchmark", " \rlpush s 1: rps=0.0 (overall: 0.0) avg_msec=-nan\rError from server: WRONGTYPE kind\n"),
    ("stress-ng", text_of("stress-ng").replace(", 1 vm", "").replace(" vm ", " - ") + STRESS_NG_FAILED),
    ("hey", "Summary:\n  Total:\t1.0 secs\n\nError distribution:\n  [9]\tGet: connection refused\n"),
    ("autocannon", text_of("autocannon").replace('"2xx":157', '"2xx":0')),
    ("ghz", '{"total": 9, "rps": 3, "statusCodeDistribution": {"Unavailable": 3}, "errorDistribution": {"lost": 3}}'),
    ("h2load", re.sub("[0-9]+ succeeded, [0-9]+ failed", "0 succeeded, 400 failed", text_of("h2load"))),
    ("memtier-benchmark", '{"ALL STATS": {"Totals": {"Ops/sec": 0.0, "Connection Errors": 7}}}'),
    ("ycsb", text_of("ycsb").replace("Return=OK", "Return=TIMEOUT")),
    ("csv", "run,status,value,unit\na,failed,,s\n"),
    ("csv", "run,status,value,unit\na,timeout,1.5,s\n"),
]


def test_a_copy_of_a_file_is_no_process(tmp_path: Path) -> None:
    first, other = (given(tmp_path, f"BenchmarkX-8 10 {t} ns/op\n", f"{t}.txt") for t in (12, 13))
    copy = tmp_path / "copy.txt"
    shutil.copy(first, copy)
    reading = registry_read("gobench", first, copy, other, tmp_path / ".." / tmp_path.name / first.name)
    assert [len(benchmark.forks) for benchmark in reading.benchmarks] == [2]
    assert [part.where for part in reading.left_out] == ["copy.txt", first.name]
    assert all(part.reason == f"the same content as {first}: counted once" for part in reading.left_out)
    with pytest.raises(StudyError, match="counted once"):
        registry_read("gobench", first, copy, strict=True)


def test_threads_in_which_benchmarks_differ_are_a_param(tmp_path: Path) -> None:
    each = [{**result([[10.0 * n], [10.1 * n]]), "threads": n} for n in (1, 2, 4)]
    every = read("jmh", given(tmp_path, json.dumps(each)))
    assert [(benchmark.params.get("threads"), benchmark.threads) for benchmark in every] == [
        ("1", 1),
        ("2", 2),
        ("4", 4),
    ]
    (alone,) = read("jmh", given(tmp_path, json.dumps(each[1:2])))
    assert "threads" not in {**alone.params, **alone.facts} and alone.threads == 2


def test_multiples_of_a_unit_compare(tmp_path: Path) -> None:
    texts = [f"n,bw[{unit}]\n" + "".join(f"1,{value * t}\n" for t in (1.0, 1.01, 0.99))
             for unit, value in (("MB/s", 1500), ("GB/s", 1.5), ("KiB/s", 1500e6 / 1024))]  # fmt: skip
    values = [scores(read("jube", given(tmp_path, text))[0]) for text in texts]
    assert values[1] == pytest.approx(values[0]) and values[2] == pytest.approx(values[0])


@pytest.mark.parametrize(("name", "text"), FAILED)
def test_a_benchmark_whose_runs_all_failed_has_no_figure(tmp_path: Path, name: str, text: str) -> None:
    (one,) = read(name, given(tmp_path, text))
    assert not one.forks and one.failed[0] == one.failed[1] > 0 and scores(one) == []
    found = summarize_benchmark(one, 0.95)
    assert (found.estimate.value, found.p50, found.n_failed) == (None, None, one.failed[0])
    claim = benchmark_claim([one])
    assert not claim.answered and claim.sentences == ["No answer: no run succeeded."]
    assert failed_sentence([one]).startswith(f"Failed, without a value: {one.name}")
    source = benchmark_source(ImportedFiles("an instrument", [one]), "new")
    assert source.configurations == () and [lost.runs for lost in source.failed] == [one.failed]
    with pytest.raises(ValueError, match="failed, expected one that succeeded"):
        printed_score(text, name, None, one.unit)


# What failed is missing in their files. will-it-scale has processes and threads in each row: two benchmarks.
NO_FAILED = {"jmh", "pyperf", "criterion", "json", "pytest-benchmark", "rebench", "llama-bench", "will-it-scale"}


def test_each_instrument_that_tells_of_failed_runs_has_one() -> None:
    assert {name for name, _ in FAILED} == {*READERS} - NO_FAILED


def test_what_is_left_of_a_benchmark_is_of_runs_that_succeeded(tmp_path: Path) -> None:
    def counts(name: str, text: str) -> list[tuple[Any, ...]]:
        return [(one.name, len(one.forks), one.failed) for one in read(name, given(tmp_path, text))]

    some = exported(tmp_path, timed("x", [2.0] * 6, exit_codes=[1] * 2 + [0] * 4))
    (one,) = read("hyperfine", some)
    assert (len(one.forks), one.failed, summarize_benchmark(one, 0.95).flags) == (
        4,
        (2, 6),
        ["failed: 2 of 6 runs", "exit code 1 in 2 runs"],
    )
    (one,) = read("hyperfine", some, exported(tmp_path, timed("x", [2.0] * 6), name="more.json"))
    assert (len(one.forks), one.failed) == (10, (2, 12))
    go = "BenchmarkSum-2  \t 10\t 50 ns/op\n" + GO_FAILED
    assert counts("gobench", go + go) == [("Sum", 1, (0, 2)), ("Max", 0, (2, 2))]
    table = "run,status,n,response,value,unit\na,ok,1,wall,2,s\nb,ok,1,wall,3,s\nc,failed,1,,,\nd,failed,2,,,\n"
    assert counts("csv", table) == [("wall", 2, (1, 3)), ("wall", 0, (1, 1))]
    by_choice = ABORTED.replace("failed transactions: 0", "failed transactions: 943")
    assert [n_forks for _, n_forks, _ in counts("pgbench", by_choice)] == [1]
    # Each of 4,000 names would get 4,000 configurations.
    rows = [f"ok,b{i},{i},1,s" for i in range(4000)] + [f"failed,,{i + 9000},," for i in range(4000)]
    table = given(tmp_path, "\n".join(["status,benchmark,n,value,unit", *rows]))
    assert "4000 configurations with failed runs, of 4000 benchmarks" in refusal("csv", table).found


TOY = """
from scalograph.exchange.benchmark import Benchmark, Fork


def read(file: object) -> list[Benchmark]:
    seconds = [float(line) for line in file.text.split()]
    return [Benchmark("toy", "once", {"threads": "2", "lock": "cas"}, "s", tuple(Fork([x], [1]) for x in seconds))]
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader in a folder of its own, its row, and a file of its format."""
    given(tmp_path, TOY, "toy_reader.py")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(READERS, "toy", Reader("Toy", "toy_reader"))
    return given(tmp_path, "0.5 0.51 0.52")


def test_a_further_reader_is_a_file_and_a_row(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _code(["import", "toy", str(toy), "--tables"]) == 0
    assert "Times by Toy" in capsys.readouterr().out
    journal = [(configuration, recorded(0.5 + r / 100)) for configuration in CONFIGURATIONS for r in range(3)]
    write_journal(toy.parent / "journal.jsonl", journal)
    assert _code(["import", "toy", str(toy), "--beside", str(toy.parent), "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["benchmarks"]
    assert (shown["instrument"], shown["label"], shown["ratio"]["value"]) == ("Toy", "agree", pytest.approx(1.0))
    assert _code(["import", "tox", str(toy)]) == 2
    assert capsys.readouterr().err == 'error: import: no format "tox"\nhint: did you mean "toy"?\n'
    assert _code(["import", "zzz", str(toy)]) == 2
    message = capsys.readouterr().err
    assert 'no format "zzz"' in message and "name no format: it is recognized" in message
