"""Runs as points for modeling tools: Extra-P, and the columns that `fit` reads."""

import json
from collections.abc import Iterator

from scalograph.errors import StudyError
from scalograph.exchange.export import Columns
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.findings import Findings, Point, PointResponse
from scalograph.protocol.plain import is_number
from scalograph.study.scalars import format_value


def extra_p(table: Table) -> str:
    """Return JSON lines for Extra-P 4: one for each counted run and response.

    Factors whose levels are all numbers are its parameters; others name the call path.

    Raises:
        StudyError: no factor is a number in all of its levels, so nothing can be modeled.
    """
    levels = {name: [t[name] for t in table.configurations] for name in table.study.factors}
    params = [name for name, every in levels.items() if all(is_number(level) for level in every)]
    if not params:
        raise StudyError.one("export", "no factor with numbers as levels", "one, such as threads or size")
    return "".join(f"{json.dumps(line)}\n" for line in _lines(table, params))


def _lines(table: Table, params: list[str]) -> Iterator[dict[str, object]]:
    for sample in samples_by_configuration(table).values():
        params_row = {name: sample.configuration[name] for name in params}
        path = ", ".join(f"{name}={format_value(x)}" for name, x in sample.configuration.items() if name not in params)
        for response in table.study.responses:
            for score in sample.scores(response):
                yield {"params": params_row, "callpath": path or "run", "metric": response, "value": score}


def law_points(findings: Findings) -> Columns:
    """Return a row for each counted run: size `n`, `throughput`, and the levels of its curve.

    Throughput is work per second: of a time, one over it, times n if each worker does the same work.

    Raises:
        StudyError: no curve has numbers along it.
    """
    study = findings.study
    better = next((response.better for response in study.responses if response.name == study.primary), "lower")
    curves = [curve for curve in findings.curves if all(is_number(point.level) for point in curve.points)]
    if not curves:
        raise StudyError.one("export", "no curve along numbers", "a factor such as threads or CPUs")
    groups = list(dict.fromkeys(name for curve in curves for name in curve.group if name not in ("n", "throughput")))
    rows = [
        (point.level, rate, *(curve.group.get(name) for name in groups))
        for curve in curves
        for point in curve.points
        if study.primary in point.responses
        for rate in _rates(point, point.responses[study.primary], better, study.work)
    ]
    return {name: [row[i] for row in rows] for i, name in enumerate(("n", "throughput", *groups))}


def _rates(point: Point, response: PointResponse, better: str, work: str) -> Iterator[float]:
    counted = (score for score, run in zip(response.scores, response.runs, strict=True) if run not in response.left_out)
    per_time = float(point.level) if work == "per-worker" else 1.0
    yield from (score if better == "higher" else per_time / score for score in counted if score > 0)
