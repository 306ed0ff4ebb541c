"""Results of memtier_benchmark, JSON (`--json-out-file`) or printed: a run is a fork, by operations per second."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, join_same
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, ReadValue, Text, check_part, first_group
from scalograph.exchange.readers.load_summary import right_rate

# Of several runs (-x) it prints the best, the worst and the mean, and with --print-all-runs each.
_RUN = re.compile(r"ALL STATS|RUN #[0-9]{1,9} RESULTS|AGGREGATED AVERAGE RESULTS \([0-9]{1,9} runs\)")
_SECTION = re.compile(rf"^({_RUN.pattern}|(?:BEST|WORST) RUN RESULTS)$", re.MULTILINE)
_MEAN = "AGGREGATED"
_ONLY = "the mean of several runs: no interval; give --print-all-runs"
_TOTALS = re.compile(r"^Totals +([0-9.]{1,30}) +(\S{1,30}) +(\S{1,30}) ", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
_PRINTED = {
    "threads": re.compile(r"^([0-9]{1,9}) +Threads$", re.MULTILINE),
    "connections": re.compile(r"^([0-9]{1,9}) +Connections per thread$", re.MULTILINE),
}
_PARAMS = {
    "threads": "threads", "clients": "connections", "pipeline": "pipeline", "data_size": "size", "ratio": "ratio",
}  # fmt: skip
_FACTS = ("protocol", "tls", "key_pattern", "key_maximum", "rate_limit", "data_size_range")


class _Totals(ForeignPart):
    ops: ReadValue = Field(alias="Ops/sec")
    hits: ReadValue = Field(default=0.0, alias="Hits/sec")
    misses: ReadValue = Field(default=0.0, alias="Misses/sec")
    errors: ReadValue = Field(default=0.0, alias="Connection Errors")


_TOTAL = TypeAdapter(_Totals)
_DOCUMENT = TypeAdapter(dict[Text, Any])
_Parts = tuple[Sequence[tuple[str, Any]], Mapping[str, str], Mapping[str, str]]


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file; the mean of several only where they are not there themselves."""
    is_json = file.head.lstrip().startswith("{")
    parts, params, facts = _documents(file) if is_json else _outputs(file)
    names = {name for name, _ in parts if not name.startswith(_MEAN)} or {name for name, _ in parts}
    run = Benchmark("memtier_benchmark", "operations", params, "1/s", (), facts=facts)
    runs = [(name, part) for name, part in parts if name in names]
    yield from join_same(
        file.each(file.limit(runs, "runs"), lambda name, part: _benchmark(run, name, check_part(part, _TOTAL)))
    )


def _documents(file: ForeignFile) -> _Parts:
    """Return the totals of each run, and the settings."""
    document = file.document(_DOCUMENT)
    settings = document.get("configuration")
    settings = settings if isinstance(settings, dict) else {}
    params = {name: str(settings[key])[:200] for key, name in _PARAMS.items() if key in settings}
    facts = {key: str(settings[key])[:200] for key in _FACTS if settings.get(key) not in (None, "", "0:0", 0)}
    every = [(name, part) for name, part in document.items() if _RUN.fullmatch(name)]
    if not every:
        raise file.refusal("", 'no "ALL STATS"')
    return [(name, part.get("Totals") if isinstance(part, dict) else part) for name, part in every], params, facts


def _outputs(file: ForeignFile) -> _Parts:
    """Return the totals of each printed run, and the settings."""
    parts = []
    for where, output in file.outputs(_SECTION):
        name, total = first_group(_SECTION, output), _TOTALS.search(output)
        if total and _RUN.fullmatch(name):
            values = zip(("Ops/sec", "Hits/sec", "Misses/sec"), total.groups(), strict=True)
            parts.append((name, {key: float(text) for key, text in values if _NUMBER.fullmatch(text)}))
        elif not total:
            file.leave_out(where, "a run without its totals")
    params = {name: text for name, pattern in _PRINTED.items() if (text := first_group(pattern, file.text))}
    return parts, params, {}


def _benchmark(run: Benchmark, name: str, totals: _Totals) -> Benchmark:
    warnings = [_ONLY] if name.startswith(_MEAN) else []
    warnings += ["every get missed: the keys were not there"] if totals.misses and not totals.hits else []
    return right_rate(replace(run, warnings=tuple(warnings)), totals.ops, None, {"connection errors": totals.errors})
