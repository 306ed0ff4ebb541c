"""Results of pyperf (`-o`): each of its worker processes is a fork."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, PartError, ReadValue, Text, pick_facts

_FACTS = {
    "hostname": "host", "cpu_model_name": "CPU", "cpu_count": "CPUs", "python_version": "Python",
    "platform": "platform", "cpu_config": "CPU settings", "cpu_affinity": "CPUs used",
}  # fmt: skip


class _Worker(ForeignPart):
    """A process; one that only calibrated loops has no values."""

    values: Annotated[list[ReadValue], FailFast()] = Field(default=[])


class _Timing(ForeignPart):
    metadata: dict[Text, Any] = Field(default={})
    runs: Annotated[list[_Worker], Field(min_length=1), FailFast()]


_TIMING = TypeAdapter(_Timing)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of a result file in order, without warm-up values and calibration."""
    if (version := file.pick("version")) != "1.0":
        raise file.refusal("version", f"Input should be '1.0', not {str(version)[:40]!r}")
    common = file.pick("metadata")
    shared = common if isinstance(common, dict) else {}
    return file.each(file.entries(_TIMING, "benchmarks"), lambda _, part: _benchmark(part, shared))


def _benchmark(timing: _Timing, shared: Mapping[str, Any]) -> Benchmark:
    metadata = {**shared, **timing.metadata}
    name, unit = str(metadata.get("name") or "benchmark")[:1000], str(metadata.get("unit") or "second")[:40]
    if unit != "second":
        raise PartError(f'{name[:80]} in unit "{unit}" is no time')
    forks = tuple(fork(worker.values) for worker in timing.runs if worker.values)
    if not forks:
        raise PartError(f"{name[:80]} without a value")
    return Benchmark(name, "value", {}, "s", forks, facts=pick_facts(metadata, _FACTS))
