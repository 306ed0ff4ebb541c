"""Formats of other tools by name, and what a study knows of each without reading one.

Rows are here because a study names them for its program's output, and is checked on a lower floor. A new reader is a
module in `exchange/readers`, named as its format is, and a row.
"""

from typing import NamedTuple


class Reader(NamedTuple):
    """A format: the tool, and the module whose `read(file)` yields its benchmarks.

    `read` takes a `ForeignFile`, executes nothing, leaves out what it cannot read, and raises StudyError where nothing
    is left. `how` writes such a file; `to_output` says whether the instrument can print it, so that a study may read it
    from a run's output.
    """

    instrument: str
    module: str
    how: str = ""
    to_output: bool = True


_HOME = "scalograph.exchange.readers"
_ROWS = {
    "jmh": ("JMH", "java -jar benchmarks.jar -rf json -rff FILE"),
    "hyperfine": ("hyperfine", "hyperfine --export-json FILE COMMAND"),
    "pyperf": ("pyperf", "pyperf timeit -o FILE"),
    "google-benchmark": ("Google Benchmark", "--benchmark_out=FILE --benchmark_out_format=json"),
    "criterion": ("Criterion", "cargo bench, then the folder target/criterion"),
    "gobench": ("go test -bench", "go test -bench . > FILE"),
    "sysbench": ("sysbench", "sysbench ... run > FILE"),
    "pgbench": ("pgbench", "pgbench ... > FILE"),
    "wrk": ("wrk", "wrk ... URL > FILE"),
    "oha": ("oha", "oha --no-tui --output-format json URL > FILE"),
    "k6": ("k6", "k6 run --summary-export FILE script.js"),
    "pytest-benchmark": ("pytest-benchmark", "pytest --benchmark-json FILE"),
    "benchmarkdotnet": ("BenchmarkDotNet", "--exporters json, then the file *-report-full.json"),
    "vitest": ("Vitest", "vitest bench --run --outputJson FILE"),
    "rebench": ("ReBench", "rebench CONFIG, then its data file"),
    "reframe": ("ReFrame", "reframe -c FILE.py -r --report-file FILE"),
    "jube": ("JUBE", "jube result FOLDER > FILE"),
    "llama-bench": ("llama-bench", "llama-bench -o json > FILE"),
    "will-it-scale": ("will-it-scale", "runtest.py TEST > TEST.csv"),
    "fio": ("fio", "fio --output-format=json --output=FILE JOBS"),
    "vegeta": ("vegeta", "vegeta report -type=json RESULTS > FILE"),
    "hey": ("hey", "hey ... URL > FILE"),
    "redis-benchmark": ("redis-benchmark", "redis-benchmark --csv > FILE"),
    "stress-ng": ("stress-ng", "stress-ng ... --metrics-brief > FILE 2>&1"),
    "autocannon": ("autocannon", "autocannon -j URL > FILE"),
    "ghz": ("ghz", "ghz -O json ... HOST > FILE"),
    "h2load": ("h2load", "h2load ... URL > FILE"),
    "memtier-benchmark": ("memtier_benchmark", "memtier_benchmark ... --json-out-file FILE"),
    "ycsb": ("YCSB", "bin/ycsb run ... > FILE 2>&1"),
    "json": ("JSON", "any program; --value and --unit say where its values are"),
    "csv": ("CSV", "columns value, unit, run; all others are params"),
}
_MODULES = {"csv": "plain_csv", "json": "plain_json"}
# Written as a folder, or read only with options, which the output of a run has none of.
_NO_OUTPUT = ("criterion", "json")
READERS = {
    name: Reader(tool, f"{_HOME}.{_MODULES.get(name, name.replace('-', '_'))}", how, name not in _NO_OUTPUT)
    for name, (tool, how) in _ROWS.items()
}
# In which figures of a harness are read: times, and rates.
HARNESS_UNITS = ("s", "1/s")
