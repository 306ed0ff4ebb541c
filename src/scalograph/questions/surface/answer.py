"""Answer how time goes with workers and CPUs: over the expected time, slope of a further worker, fairness."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Flag
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.sample import Sample, group_samples
from scalograph.findings.speedup_rule import find_speedup_rule
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level
from scalograph.questions.surface import model
from scalograph.questions.surface.claim import surface_claim
from scalograph.questions.surface.document import Surface, SurfaceCell, Surfaces
from scalograph.questions.surface.tables import surface_tables

FEWEST_WORKERS = 4  # levels of workers, for a surface to be one
MOST = 16


def applies(table: Table) -> str | None:
    """Say why the study has no surface; None where it has one."""
    axes = _axes(table)
    if axes is None:
        return "no times of workers that each do the same, from one on, over a factor of CPUs"
    if len({configuration[axes[0]] for configuration in table.configurations}) < FEWEST_WORKERS:
        return f"fewer than {FEWEST_WORKERS} counts of workers"
    return None


def answer(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Answer:
    """Describe the surface of each group of other factors, at most 16, those with most configurations first."""
    axes = _axes(table)
    assert axes is not None
    quotas = [name for name, factor in table.study.factors.items() if factor.control == "quota"]
    # Under a quota the CPUs are not what workers share.
    free = [sample for sample in taken.values() if all(sample.configuration[name] == "none" for name in quotas)]
    groups = {
        group: {(int(s.configuration[axes[0]]), int(s.configuration[axes[1]])): s for s in members}
        for group, members in group_samples(free, *axes).items()
    }
    whole = [(group, cells) for group, cells in groups.items() if len({x for x, _ in cells}) >= FEWEST_WORKERS]
    whole.sort(key=lambda pair: -len(pair[1]))
    surfaces = [_surface(table, axes, dict(group), cells) for group, cells in whole[:MOST]]
    claim, tables = surface_claim(table, taken, surfaces), surface_tables(table, surfaces)
    return Answer(document=Surfaces(surfaces=surfaces), claim=claim, tables=tables)


def _axes(table: Table) -> tuple[str, str] | None:
    """Find the factors of workers and CPUs, where each worker does the same and one is the baseline."""
    factor = table.view.curve_factor
    how = find_speedup_rule(table, factor)
    cpus = next((name for name, other in table.study.factors.items() if other.control == "cpus"), None)
    if cpus is None or how is None or not how.per_worker or how.kind != "time" or table.study.baseline[factor] != 1:
        return None
    return factor, cpus


def _surface(
    table: Table, axes: tuple[str, str], group: dict[str, Level], cells: Mapping[tuple[int, int], Sample]
) -> Surface:
    how = find_speedup_rule(table, axes[0])
    assert how is not None
    (xs, ys), confidence = (sorted(set(levels)) for levels in zip(*cells, strict=True)), table.view.confidence
    by_y = {y: {x: cells[x, y] for x in xs if (x, y) in cells} for y in ys}
    return Surface(
        group=group, x=axes[0], y=axes[1], x_levels=xs, y_levels=ys, response=how.response,
        cells=[_row(table, how.response, row, xs, y) for y, row in by_y.items()],
        slopes=[
            model.slope([(x, time) for x, s in row.items() for time in s.scores(how.response)], y, confidence)
            for y, row in by_y.items()
        ],
    )  # fmt: skip


def _row(
    table: Table, response: str, row: Mapping[int, Sample], xs: Sequence[int], cpus: int
) -> list[SurfaceCell | None]:
    single = row[1].scores(response) if 1 in row else []
    alone = estimate_response(table, row[1], response).value if 1 in row else None
    return [_cell(table, response, row[x], (x, cpus), single, alone) if x in row else None for x in xs]


def _cell(
    table: Table, response: str, sample: Sample, at: tuple[int, int], single: Sequence[float], alone: float | None
) -> SurfaceCell:
    confidence, scores = table.view.confidence, sample.scores(response)
    is_beside = bool(scores and single and at[0] > 1)
    excess, flag = model.deviation(scores, single, *at, confidence) if is_beside else (None, "")
    rows = sample.rows(response)
    # A worker that reports an end before its begin has reported nothing.
    finish = [x.finish_s for x in rows if len(x.finish_s) > 1 and min(x.finish_s) >= 0 and max(x.finish_s) > 0]
    busy = [[ns / 1e9 / x.own_s for ns in x.per_cpu_ns] for x in rows if x.own_s and x.per_cpu_ns]
    return SurfaceCell(
        estimate=estimate_response(table, sample, response),
        expected=None if alone is None else alone * model.shared_time(*at),
        deviation=excess,
        fairness=model.fairness(finish, confidence) if finish else None,
        busy=[sum(column) / len(busy) for column in zip(*busy, strict=False)],
        flag=Flag(flag, flag, excess.value) if excess and flag else None,
    )
