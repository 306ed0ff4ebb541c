"""Results of fio, JSON (`--output-format=json`, `json+`) or printed: a job is a fork, its score the I/Os per second.

Processes of one job run at once, so their I/Os are added up, as --group_reporting does.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers.foreign_file import (
    MAX_BENCHMARKS,
    ForeignFile,
    ForeignPart,
    ReadValue,
    Text,
    check_part,
    first_group,
    limit_entries,
)
from scalograph.exchange.readers.load_summary import Count, right_rate

_PARAMS = ("rw", "bs", "iodepth", "numjobs", "rate", "rate_iops")
_MOST_OPTIONS = 200
_MOST_FACTS = 20
_KINDS = ("read", "write", "trim")
_VERSION = re.compile(r"^fio-([\w.-]{1,40})$", re.MULTILINE)
_JOB = re.compile(r"^(\S.{0,200}?): \(groupid=([0-9]{1,9}), jobs=([0-9]{1,9})\): err= *([0-9]{1,9})\b.*$", re.MULTILINE)
_SETUP = re.compile(
    r"^(\S.{0,200}?): \(g=[0-9]+\): rw=(\w+), bs=(?:\(R\) )?([^\s-]+)-.*, ioengine=(\w+), iodepth=([0-9]+)$",
    re.MULTILINE,
)
_SIDE = re.compile(
    r"^ +(read|write|trim) *: (?:io=.*, )?(?:IOPS|iops)=([0-9]{1,18}(?:\.[0-9]{1,9})?)([kM]?),(.*)$", re.MULTILINE
)
_RUNTIME = re.compile(r"(?:/|runt= *)([0-9]{1,15})msec")
_FACTOR = {"": 1.0, "k": 1e3, "M": 1e6}

_Options = Annotated[dict[Text, Text], limit_entries(_MOST_OPTIONS)]


class _Side(ForeignPart):
    iops: ReadValue = 0.0
    # Milliseconds.
    runtime: ReadValue = 0.0
    dropped: Count = Field(default=0, alias="drop_ios")


class _Job(ForeignPart):
    name: Text = Field(alias="jobname")
    group: int = Field(default=0, alias="groupid")
    error: Annotated[int, Field(ge=-9999, le=9999)] = 0
    # Those that `continue_on_error` went on after.
    n_errors: Count = Field(default=0, alias="total_err")
    options: _Options = Field(default={}, alias="job options")
    read: _Side = _Side()
    write: _Side = _Side()
    trim: _Side = _Side()


_ENTRY = TypeAdapter(_Job)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the jobs of a file, reads and writes apart; a job with an error failed."""
    if '"fio version"' in file.head or file.head.lstrip().startswith("{"):
        jobs = [*file.entries(_ENTRY, "jobs")]
        settings = file.pick("global options")
        settings = [*settings.items()][:_MOST_OPTIONS] if isinstance(settings, dict) else []
        common = {key[:200]: text for key, text in settings if isinstance(text, str)}
        version = str(file.pick("fio version") or "").removeprefix("fio-")
    else:
        jobs, common, version = [*_read_text(file)], {}, first_group(_VERSION, file.text)
    common = {"fio": version, **common} if version else common
    same: dict[object, list[_Job]] = {}
    for _, job in jobs:
        same.setdefault((job.name, job.group, tuple(job.options.items())), []).append(job)
    parts = [(f'job "{every[0].name}"', every) for every in same.values()]
    for benchmarks in file.each(parts, lambda _, every: [*_benchmarks(every, common)]):
        yield from benchmarks


def _read_text(file: ForeignFile) -> Iterator[tuple[str, _Job]]:
    """Yield the jobs of printed results, of which the first lines tell the settings."""
    setups = {match[1]: match.groups()[1:] for match in islice(_SETUP.finditer(file.text), MAX_BENCHMARKS)}
    outputs = [*file.outputs(_JOB)]
    processes = Counter[tuple[str, str]]()
    for _, output in outputs:
        processes[_job(output)[:2]] += int(_job(output)[2])

    def read_one(where: str, output: str) -> tuple[str, _Job]:
        name, group, _, error = _job(output)
        sides = dict[str, dict[str, float]]()
        for kind, text, factor, rest in _SIDE.findall(output):
            runtime = float(first_group(_RUNTIME, rest) or 0)
            sides[kind] = {"iops": float(text) * _FACTOR[factor], "runtime": runtime}
        options = dict(zip(("rw", "bs", "ioengine", "iodepth"), setups.get(name, ()), strict=False))
        options["numjobs"] = str(processes[name, group])
        job = {"jobname": name, "groupid": int(group), "error": int(error), "job options": options, **sides}
        return where, check_part(job, _ENTRY)

    return file.each(outputs, read_one)


def _job(output: str) -> tuple[str, str, str, str]:
    """Return name, group, number of processes and error of a printed job."""
    match = _JOB.match(output)
    return (match[1], match[2], match[3], match[4]) if match else ("", "0", "1", "0")


def _benchmarks(same: Sequence[_Job], common: Mapping[str, str]) -> Iterator[Benchmark]:
    """Yield the reads, writes and trims of the processes of a job."""
    options = {**common, **same[0].options}
    params = {name: options[name] for name in _PARAMS if name in options}
    facts = [(key, text[:200]) for key, text in options.items() if key not in (*_PARAMS, "name")][:_MOST_FACTS]
    right = [job for job in same if not job.error]
    errors = Counter(f"processes ended by error: {os.strerror(job.error)}" for job in same if job.error)
    n_errors = sum(job.n_errors for job in right)
    for kind in _KINDS:
        sides = [side for job in right if (side := getattr(job, kind)).iops]
        run = Benchmark(f"{same[0].name} {kind}", "I/O", params, "1/s", (), facts=dict(facts))
        if not right and kind in _kinds_of(options.get("rw", "read")):
            yield right_rate(run, 0.0, None, errors)
        elif sides:
            longest = max(side.runtime for side in sides) or 1.0
            rate = sum(side.iops * (side.runtime / longest or 1.0) for side in sides)
            wrong = {**errors, "I/O errors": n_errors, "I/Os dropped": sum(side.dropped for side in sides)}
            yield right_rate(run, rate, None, wrong)


def _kinds_of(rw: str) -> Sequence[str]:
    """Return the kinds of I/O that a job is asked for."""
    return [kind for kind in _KINDS if kind in rw] or _KINDS[:2]
