"""Formats of other tools by name, and what a study knows of each without reading one.

Rows are here because a study names them for its program's output, and is checked on a lower floor. A new reader is a
module in `exchange/readers`, named as its format is, and a row.
"""

from typing import NamedTuple


class Reader(NamedTuple):
    """A format: the tool, and the module whose `read(file)` yields its benchmarks.

    `read` takes a `ForeignFile`, executes nothing, leaves out what it cannot read, and raises StudyError where nothing
    is left. `how` writes such a file; `to_output` says whether the instrument can print it, so that a study may read it
    from a run's output. `signs` are texts of which each such file has one: others need no reading.
    """

    instrument: str
    module: str
    how: str = ""
    to_output: bool = True
    signs: tuple[str, ...] = ()


_HOME = "scalograph.exchange.readers"
# Tool, how to write its file, and signs.
_ROWS = {
    "jmh": ("JMH", "java -jar benchmarks.jar -rf json -rff FILE", '"primaryMetric"'),
    "hyperfine": ("hyperfine", "hyperfine --export-json FILE COMMAND", '"command"'),
    "pyperf": ("pyperf", "pyperf timeit -o FILE", '"benchmarks"'),
    "google-benchmark": ("Google Benchmark", "--benchmark_out=FILE --benchmark_out_format=json", '"benchmarks"'),
    "criterion": ("Criterion", "cargo bench, then the folder target/criterion"),
    "gobench": ("go test -bench", "go test -bench . > FILE", "Benchmark"),
    "sysbench": ("sysbench", "sysbench ... run > FILE", "sysbench "),
    "pgbench": ("pgbench", "pgbench ... > FILE", "transaction type:"),
    "wrk": ("wrk", "wrk ... URL > FILE", "Running ", "Making "),
    "oha": ("oha", "oha --no-tui --output-format json URL > FILE", '"statusCodeDistribution"', "Success rate:"),
    "k6": ("k6", "k6 run --summary-export FILE script.js", '"metrics"'),
    "pytest-benchmark": ("pytest-benchmark", "pytest --benchmark-json FILE", '"fullname"'),
    "benchmarkdotnet": ("BenchmarkDotNet", "--exporters json, then the file *-report-full.json", '"Benchmarks"'),
    "vitest": ("Vitest", "vitest bench --run --outputJson FILE", '"groups"'),
    "rebench": ("ReBench", "rebench CONFIG, then its data file", "#!", "invocation\t", "\ttotal\t"),
    "reframe": ("ReFrame", "reframe -c FILE.py -r --report-file FILE", '"testcases"'),
    "jube": ("JUBE", "jube result FOLDER > FILE", "["),
    "llama-bench": ("llama-bench", "llama-bench -o json > FILE", "avg_ts", "| model"),
    "will-it-scale": ("will-it-scale", "runtest.py TEST > TEST.csv", "tasks,processes"),
    "fio": ("fio", "fio --output-format=json --output=FILE JOBS", '"jobs"', " (groupid="),
    "vegeta": ("vegeta", "vegeta report -type=json RESULTS > FILE", '"status_codes"', "[total, rate"),
    "hey": ("hey", "hey ... URL > FILE", "Summary:", "response-time,"),
    "redis-benchmark": ("redis-benchmark", "redis-benchmark --csv > FILE", "requests per second", "rps=", '","'),
    "stress-ng": ("stress-ng", "stress-ng ... --metrics-brief > FILE 2>&1", "dispatching hogs:", "system-info:"),
    "autocannon": ("autocannon", "autocannon -j URL > FILE", '"2xx"'),
    "ghz": ("ghz", "ghz -O json ... HOST > FILE", '"statusCodeDistribution"', "Summary:"),
    "h2load": ("h2load", "h2load ... URL > FILE", "starting benchmark..."),
    "memtier-benchmark": ("memtier_benchmark", "memtier_benchmark ... --json-out-file FILE", "ALL STATS", " RESULTS"),
    "ycsb": ("YCSB", "bin/ycsb run ... > FILE 2>&1", "[OVERALL], RunTime"),
    "json": ("JSON", "any program; --value and --unit say where its values are"),
    "csv": ("CSV", "columns value, unit, run; all others are params", "value"),
}
_MODULES = {"csv": "plain_csv", "json": "plain_json"}
# Written as a folder, or read only with options, which the output of a run has none of.
_NO_OUTPUT = ("criterion", "json")
READERS = {
    name: Reader(tool, f"{_HOME}.{_MODULES.get(name, name.replace('-', '_'))}", how, name not in _NO_OUTPUT, (*signs,))
    for name, (tool, how, *signs) in _ROWS.items()
}
# In which figures of a harness are read: times, and rates.
HARNESS_UNITS = ("s", "1/s")
