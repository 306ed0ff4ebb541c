"""Run reports of ReFrame: each performance variable of a test is a benchmark, each of its runs a fork."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fail, fork, join_same
from scalograph.exchange.readers.foreign_file import (
    ForeignFile,
    ForeignPart,
    PartError,
    ReadValue,
    Text,
    check_part,
    pick_facts,
)
from scalograph.text.units import rate_or_time

_PARAM = re.compile(r" %([\w.]+)=(\S+)")
_FACTS = {
    "system": "system", "partition": "partition", "environ": "environment", "environment": "environment",
    "num_tasks": "tasks", "num_tasks_per_node": "tasks per node", "num_cpus_per_task": "CPUs per task",
}  # fmt: skip
_REPORT = {"hostname": "host", "version": "ReFrame"}
_VALUE = TypeAdapter(ReadValue)


class _Variable(NamedTuple):
    """A performance variable: what it is called, its value and unit, and whether it missed its reference."""

    name: str
    value: Any
    unit: str
    is_missed: bool = False


class _TestCase(ForeignPart):
    name: Text
    title: Text | None = Field(default=None, alias="display_name")
    result: Text | None = None
    reason: Any = Field(default=None, alias="fail_reason")
    values: dict[Text, Annotated[list[Any], Field(min_length=5)]] | None = Field(default=None, alias="perfvalues")
    # Until release 4.6.
    variables: list[dict[Text, Any]] | None = Field(default=None, alias="perfvars")
    params: dict[Text, Any] = Field(default={}, alias="check_params")


class _Session(ForeignPart):
    cases: Annotated[list[dict[str, Any]], FailFast()] = Field(alias="testcases")


_ENTRY, _RUN = TypeAdapter(_TestCase), TypeAdapter(_Session)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the test cases of a report; one that failed before its values were checked has none."""
    session = pick_facts(file.pick("session_info"), _REPORT)
    parts = ((f"{run}.testcases[{i}]", part) for run, every in file.entries(_RUN, "runs")
             for i, part in enumerate(every.cases))  # fmt: skip
    checked = file.each(parts, lambda where, part: (where, check_part(part, _ENTRY), pick_facts(part, _FACTS)))
    cases = [*file.limit(checked, "test cases")]
    usual: dict[str, dict[str, _Variable]] = {}
    for _, case, _ in cases:
        usual.setdefault(_test(case)[0], {}).update({variable.name: variable for variable in _variables(case)})
    runs = (part for where, case, facts in cases for part in _runs(where, case, session | facts, usual[_test(case)[0]]))
    yield from join_same(file.each(runs, lambda _, run: _benchmark(*run)))


def _test(case: _TestCase) -> tuple[str, dict[str, str]]:
    """Return the name and the params of a test."""
    title = case.title or case.name
    named = dict(_PARAM.findall(title)) or {name: str(value)[:200] for name, value in case.params.items()}
    return title.partition(" %")[0], named


def _variables(case: _TestCase) -> list[_Variable]:
    new = [_Variable(key.rpartition(":")[2], value[0], str(value[4]), value[5:] == ["fail"])
           for key, value in (case.values or {}).items()]  # fmt: skip
    old = [_Variable(str(v.get("name")), v.get("value"), str(v.get("unit"))) for v in case.variables or ()]
    return new or old


def _runs(
    where: str, case: _TestCase, facts: Mapping[str, str], usual: Mapping[str, _Variable]
) -> Iterator[tuple[str, tuple[Benchmark, _Variable | None, str]]]:
    """Yield each variable of a test, or those that it has elsewhere in the file where it failed."""
    name, params = _test(case)
    is_failed = (case.result or "").startswith("fail")
    run = Benchmark(name, "", params, "s", (), facts=facts)
    reason = " ".join(str(case.reason or "it failed").split())[:200]
    if variables := _variables(case):
        yield from ((where, (replace(run, name=f"{name}:{v.name}"), v, reason if is_failed else "")) for v in variables)
    elif is_failed:
        for variable in usual.values() or (None,):
            called = f"{name}:{variable.name}" if variable else name
            empty = variable._replace(value=None) if variable else None
            yield where, (replace(run, name=called), empty, reason)
    else:
        yield where, (run, None, "")


def _benchmark(run: Benchmark, variable: _Variable | None, reason: str) -> Benchmark:
    kind = rate_or_time(variable.unit) if variable else ("s", 1.0)
    if kind is None or (variable is None and not reason):
        unit = f'in unit "{variable.unit[:40]}" is neither a time nor a rate' if variable else "without a value"
        raise PartError(f"{run.name[:80]} {unit}")
    run = replace(run, unit=kind[0], mode=variable.name if variable else "")
    if variable is None or variable.value is None:
        return fail(run, reason or "no value")
    shot = fork([check_part(variable.value, _VALUE)], kind[1])
    return replace(run, forks=(shot,), warnings=("misses its reference",) if variable.is_missed else ())
