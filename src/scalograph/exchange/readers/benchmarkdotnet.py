"""Reports of BenchmarkDotNet (`--exporters json`): the iterations of each launch, in seconds per operation."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import (
    MEAN_ONLY,
    Amount,
    ForeignFile,
    ForeignPart,
    ReadValue,
    Text,
    pick_facts,
)

_FACTS = {
    "ProcessorName": "CPU", "ProcessorCount": "CPUs", "LogicalCoreCount": "CPUs", "OsVersion": "OS",
    "RuntimeVersion": "runtime", "ClrVersion": "runtime", "Architecture": "architecture",
    "DotNetCliVersion": ".NET SDK", "BenchmarkDotNetVersion": "BenchmarkDotNet", "Configuration": "build",
}  # fmt: skip
_PARAM = re.compile(r"(?:^|&)([A-Za-z_]\w{0,80})=(.*?)(?=&[A-Za-z_]\w{0,80}=|$)")
# An id that a job without a name gets anew in each process.
_JOB_ID = re.compile(r"Job-[A-Z]{6}")
# Without overhead and outliers, as the tool counts; else as measured. Until release 0.11 the mode said it.
_COUNTED = (("Workload", "Result"), ("Result", ""), ("Workload", "Actual"), ("MainTarget", ""))


class _Measurement(ForeignPart):
    mode: Text = Field(alias="IterationMode")
    stage: Text = Field(default="", alias="IterationStage")
    launch: int = Field(default=1, alias="LaunchIndex")
    n: Amount = Field(alias="Operations")
    ns: ReadValue = Field(alias="Nanoseconds")


class _Statistics(ForeignPart):
    mean: ReadValue = Field(alias="Mean")
    values: Annotated[list[ReadValue], FailFast()] = Field(default=[], alias="OriginalValues")


class _Report(ForeignPart):
    info: Text = Field(default="", alias="DisplayInfo")
    namespace: Text | None = Field(default=None, alias="Namespace")
    type: Text = Field(alias="Type")
    method: Text = Field(alias="Method")
    params: Text = Field(default="", alias="Parameters")
    statistics: _Statistics | None = Field(default=None, alias="Statistics")
    measurements: Annotated[list[_Measurement], FailFast()] = Field(default=[], alias="Measurements")


_ENTRY = TypeAdapter(_Report)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of a report in order; one without statistics failed."""
    host = file.pick("HostEnvironmentInfo")
    every = host.items() if isinstance(host, dict) else ()
    plain = {key: value.get("Value") if isinstance(value, dict) else value for key, value in every}
    facts = pick_facts(plain, _FACTS)
    is_doubted = {"a debugger was attached": plain.get("HasAttachedDebugger") is True,
                  "a debug build": facts.get("build", "").upper() == "DEBUG"}  # fmt: skip
    doubts = tuple(doubt for doubt, holds in is_doubted.items() if holds)
    return file.each(file.entries(_ENTRY, "Benchmarks"), lambda _, case: _benchmark(case, facts, doubts))


def _benchmark(case: _Report, facts: Mapping[str, str], doubts: tuple[str, ...]) -> Benchmark:
    name = ".".join(filter(None, (case.namespace, case.type, case.method)))
    job = case.info.partition(": ")[2].partition(" [")[0]
    settings = _JOB_ID.sub("", job.replace("(", " ", 1).removesuffix(")")).strip()
    benchmark = Benchmark(
        name, "operation", dict(_PARAM.findall(case.params)), "s", (), warnings=doubts,
        facts={**facts, **({"job": settings[:400]} if settings else {})},
    )  # fmt: skip
    if case.statistics is None:
        return fail(benchmark, "no statistics: no iteration ended")
    for kind in _COUNTED:
        launches: dict[int, list[float]] = {}
        for x in case.measurements:
            if (x.mode, x.stage) == kind:
                launches.setdefault(x.launch, []).append(x.ns / x.n)
        if launches:
            return replace(benchmark, forks=tuple(fork(values, 1e-9) for values in launches.values()))
    values = case.statistics.values or [case.statistics.mean]
    warnings = doubts if case.statistics.values else (*doubts, MEAN_ONLY)
    return replace(benchmark, forks=(fork(values, 1e-9),), warnings=warnings)
