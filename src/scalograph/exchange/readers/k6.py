"""Summaries of k6: one run, so one fork; successful requests per second, or iterations where there is no HTTP.

Three forms: `--summary-export`, the object that handleSummary gets, and the one that it gets since k6 1.5.
"""

from collections.abc import Iterator, Mapping
from sys import float_info
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, ReadValue, Text, limit_entries
from scalograph.protocol.plain import is_number

_MOST_NAMED = 3
_Values = Mapping[str, Any]


class _Listed(ForeignPart):
    name: Text
    values: dict[Text, Any]


class _Results(ForeignPart):
    metrics: Annotated[list[_Listed], Field(max_length=10_000)]


class _State(ForeignPart):
    ms: ReadValue = Field(default=0.0, alias="testRunDurationMs")


class _Config(ForeignPart):
    duration: ReadValue | None = None


class _Written(ForeignPart):
    """`metrics` by name, perhaps with their values one step deeper, or `results` with a list of them."""

    metrics: Annotated[dict[Text, dict[Text, Any]], limit_entries(10_000)] = Field(default={})
    results: _Results | None = None
    state: _State = _State()
    config: _Config = _Config()


_DOCUMENT = TypeAdapter(_Written)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the one run of a file; it failed where no request succeeded."""
    summary = file.document(_DOCUMENT)
    metric = next((name for name in ("http_reqs", "iterations") if _values(summary, name)), "http_reqs")
    asked, failed = _values(summary, metric), _values(summary, "http_req_failed")
    count, seconds = _number(asked.get("count")), summary.config.duration or summary.state.ms / 1000
    # --summary-export has no duration, but the rate over it.
    rate = count / seconds if seconds else _number(asked.get("rate"))
    share = failed.get("rate", failed.get("value", 0.0)) if metric == "http_reqs" else 0.0
    if not count or not rate:
        raise file.refusal(metric, "no count and rate of answers")
    if not is_number(share) or not 0 <= share <= 1:
        raise file.refusal("http_req_failed", f"{str(share)[:40]!r} is no share of requests")
    mode = "requests" if metric == "http_reqs" else "iterations"
    warnings = [f"{share * count:,.0f} of {count:,.0f} requests failed"] if share else []
    warnings += ["no HTTP in it: its rate is of iterations"] if metric != "http_reqs" else []
    warnings += [*_checks(summary), *_thresholds(summary)]
    vus = _values(summary, "vus_max")
    facts = {"VUs": f"{n:g}"} if (n := _number(vus.get("max", vus.get("value")))) else {}
    score = fork([rate * (1 - share)])
    run = Benchmark("k6", mode, {}, "1/s", (score,), facts=facts, warnings=tuple(warnings[:_MOST_NAMED]))
    yield fail(run) if share == 1 else run


def _checks(summary: _Written) -> Iterator[str]:
    """Tell how many checks failed: a wrong answer counts as a request that succeeded."""
    checks = _values(summary, "checks")
    n_right, n_wrong = _number(checks.get("passes")), _number(checks.get("fails"))
    if n_wrong:
        yield f"{n_wrong:,.0f} of {n_right + n_wrong:,.0f} checks failed"
    if n_dropped := _number(_values(summary, "dropped_iterations").get("count")):
        yield f"{n_dropped:,.0f} iterations dropped"


def _thresholds(summary: _Written) -> Iterator[str]:
    """Name the thresholds that were crossed: true in --summary-export, `ok: false` in what handleSummary gets."""
    for name, metric in summary.metrics.items():
        thresholds = metric.get("thresholds")
        for text, state in thresholds.items() if isinstance(thresholds, dict) else ():
            if state is True or (isinstance(state, dict) and state.get("ok") is False):
                yield f"threshold crossed: {name} {text[:60]}"


def _values(summary: _Written, name: str) -> _Values:
    if summary.results:
        return next((metric.values for metric in summary.results.metrics if metric.name == name), {})
    metric = summary.metrics.get(name, {})
    values = metric.get("values", metric)
    return values if isinstance(values, dict) else {}


def _number(value: Any) -> float:
    """Return a number of a summary; 0 for anything else."""
    return float(value) if is_number(value) and 0 <= value <= float_info.max else 0.0
