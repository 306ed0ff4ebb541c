"""Responses along one factor, all other factors fixed; and the runs that may count."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from scalograph.analysis import Estimate, SpeedupPoint, speedup, summarize
from scalograph.findings import Curve, EstimateDoc, Level, Point, PointResponse
from scalograph.table import Row, Table

# Runs with these verdicts carry the estimates; the others are kept, drawn and counted.
COUNTED = ("clean", "undecided")


@dataclass(frozen=True)
class Sample:
    """The runs of one treatment: all that succeeded, and those that the estimates rest on."""

    treatment: Mapping[str, Level]
    every: tuple[Row, ...]
    counted: tuple[Row, ...]
    n_failed: int

    def scores(self, response: str) -> list[float]:
        """Scores of the runs that count, in order."""
        return [row.scores[response] for row in self.counted if response in row.scores]

    def blocks(self, response: str) -> list[int]:
        """The block of each of `scores`."""
        return [row.block for row in self.counted if response in row.scores]


def samples(table: Table) -> dict[tuple[Level, ...], Sample]:
    """The sample of each planned treatment, also of one that has no run yet."""
    rows: dict[tuple[Level, ...], list[Row]] = {tuple(t.values()): [] for t in table.treatments}
    for row in table.rows:
        if not row.warmup:
            rows.setdefault(row.key, []).append(row)
    names = list(table.study.factors)
    return {key: _sample(dict(zip(names, key, strict=True)), found) for key, found in rows.items()}


def _sample(treatment: Mapping[str, Level], rows: Sequence[Row]) -> Sample:
    every = tuple(row for row in rows if row.status == "ok")
    clean = tuple(row for row in every if row.verdict in COUNTED)
    # Fewer than two clean runs carry no interval; the disturbed ones do, under a flag.
    return Sample(treatment, every, clean if len(clean) >= 2 else every, len(rows) - len(every))


def docs(estimate: Estimate) -> EstimateDoc:
    """The JSON form of an estimate."""
    return EstimateDoc(**{**asdict(estimate), "warnings": list(estimate.warnings)})


def curve_factor(table: Table) -> str:
    """The factor along which curves run: the baseline's, else the first one with the most levels."""
    if table.study.baseline:
        return next(iter(table.study.baseline))
    return max(table.study.factors, key=lambda name: len(table.study.factors[name].levels))


def curves(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> list[Curve]:
    """One curve for each combination of the other factors' levels."""
    factor = curve_factor(table)
    groups: dict[tuple[tuple[str, Level], ...], list[Sample]] = {}
    for sample in taken.values():
        group = tuple((name, level) for name, level in sample.treatment.items() if name != factor)
        groups.setdefault(group, []).append(sample)
    return [_curve(table, factor, dict(group), members) for group, members in groups.items()]


def _curve(table: Table, factor: str, group: dict[str, Level], members: list[Sample]) -> Curve:
    gains = _gains(table, factor, members)
    points = [_point(table, factor, sample, gains.get(sample.treatment[factor])) for sample in members]
    return Curve(group=group, factor=factor, points=points)


def primary(table: Table) -> str:
    """The response that speedup is taken on: the first one read from a window's wall, else the first."""
    responses = table.study.responses
    return next((name for name, r in responses.items() if r.source == "window.wall"), next(iter(responses)))


def _gains(table: Table, factor: str, members: list[Sample]) -> dict[Level, SpeedupPoint]:
    """Speedup of each level; none without a baseline, or where levels are no counts."""
    baseline = table.study.baseline.get(factor)
    levels = [sample.treatment[factor] for sample in members]
    if not _is_count(baseline) or not all(map(_is_count, levels)):
        return {}
    response = primary(table)
    points = speedup(
        {_int(s.treatment[factor]): s.scores(response) for s in members},
        baseline=_int(baseline),
        work=table.study.work,
        cpus=_cpus(table, factor, members),
        blocks={_int(s.treatment[factor]): s.blocks(response) for s in members},
        confidence=table.study.protocol.confidence,
    )
    return {point.n: point for point in points}


def _is_count(level: Any) -> bool:
    return isinstance(level, int) and not isinstance(level, bool) and level >= 1


def _int(level: Any) -> int:
    return int(level)


def _cpus(table: Table, factor: str, members: list[Sample]) -> int | None:
    """CPUs that the runs of a curve could use, as the kernel gave them back; None where the curve itself is of CPUs."""
    if table.study.factors[factor].control == "cpus":
        return None
    return max((row.n_cpus for sample in members for row in sample.every), default=None)


def _point(table: Table, factor: str, sample: Sample, gain: SpeedupPoint | None) -> Point:
    return Point(
        level=sample.treatment[factor],
        n_cpus=sample.every[0].n_cpus if sample.every else None,
        responses={name: _response(table, sample, name) for name in table.study.responses},
        speedup=docs(gain.speedup) if gain else None,
        simultaneous=docs(gain.simultaneous) if gain else None,
        efficiency=docs(gain.efficiency) if gain else None,
        serial_fraction=docs(gain.serial_fraction) if gain else None,
        per_cpu_share=_shares(sample),
        n_failed=sample.n_failed,
        flags=[*(gain.warnings if gain else ()), *flags(sample)],
    )


def _response(table: Table, sample: Sample, name: str) -> PointResponse:
    rows = [row for row in sample.every if name in row.scores]
    return PointResponse(
        estimate=docs(summarize(sample.scores(name), table.study.protocol.confidence)),
        scores=[row.scores[name] for row in rows],
        runs=[row.run for row in rows],
        verdicts=[row.verdict for row in rows],
    )


def _shares(sample: Sample) -> list[float]:
    """Mean share of the tree's CPU time on each CPU."""
    shares = [[ns / sum(row.per_cpu_ns) for ns in row.per_cpu_ns] for row in sample.counted if sum(row.per_cpu_ns)]
    return [sum(column) / len(shares) for column in zip(*shares, strict=False)]


def flags(sample: Sample) -> list[str]:
    """What a reader must know about the runs of one treatment."""
    found = []
    n_disturbed = sum(row.verdict not in COUNTED for row in sample.every)
    if n_disturbed and len(sample.counted) == len(sample.every):
        found.append(f"rests on disturbed runs: {n_disturbed} of {len(sample.every)} were contaminated")
    elif n_disturbed:
        found.append(f"{n_disturbed} of {len(sample.every)} runs contaminated, left out")
    if sample.n_failed:
        found.append(f"{sample.n_failed} of {sample.n_failed + len(sample.every)} runs failed")
    works = {row.work for row in sample.every}
    if len(works) > 1:
        found.append(f"the work differs between runs: {min(map(str, works))} .. {max(map(str, works))}")
    return found
