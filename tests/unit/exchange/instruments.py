"""Files of other instruments: recorded ones, and ones with the figures that a test is about."""

import json
import shutil
from pathlib import Path
from typing import Any

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers import registry
from scalograph.exchange.readers.foreign_file import ForeignFile
from scalograph.exchange.readers.plain_json import JsonLayout
from scalograph.study.reader_names import READERS
from tests.kit import RECORDED

FILES = {
    "jmh": RECORDED / "jmh-fork-join.json",
    "hyperfine": RECORDED / "instruments/hyperfine-1.15.json",
    "pyperf": RECORDED / "instruments/pyperf-2.10.json",
    "google-benchmark": RECORDED / "instruments/google-benchmark-1.7.json",
    "criterion": RECORDED / "instruments/criterion-0.5",
    "gobench": RECORDED / "instruments/gobench-1.26.txt",
    "sysbench": RECORDED / "instruments/sysbench-1.0.txt",
    "pgbench": RECORDED / "instruments/pgbench-15.txt",
    "wrk": RECORDED / "drivers/wrk-4.1.txt",
    "oha": RECORDED / "drivers/oha-1.json",
    "k6": RECORDED / "drivers/k6-metrics-by-name.json",
    "pytest-benchmark": RECORDED / "instruments/pytest-benchmark-5.3.json",
    "benchmarkdotnet": RECORDED / "instruments/benchmarkdotnet-0.13.json",
    "vitest": RECORDED / "instruments/vitest-2.1.json",
    "rebench": RECORDED / "instruments/rebench-1.4.data",
    "reframe": RECORDED / "instruments/reframe-4.10.json",
    "jube": RECORDED / "instruments/jube-2.7.txt",
    "llama-bench": RECORDED / "instruments/llama-bench-5163.json",
    "will-it-scale": RECORDED / "instruments/will-it-scale-1.csv",
    "fio": RECORDED / "instruments/fio-3.33.json",
    "vegeta": RECORDED / "instruments/vegeta-12.json",
    "hey": RECORDED / "instruments/hey-0.1.txt",
    "redis-benchmark": RECORDED / "instruments/redis-benchmark-7.txt",
    "stress-ng": RECORDED / "instruments/stress-ng-0.15.txt",
    "autocannon": RECORDED / "instruments/autocannon-9.json",
    "ghz": RECORDED / "instruments/ghz-0.120.json",
    "h2load": RECORDED / "instruments/h2load-1.52.txt",
    "memtier-benchmark": RECORDED / "instruments/memtier-benchmark-2.1.json",
    "ycsb": RECORDED / "instruments/ycsb-0.17.txt",
    "json": RECORDED / "instruments/json-results.json",
}
# What the same instruments write by other options, or wrote in other releases.
OTHER_FORMS = [
    ("fio", RECORDED / "instruments/fio-3.33.txt"),
    ("vegeta", RECORDED / "instruments/vegeta-12.txt"),
    ("hey", RECORDED / "instruments/hey-0.1.csv"),
    ("redis-benchmark", RECORDED / "instruments/redis-benchmark-7.csv"),
    ("stress-ng", RECORDED / "instruments/stress-ng-0.15.yaml"),
    ("ghz", RECORDED / "instruments/ghz-0.120.txt"),
    ("memtier-benchmark", RECORDED / "instruments/memtier-benchmark-1.4.txt"),
    ("oha", RECORDED / "instruments/oha-1.txt"),
    ("sysbench", RECORDED / "instruments/sysbench-0.txt"),
    ("pgbench", RECORDED / "instruments/pgbench-9-17.txt"),
    ("wrk", RECORDED / "instruments/wrk2.txt"),
]
LAYOUT = JsonLayout(
    at="/results/*", name="/cmd", value="/seconds", unit="s", params={"threads": "/threads"}, facts={"CPU": "/host/cpu"}
)
TABLE = "run,threads,value,unit\na,1,10,ms\na,1,30,ms\nb,1,12,ms\n"
# A benchmark of Criterion in its folder.
SMALL = "sum/iter/64"


def read(name: str | None, *files: Path) -> list[Benchmark]:
    """Return the benchmarks of files."""
    return read_all(name, *files).benchmarks


def read_all(name: str | None, *files: Path, strict: bool = False) -> registry.ImportedFiles:
    """Return what files hold, by the layout where the format has one."""
    reading = registry.read(name, *files, options=LAYOUT if name == "json" else None, strict=strict)
    if name and not reading.left_out:  # whatever is read by name in some test would be tried without it too
        row = READERS[name]
        assert all(file.is_dir() or ForeignFile(file, row).may_hold(row.signs) for file in files)
    return reading


def text_of(name: str) -> str:
    """Return what an instrument wrote; of Criterion the samples of a benchmark."""
    if name == "csv":
        return TABLE
    return (FILES[name] / SMALL / "new/sample.json" if name == "criterion" else FILES[name]).read_text()


def place_of(name: str, folder: Path) -> tuple[Path, Path]:
    """Return the file to write such a text to, and what is read then."""
    if name != "criterion":
        return folder / "given.txt", folder / "given.txt"
    shutil.copytree(FILES[name] / SMALL, folder / "one", dirs_exist_ok=True)
    return folder / "one/new/sample.json", folder / "one"


def file_of(name: str, folder: Path) -> Path:
    """Return the recorded file of an instrument, or a table in the folder."""
    return FILES.get(name) or given(folder, TABLE, "table.csv")


def given(folder: Path, text: str, name: str = "given.txt") -> Path:
    """Write a text into a file."""
    file = folder / name
    file.write_text(text)
    return file


def result(
    forks: Any, unit: str = "ms/op", mode: str = "ss", params: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a benchmark of JMH; `forks` are its iterations, or bins where the mode is sample."""
    data = "rawDataHistogram" if mode == "sample" else "rawData"
    metric = {"score": 1.0, "scoreError": "NaN", "scoreUnit": unit, data: forks}
    document = {"jmhVersion": "1.37", "benchmark": "a.b.Sum.run", "mode": mode, "primaryMetric": metric}
    return {**document, **({"params": params} if params else {}), "secondaryMetrics": {"x": {"y": "z"}}, **more}


def written(folder: Path, *results: Any) -> Path:
    """Write a result file of JMH."""
    return given(folder, json.dumps(results), "jmh.json")


def timed(command: str, times: Any, **more: Any) -> dict[str, Any]:
    """Return a command of hyperfine."""
    return {"command": command, "times": times, **more}


def exported(folder: Path, *every: dict[str, Any], name: str = "hyperfine.json") -> Path:
    """Write a result file of hyperfine."""
    return given(folder, json.dumps({"results": every}), name)
