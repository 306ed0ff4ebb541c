"""Formats of other tools by name, and what a study knows of each without reading one.

Rows are here because a study names them for its program's output, and is checked on a lower floor. A new reader is a
module in `exchange/readers`, imported on first use, and a row.
"""

from typing import NamedTuple


class Reader(NamedTuple):
    """A format: the tool, and the module whose `read(file)` returns its benchmarks.

    `read` executes nothing, limits its input, and raises StudyError with place, found and expected. `how` writes such
    a file; `to_output` says whether the instrument can print it, so that a study may read it from a run's output.
    """

    instrument: str
    module: str
    how: str = ""
    to_output: bool = True


_HOME = "scalograph.exchange.readers"
READERS = {
    "jmh": Reader("JMH", f"{_HOME}.jmh", "java -jar benchmarks.jar -rf json -rff FILE"),
    "hyperfine": Reader("hyperfine", f"{_HOME}.hyperfine", "hyperfine --export-json FILE COMMAND"),
    "pyperf": Reader("pyperf", f"{_HOME}.pyperf", "pyperf timeit -o FILE"),
    "google-benchmark": Reader(
        "Google Benchmark", f"{_HOME}.google_benchmark", "--benchmark_out=FILE --benchmark_out_format=json"
    ),
    "criterion": Reader(
        "Criterion", f"{_HOME}.criterion", "cargo bench, then the folder target/criterion", to_output=False
    ),
    "gobench": Reader("go test -bench", f"{_HOME}.gobench", "go test -bench . > FILE"),
    "sysbench": Reader("sysbench", f"{_HOME}.sysbench", "sysbench ... run > FILE"),
    "pgbench": Reader("pgbench", f"{_HOME}.pgbench", "pgbench ... > FILE"),
    "wrk": Reader("wrk", f"{_HOME}.wrk", "wrk ... URL > FILE"),
    "oha": Reader("oha", f"{_HOME}.oha", "oha --no-tui --output-format json URL > FILE"),
    "k6": Reader("k6", f"{_HOME}.k6", "k6 run --summary-export FILE script.js"),
    "csv": Reader("the table", f"{_HOME}.plain_csv", "columns value, unit, run; all others are params"),
}
# In which figures of a harness are read: times, and rates.
HARNESS_UNITS = ("s", "1/s")
