"""Results of Criterion in target/criterion: a folder for each benchmark, one process."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import (
    MAX_BENCHMARKS,
    ForeignFile,
    ForeignPart,
    PartError,
    ReadValue,
    Text,
    TooMuchError,
)

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


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of a folder in order of their names: time per iteration, one fork.

    The folder is target/criterion, or that of one group or one benchmark in it.
    """
    if not file.path.is_dir():
        raise file.refusal("", "no folder")
    homes = sorted(islice(_homes(file.path), MAX_BENCHMARKS + 1))
    if len(homes) > MAX_BENCHMARKS:
        raise file.refusal("", f"more than {MAX_BENCHMARKS} benchmarks", fix="name the folder of a group")
    if not homes:
        raise file.refusal("", f"no benchmark ({_NEW}/benchmark.json)")
    parts = ((str(home.relative_to(file.path)), home) for home in homes)
    return file.each(parts, lambda _, home: _benchmark(file, home))


def _homes(folder: Path) -> Iterator[Path]:
    """Yield folders of benchmarks; links are not followed, pipes not waited for."""
    for file in folder.glob(f"**/{_NEW}/benchmark.json"):
        if file.is_file() and not any(part.is_symlink() for part in (file, file.parent)):
            yield file.parent


def _benchmark(folder: ForeignFile, home: Path) -> Benchmark:
    if (file := home / "sample.json").is_symlink() or not file.is_file():
        raise PartError("sample.json is no plain file")
    try:
        names = folder.open_below(home / "benchmark.json").document(_NAMES)
        sample = folder.open_below(file).document(_SAMPLE)
    except TooMuchError:
        raise
    except StudyError as error:
        raise PartError(f"{error.problems[0].where}: {error.problems[0].found}") from error
    if len(sample.iters) != len(sample.times):
        raise PartError(f"sample.json has {len(sample.iters)} iters and {len(sample.times)} times")
    name = "/".join(part for part in (names.group_id, names.function_id) if part)
    params = {} if names.value_str is None else {"value": names.value_str}
    shots = [took / n for took, n in zip(sample.times, sample.iters, strict=True)]
    return Benchmark(name, "iteration", params, "s", (fork(shots, 1e-9),))
