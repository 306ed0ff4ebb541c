"""Results of Criterion in target/criterion: a folder for each benchmark, one process. Executes nothing."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignPart, ReadValue, Text, document

_KIND = "a folder of Criterion (target/criterion)"
_FIX = "make it anew with: cargo bench"
# Written by the last run; `base` and saved baselines lie beside it.
_NEW = "new"


class _Names(ForeignPart):
    group_id: Text
    function_id: Text | None = None
    value_str: Text | None = None


class _Sample(ForeignPart):
    """sample.json: iterations of each sample, and the nanoseconds that it took."""

    iters: Annotated[list[Annotated[float, Field(gt=0, allow_inf_nan=False)]], Field(min_length=1), FailFast()]
    times: Annotated[list[ReadValue], Field(min_length=1), FailFast()]


_NAMES, _SAMPLE = TypeAdapter(_Names), TypeAdapter(_Sample)


def read(file: Path) -> list[Benchmark]:
    """Read the benchmarks of a folder in order of their names: time per iteration, one fork.

    The folder is target/criterion, or that of one group or one benchmark in it.
    """
    if not file.is_dir():
        raise StudyError.one(str(file), "no folder", _KIND, _FIX)
    homes = sorted(islice(_homes(file), MAX_BENCHMARKS + 1))
    if len(homes) > MAX_BENCHMARKS:
        raise StudyError.one(str(file), f"more than {MAX_BENCHMARKS} benchmarks", _KIND, "name the folder of a group")
    if not homes:
        raise StudyError.one(str(file), f"no benchmark ({_NEW}/benchmark.json)", _KIND, _FIX)
    return [_benchmark(home) for home in homes]


def _homes(folder: Path) -> Iterator[Path]:
    """Yield folders of benchmarks; links are not followed, pipes not waited for."""
    for file in folder.glob(f"**/{_NEW}/benchmark.json"):
        if file.is_file() and not any(part.is_symlink() for part in (file, file.parent)):
            yield file.parent


def _benchmark(home: Path) -> Benchmark:
    names = document(home / "benchmark.json", _NAMES, _KIND, _FIX)
    if (file := home / "sample.json").is_symlink() or not file.is_file():
        raise StudyError.one(str(file), "no plain file", _KIND, _FIX)
    sample = document(file, _SAMPLE, _KIND, _FIX)
    if len(sample.iters) != len(sample.times):
        lengths = f"{len(sample.iters)} iters and {len(sample.times)} times"
        raise StudyError.one(str(file), lengths, "as many of both", _FIX)
    name = "/".join(part for part in (names.group_id, names.function_id) if part)
    params = {} if names.value_str is None else {"value": names.value_str}
    shots = [took / n for took, n in zip(sample.times, sample.iters, strict=True)]
    return Benchmark(name, "iteration", params, "s", (fork(shots, 1e-9),))
