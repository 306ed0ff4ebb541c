"""One level of a load: its rate, its response times, what was full, and what is wrong with its runs."""

from collections.abc import Mapping, Sequence
from statistics import fmean, geometric_mean

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings.curves import estimated
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.protocol.response_times import added, quantile
from scalograph.questions.throughput.document import MOST_PARTS, LoadPoint, PartUse
from scalograph.questions.throughput.model_driven import DRIVER_CPU, LATE, QUANTILES, DrivenRun
from scalograph.questions.throughput.model_end import Fullness, fullness, spare
from scalograph.questions.throughput.model_wrong import dropped_connections

TOGETHER = {"p99": 0.99, "p99.9": 0.999}
# What runs say, by their names.
Driven = Mapping[str, DrivenRun]


def load_point(table: Table, level: int, sample: Sample, every: Sample, driven: Driven) -> LoadPoint:
    """Tell what is known of a level.

    Args:
        table: the study.
        level: of the factor of the load.
        sample: its runs that count.
        every: all that succeeded, those that break Little's law too.
        driven: what runs say.
    """
    runs = [driven[row.run] for row in sample.rows(primary(table)) if row.run in driven]
    confidence = table.study.protocol.confidence
    n_requests = sum(run.n_requests for run in runs)
    return LoadPoint(
        level=level, rate=estimated(table, sample, primary(table)),
        response=_over_runs([run.response_s for run in runs], confidence),
        quantiles={
            name: _over_runs([run.quantiles_s.get(name) for run in runs], confidence)
            for name in QUANTILES
            if any(name in run.quantiles_s for run in runs)
        },
        together=_together(runs), errors=sum(run.n_errors for run in runs) / n_requests if n_requests else 0.0,
        first_wrong=next((run.first_wrong for run in runs if run.first_wrong), ""),
        late=_mean([run.late for run in runs]), driver=_mean([run.driver for run in runs]),
        parts=used_parts(fullness(runs)), n=len(sample.rows(primary(table))),
        n_unlawful=sum(row.run in driven and not driven[row.run].is_lawful for row in every.every),
        dropped=dropped_connections(runs),
        n_unchecked=sum(not run.is_checked for run in runs),
        driver_limits=_limits(runs),
    )  # fmt: skip


def _together(runs: Sequence[DrivenRun]) -> dict[str, float]:
    """Quantiles of all answers, where all runs told their histograms."""
    counts = added(run.counts for run in runs) if runs and all(run.counts for run in runs) else {}
    found = {name: quantile(counts, share) for name, share in TOGETHER.items()}
    return {name: value for name, value in found.items() if value is not None}


def rates_of(table: Table, sample: Sample) -> dict[int, float]:
    """The rate in each block; a run that was made again may stand in the block of another."""
    found: dict[int, list[float]] = {}
    name = primary(table)
    for block, rate in zip(sample.blocks(name), sample.scores(name), strict=True):
        found.setdefault(block, []).append(rate)
    return {block: geometric_mean(rates) if min(rates) > 0 else 0.0 for block, rates in found.items()}


def used_parts(parts: Sequence[Fullness]) -> list[PartUse]:
    """The parts, as findings hold them."""
    return [
        PartUse.model_validate(
            {"kind": one.kind, "names": [*one.names[:MOST_PARTS]], "share": one.share, "used": one.used,
             "granted": one.granted, "of_driver": one.of_driver, "wait_s": one.wait_s}
        )
        for one in parts[:MOST_PARTS]
    ]  # fmt: skip


def is_count(level: Level) -> bool:
    """Tell whether a level counts something; 0 mostly stands for no limit, which is the most of all."""
    return type(level) is int and level >= 1


def _over_runs(values: Sequence[float | None], confidence: float) -> Estimate:
    return summarize([x for x in values if x is not None], confidence)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [x for x in values if x is not None]
    return fmean(known) if known else None


def _limits(runs: Sequence[DrivenRun]) -> str:
    """Why the driver may have set the rate."""
    late, used = _mean([run.to_blame for run in runs]), _mean([run.driver for run in runs])
    if late is not None and late >= LATE:
        return "late"
    if used is not None and used >= DRIVER_CPU:
        return "CPU"
    if (_mean([run.late for run in runs]) or 0.0) >= LATE:
        return "no CPU"
    return "ceiling" if spare(runs) else ""
