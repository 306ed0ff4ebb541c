"""Files that nobody's instrument wrote: each is read, or refused in one message, in bounded memory."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark_values import summarize_benchmark
from scalograph.exchange.readers.registry import read
from scalograph.study.reader_names import READERS
from tests.kit.sources import ROOT
from tests.unit.exchange.test_readers import HOME, RECORDED, TABLE

TEXTS = {name: HOME / path for name, path in {**RECORDED, "jmh": "jmh-fork-join.json"}.items()}
# In place of a number of the file.
NUMBERS = ("9" * 400, "1e999", "-1", "NaN", "Infinity", "1e-320", "0", "null", '"x"', "true", "[]", "{}", "")
_NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")
_PLACES = 6


def written(name: str) -> str:
    """What its instrument wrote; of Criterion the samples."""
    if name == "csv":
        return TABLE
    return (TEXTS[name] / "sum/iter/64/new/sample.json" if name == "criterion" else TEXTS[name]).read_text()


def changed(text: str) -> Iterator[str]:
    """The text cut, twice, with each of its parts twice, and with each of some numbers replaced by something else."""
    step = max(1, len(text) // 20)
    yield from (text[:end] for end in range(0, len(text), step))
    yield from (text * 2, re.sub(r"(?m)^(.*)$", r"\1\n\1", text), re.sub(r'("\w+":\s*[^,{}\[\]]+)', r"\1,\1", text))
    places = list(_NUMBER.finditer(text))
    for place in places[:: max(1, len(places) // _PLACES)]:
        yield from (f"{text[: place.start()]}{other}{text[place.end() :]}" for other in NUMBERS)


def placed(folder: Path, name: str) -> tuple[Path, Path]:
    """A file to write to, and what is read."""
    if name != "criterion":
        return folder / "given.txt", folder / "given.txt"
    shutil.copytree(TEXTS[name] / "sum/iter/64", folder / "one")
    return folder / "one" / "new" / "sample.json", folder / "one"


@pytest.mark.parametrize("name", READERS)
def test_a_changed_file_is_read_or_refused_in_one_message(tmp_path: Path, name: str) -> None:
    file, source = placed(tmp_path, name)
    read_ones = refused = 0
    for text in changed(written(name)):
        file.write_text(text)
        try:
            every = read(name, source)
        except StudyError as error:
            (problem,) = error.problems
            assert problem.found and problem.expected and len(str(problem)) < 800, text
            refused += 1
        else:
            assert every and all(isfinite(x) and x >= 0 for one in every for fork in one.forks for x in fork.values)
            assert all(len(str(summarize_benchmark(one, 0.95))) < 4000 for one in every[:1]), text
            read_ones += 1
    assert read_ones > 2 and refused > 5


LARGE = """
import resource
from pathlib import Path
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from scalograph.errors import StudyError
from scalograph.exchange.readers.registry import read

def given(name, *parts):
    file = Path("given")
    file.write_text("".join(parts))
    try:
        print(name, len(read(name, file)))
    except StudyError as error:
        (problem,) = error.problems
        print(name, problem)

n = 200_000
keys = [f'"{i}":1,' for i in range(n)]
given("gobench", "BenchmarkX 1 1 ns/op\\n" * n)
given("gobench", "ab\\x0b" * (5 * n))
given("gobench", "BenchmarkX", "".join(f"/{i:x}=b" for i in range(120)), " 1 1 ns/op\\n")
given("csv", "value,unit," + ",".join(f"p{i}" for i in range(900)) + "\\n", *(f"1,s,{i}\\n" for i in range(n // 4)))
given("csv", "value,unit,p\\n", *(f"1,s,{i}\\n" for i in range(n // 4)))
given("csv", "value,unit,response\\n1,s,a\\n", *(f"1,bytes,{i}\\n" for i in range(n // 4)))
given("hyperfine", '{"results": [{"command": "x", "times": [1.0], "exit_codes": [', '"x",' * n, '"x"]}]}')
given("hyperfine", '{"results": [{"command": "x", "times": [1.0], "parameters": {', *keys, '"x":1}}]}')
given("oha", '{"summary": {"total": 1}, "statusCodeDistribution": {', *(f'"{i}":"x",' for i in range(n)), '"x":1}}')
given("k6", '{"metrics": {', *keys, '"x":1}}')
given("k6", '{"metrics": {"http_reqs":{', *keys, '"count":1,"rate":1}}}')
given("jmh", "[" + '{"benchmark":1},' * (n // 4) + "{}]")
given("google-benchmark", '{"benchmarks": [' + '{"name":1},' * (n // 4) + "{}]}")
given("pyperf", '{"version": "1.0", "benchmarks": [{"runs": [' + '{"values":["x"]},' * (n // 4) + "{}]}]}")
given("sysbench", "sysbench 1\\n" * n)
given("wrk", "Running 1s test @ x\\n" * (n // 4))
# What getrusage tells begins with what the parent had.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
SAID = (
    "gobench given: more than 10000 lines",
    "gobench given: no line of a benchmark",
    "gobench given: X: 121 params, expected at most 64",
    "csv given: 900 columns of params, expected at most 64",
    "csv given:10002: more than 10000 benchmarks",
    "csv 1",
    "hyperfine given: results[0].exit_codes[0]",
    "hyperfine given: results[0].parameters",
    "oha given: statusCodeDistribution",
    "k6 given: metrics",
    "k6 1",
    "jmh given: [0].benchmark",
    "google-benchmark given: benchmarks[0].name",
    "pyperf given: benchmarks[0].runs[0].values[0]",
    "sysbench given: more than 10000 outputs",
    "wrk given: more than 10000 outputs",
)


def test_a_large_file_of_nothing_fills_no_memory(tmp_path: Path) -> None:
    """Of 1 to 4 MB each: some took a hundred times that."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    argv = [sys.executable, "-c", LARGE]
    done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *said, n_kib = done.stdout.splitlines()
    assert int(n_kib) < 250 << 10
    assert len(said) == len(SAID)
    for line, expected in zip(said, SAID, strict=True):
        assert line.startswith(expected) and len(line) < 800


def test_a_pipe_in_a_folder_of_criterion_is_not_waited_for(tmp_path: Path) -> None:
    for name, other in (("a", "benchmark.json"), ("b", "sample.json")):
        home = tmp_path / name / "new"
        shutil.copytree(TEXTS["criterion"] / "sum/iter/64/new", home)
        (home / other).unlink()
        os.mkfifo(home / other)
    with pytest.raises(StudyError, match="no benchmark"):
        read("criterion", tmp_path / "a")
    with pytest.raises(StudyError, match=r"sample\.json: no plain file"):
        read("criterion", tmp_path / "b")
    (tmp_path / "b" / "new" / "sample.json").unlink()
    (tmp_path / "b" / "new" / "sample.json").symlink_to("/dev/zero")
    with pytest.raises(StudyError, match=r"sample\.json: no plain file"):
        read("criterion", tmp_path / "b")
