"""What every reader keeps: bad parts, errors, settings, encodings, cuts, and values without spread, by a table each."""

import gzip
import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark_claim import benchmark_claim
from scalograph.exchange.compare.benchmark_source import benchmark_source
from scalograph.exchange.compare.compare_claim import differences
from scalograph.exchange.compare.result_answer import compare_sources
from scalograph.exchange.readers import foreign_file
from scalograph.study.reader_names import READERS
from tests.unit.exchange.instruments import FILES, file_of, place_of, read, read_all, result, text_of, timed

every_reader = pytest.mark.parametrize("name", READERS)
Change = Callable[[str], str]


def add(entry: Any, *keys: str | int) -> Change:
    """Add an entry to the list below the keys of a JSON document."""

    def change(text: str) -> str:
        document = listed = json.loads(text)
        for key in keys:
            listed = listed[key]
        listed.append(entry)
        return json.dumps(document)

    return change


def end(lines: str) -> Change:
    """Add lines at the end of a text."""
    return lambda text: text + lines


def swap(old: str, new: str) -> Change:
    """Replace a text that is there."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


def same(text: str) -> str:
    """Return a text that has it already."""
    return text


# A bad part, and words of its place and reason; or why a file has no parts.
BAD: dict[str, tuple[Change, str] | str] = {
    "jmh": (add(result([["x"]])), "[2].primaryMetric.rawData[0][0] (Input should be a valid number"),
    "hyperfine": (add(timed("bad", ["x"]), "results"), "results[2].times[0] (Input should be a valid number"),
    "pyperf": (add({"metadata": {"name": "mem", "unit": "byte"}, "runs": [{"values": [1.0]}]}, "benchmarks"),
        'benchmarks[1] (mem in unit "byte" is no time)'),
    "google-benchmark": (add({"name": "BM_Bad"}, "benchmarks"), "(BM_Bad has no real_time)"),
    "criterion": "a folder for each benchmark: below",
    "gobench": (end("BenchmarkBad 10 5 MB/s\n"), '("Bad 5 MB/s" has neither ns/op nor a rate)'),
    "sysbench": (end("sysbench 1.0\nNumber of threads: 1\n"), "(an output without its events and time)"),
    "pgbench": (end("transaction type: bad\n"), "(an output without its rate)"),
    "wrk": (end("Running 1s test @ http://bad\n"), "(an output without its rate)"),
    "oha": "a file is one run",
    "k6": "a file is one run",
    "pytest-benchmark": (add({"fullname": "bad"}, "benchmarks"), "benchmarks[3].stats (Field required)"),
    "benchmarkdotnet": (add({"Type": "Bad"}, "Benchmarks"), ".Method (Field required)"),
    "vitest": (add({"name": "bad", "mean": "x"}, "files", 0, "groups", 0, "benchmarks"),
        "files[0].groups[0].benchmarks[3].mean (Input should be a valid number"),
    "rebench": (end("1\t1\tx\tms\ttotal\tBad\tShell\tSmall\t\t1\t64\t\t\t\t0\n"), "(no measurement: torn"),
    "reframe": (add({"name": 5}, "runs", 0, "testcases"), "runs[0].testcases[3].name (Input should be a valid string"),
    "jube": (end("| 5 | 8 |\n"), "line 9 (2 cells, expected 6)"),
    "llama-bench": (add({"model_type": "bad"}), ".n_prompt (Field required)"),
    "will-it-scale": (end("5,x,1,1,1,1\n"), "line 7 (a row without its numbers)"),
    "fio": (add({"jobname": "bad", "read": {"iops": "x"}}, "jobs"), ".read.iops (Input should be a valid number"),
    "vegeta": "a file is one run",
    "hey": (end("\nSummary:\n  Total:\t1.0 secs\n"), "(a summary without its total time and status codes)"),
    "redis-benchmark": (end("====== BAD ======\n"), "(BAD: an output without its rate)"),
    "stress-ng": (end("stress-ng: info:  [9] dispatching hogs: 1 bad\n"), "(a run without metrics: give --metr"),
    "autocannon": "a file is one run",
    "ghz": "a file is one run",
    "h2load": (end("starting benchmark...\n"), "(an output without its rate)"),
    "memtier-benchmark": (swap('"BEST RUN', '"RUN #3 RESULTS": "x", "BEST RUN'), "RUN #3 RESULTS (Input should be"),
    "ycsb": (end("[OVERALL], RunTime(ms), 9\n"), "(an output without its rate)"),
    "json": (add({"cmd": "bad", "threads": 3}, "results"), "results[4] (nothing at /seconds)"),
    "csv": (end("c,1,x,ms\n"), "line 5 (value = 'x' is no number"),
}  # fmt: skip
# Errors beside right answers, and words of the warning; or why a file tells of none.
ERRORS: dict[str, tuple[Change, str] | str] = {
    "jmh": "a fork that failed is missing",
    "hyperfine": (swap('"exit_codes": [\n        0,', '"exit_codes": [\n        3,'), "exit code 3 in 1 run"),
    "pyperf": "a worker that failed ends it",
    "google-benchmark": (add({"name": "B", "error_occurred": True, "error_message": "disk"}, "benchmarks"), "disk"),
    "criterion": "a benchmark that failed ends it",
    "gobench": "a benchmark that failed is one without a value",
    "sysbench": (swap("    total number of events:              2276", "    total number of events:              2276\n"
        "    ignored errors:                      7 (7.0 per sec.)"), "7 errors ignored beside 2,276 events"),
    "pgbench": (swap("failed transactions: 0 (0.000%)", "failed transactions: 9 (0.1%)"), "9 transactions failed"),
    "wrk": (swap("Requests/sec", "  Socket errors: connect 0, read 5, write 0\nRequests/sec"), "5 read errors"),
    "oha": (same, "with status 503"),
    "k6": (same, "5 of 56 requests failed"),
    "pytest-benchmark": "a test that failed is missing",
    "benchmarkdotnet": (add({"Type": "A", "Method": "B", "Statistics": None}, "Benchmarks"), "no iteration ended"),
    "vitest": (same, "no iteration ended"),
    "rebench": "an invocation that failed is missing",
    "reframe": (same, "sanity error: pattern 'took' not found"),
    "jube": (same, "no value in its output"),
    "llama-bench": "a test that failed ends it",
    "will-it-scale": (same, "no average printed"),
    "fio": (swap('"jobname": "seq",', '"jobname": "seq", "total_err": 7,'), "14 I/O errors beside"),
    "vegeta": (same, "20 with status 500 (500 Internal Server Error)"),
    "hey": (same, "58 with status 500"),
    "redis-benchmark": (end(" \rlpush s 1: rps=0.0 (overall: 0.0)\nError from server: WRONGTYPE kind\n"), "WRONGTYPE"),
    "stress-ng": (end("stress-ng: fail:  [9] stress-ng-cpu: ackermann error detected\n"), "ackermann error"),
    "autocannon": (same, "18 with a wrong status"),
    "ghz": (same, "8 with status Internal"),
    "h2load": (same, "40 with a wrong status"),
    "memtier-benchmark": (same, "3 connection errors"),
    "ycsb": (same, "20 READ returned NOT_FOUND"),
    "json": "a layout names no field of errors",
    "csv": "a row is a value; a run that failed has none",
}  # fmt: skip
# A text with some setting, the fact or param that it is read as, and another one of it; or why a file tells of none.
SETTINGS: dict[str, tuple[Change, str, str, str] | str] = {
    "jmh": (swap('"mode": "ss"', '"jdkVersion": "17.0.1", "mode": "ss"'), "JDK", "17.0.1", "21"),
    "hyperfine": "nothing but commands and their parameters",
    "pyperf": (swap('"runs": [{"metadata": {', '"metadata": {"python_version": "3.11.2"}, "runs": [{"metadata": {'),
        "Python", "3.11.2", "3.12.0"),
    "google-benchmark": (same, "library build", "debug", "release"),
    "criterion": "no file of it tells of the machine",
    "gobench": (same, "cpu", "Intel(R) Xeon(R) Processor @ 2.80GHz", "Other 9"),
    "sysbench": (same, "Prime numbers limit", "10000", "40000"),
    "pgbench": (same, "query mode", "simple", "prepared"),
    "wrk": "its address and options are name and params",
    "oha": "nothing but the run",
    "k6": "nothing but the run",
    "pytest-benchmark": (same, "Python", "3.11.7", "3.12.1"),
    "benchmarkdotnet": (same, "CPU", "AMD EPYC", "Other 9"),
    "vitest": "nothing but the run",
    "rebench": (same, "CPU", "AMD EPYC", "Other 9"),
    "reframe": (same, "host", "a-host", "b-host"),
    "jube": "every column without a unit is a param",
    "llama-bench": (same, "CPU", "AMD EPYC", "Other 9"),
    "will-it-scale": "nothing but the run",
    "fio": (same, "fio", "3.33", "3.36"),
    "vegeta": "nothing but the rate, a param",
    "hey": "nothing but the run",
    "redis-benchmark": (same, "appendonly", "no", "yes"),
    "stress-ng": "its options are params; only --yaml tells of the machine",
    "autocannon": (swap('"workers":0', '"workers":1877'), "workers", "1877", "1878"),
    "ghz": (same, "host", "127.0.0.1:50051", "192.0.2.1:50051"),
    "h2load": (same, "protocol", "http/1.1", "h2c"),
    "memtier-benchmark": (same, "protocol", "redis", "memcache_text"),
    "ycsb": (same, "database", "site.ycsb.BasicDB", "site.ycsb.OtherDB"),
    "json": (same, "CPU", "Example 9", "Example 10"),
    "csv": "every column is a param",
}  # fmt: skip


def cases(table: dict[str, Any]) -> pytest.MarkDecorator:
    """Return the rows of a table that are no reasons, of every reader."""
    return pytest.mark.parametrize(
        ("name", "case"), [(name, row) for name, row in table.items() if not isinstance(row, str)]
    )


@pytest.mark.parametrize("table", [BAD, ERRORS, SETTINGS], ids=["bad", "errors", "settings"])
def test_every_reader_has_its_row(table: dict[str, Any]) -> None:
    assert {*READERS} - {*table} == set() and all(table.values())


def write(folder: Path, name: str, text: str, called: str = "given") -> Path:
    """Write the text of an instrument into a file of its own."""
    file = folder / called
    file.write_text(text)
    return file


@cases(BAD)
def test_a_bad_part_is_named_and_the_rest_is_answered(tmp_path: Path, name: str, case: tuple[Change, str]) -> None:
    change, words = case
    good = read(name, write(tmp_path, name, text_of(name)))
    reading = read_all(name, file := write(tmp_path, name, change(text_of(name))))
    (lost,) = reading.left_out
    assert lost.where.startswith("given: ") and words in f"{lost.where} ({lost.reason})"
    assert reading.benchmarks == good
    with pytest.raises(StudyError, match="leave out --strict"):
        read_all(name, file, strict=True)


def test_a_bad_folder_of_criterion_is_named(tmp_path: Path) -> None:
    shutil.copytree(FILES["criterion"], tmp_path / "all")
    broken = next(iter(sorted((tmp_path / "all").rglob("new/sample.json"))))
    broken.write_text("{")
    reading = read_all("criterion", tmp_path / "all")
    assert len(reading.benchmarks) == len(read("criterion", FILES["criterion"])) - 1
    assert "sample.json" in reading.left_out[0].reason and "Invalid JSON" in reading.left_out[0].reason


@every_reader
def test_one_bad_file_among_three_is_named(tmp_path: Path, name: str) -> None:
    good, bad = file_of(name, tmp_path), write(tmp_path, name, "{}", "bad")
    reading = read_all(name, good, bad, good)
    assert [len(b.forks) for b in reading.benchmarks] == [2 * len(b.forks) for b in read(name, good)]
    assert [part.where for part in reading.left_out] and all("bad" in part.where for part in reading.left_out)
    with pytest.raises(StudyError, match="bad"):
        read_all(name, good, bad, good, strict=True)


@cases(ERRORS)
def test_errors_beside_answers_are_told(tmp_path: Path, name: str, case: tuple[Change, str]) -> None:
    change, words = case
    every = read(name, write(tmp_path, name, change(text_of(name))))
    assert words in "; ".join(warning for benchmark in every for warning in benchmark.warnings)
    assert any(benchmark.forks for benchmark in every)


@cases(SETTINGS)
def test_other_settings_are_read_and_stay_apart(tmp_path: Path, name: str, case: tuple[Change, str, str, str]) -> None:
    change, fact, old, new = case
    first = write(tmp_path, name, change(text_of(name)), "first")
    second = write(tmp_path, name, swap(old, new)(change(text_of(name))), "second")
    assert {benchmark.facts[fact] for benchmark in read(name, first)} == {old}
    both = read(name, first, second)
    assert len(both) == 2 * len(read(name, first)) and {benchmark.params[fact] for benchmark in both} == {old, new}
    sources = [benchmark_source(read_all(name, file), file.name) for file in (first, second)]
    assert f"{fact} {old} \N{RIGHTWARDS ARROW} {new}" in differences(compare_sources(sources[0], sources[1:]))


def encoded(text: str) -> dict[str, bytes]:
    """Return a text as other systems and tools keep it."""
    plain = text.encode()
    half = len(plain) // 2
    return {
        "CR LF": text.replace("\n", "\r\n").encode(), "mark": b"\xef\xbb\xbf" + plain, "UTF-16": text.encode("utf-16"),
        "UTF-16 BE with a mark": b"\xfe\xff" + text.encode("utf-16-be"), "UTF-16 LE": text.encode("utf-16-le"),
        "UTF-16 BE": text.encode("utf-16-be"), "gzip": gzip.compress(plain),
        "members": gzip.compress(plain[:half]) + gzip.compress(plain[half:]),
    }  # fmt: skip


@every_reader
def test_any_encoding_and_packing_is_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, source = place_of(name, tmp_path)
    text = text_of(name)
    file.write_text(text)
    plain = read(name, source)
    for called, content in encoded(text).items():
        file.write_bytes(content)
        reading = read_all(name, source)
        assert (reading.benchmarks, reading.left_out) == (plain, ()), called
    packed, bomb = gzip.compress(text.encode()), gzip.compress(text.encode() + b" " * 2000)
    monkeypatch.setattr(foreign_file, "MAX_BYTES", len(text.encode()) + 1000)
    damaged = packed[:9] + b"x" * 90
    for content, words in ((bomb, "unpacked"), (packed[:-9], "gzip that was cut"), (damaged, "gzip")):
        file.write_bytes(content)
        with pytest.raises(StudyError, match=words):
            read(name, source)


@every_reader
def test_of_a_text_that_was_cut_nothing_is_read_that_was_not_there(tmp_path: Path, name: str) -> None:
    file, source = place_of(name, tmp_path)
    text = text_of(name)
    file.write_text(text)
    whole = {value for benchmark in read(name, source) for fork in benchmark.forks for value in fork.values}
    # Twenty cuts, and one within each of the last numbers of the text.
    numbers = [match.start() + 1 for match in re.finditer(r"[0-9]{2,}", text)][-40:]
    places = {*range(0, len(text), max(1, len(text) // 20)), *numbers}
    for place in sorted(place for place in places if place > 0):
        file.write_text(text[:place])
        with suppress(StudyError):
            every = read(name, source)
            assert {value for benchmark in every for fork in benchmark.forks for value in fork.values} <= whole, place


@every_reader
def test_values_without_a_spread_are_answered(tmp_path: Path, name: str) -> None:
    file = file_of(name, tmp_path)
    same = read_all(name, file, file, file)
    assert benchmark_claim(same.benchmarks).sentences
    source = benchmark_source(same, "a")
    assert compare_sources(source, [source]).answer in ("equivalent", "inconclusive")
