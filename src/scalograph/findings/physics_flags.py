"""Physics checks on the curves of a study: flags on points, and on whole configurations."""

from collections.abc import Iterator, Mapping, Sequence

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.analysis.physics import ObservedLevel, PhysicsFlag, PhysicsGate, cpu_time_across, physics_flags
from scalograph.findings.curves import point_key
from scalograph.findings.row import Key
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import outgrows_cpus
from scalograph.findings.study_view import StudyView
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, Point

# True of many honest programs (they wait for a disk, or ask another source for the CPUs): no flag of a configuration.
HARMLESS: tuple[PhysicsGate, ...] = ("baseline off the CPU", "believes in other CPUs")


def flag_physics(table: Table, curves: Sequence[Curve], samples: Mapping[Key, Sample]) -> dict[Key, str]:
    """Flag each point that violates a physics check.

    Returns:
        The violated check of each configuration, except the harmless ones.
    """
    gates: dict[Key, str] = {}
    if not table.study.baseline:
        return gates
    factor = table.view.cpu_factor
    for curve in curves:
        alike = [c for c in curves if factor and {**c.group, factor: None} == {**curve.group, factor: None}]
        is_whole = {id(c): bool(samples[point_key(table, c, c.points[0])].whole) for c in (curve, *alike)}
        siblings = [c for c in alike if is_whole[id(c)] == is_whole[id(curve)]]
        for objection in (*_curve_objections(table, curve, samples), *_cpu_count_objections(table, curve, siblings)):
            point = next(p for p in curve.points if p.level == objection.n)
            if objection.gate != "speedup above the CPUs":  # the warnings of the point hold that
                point.flags.append(Flag(objection.gate, f"{objection.gate}: {objection.text}"))
            if objection.gate not in HARMLESS:
                gates.setdefault(point_key(table, curve, point), objection.gate)
    return gates


def _curve_objections(table: Table, curve: Curve, samples: Mapping[Key, Sample]) -> list[PhysicsFlag]:
    baseline = table.study.baseline[curve.factor]
    # Levels that count no workers have no n: nothing to hold physics against.
    is_placed = table.study.factors[curve.factor].control is not None
    if is_placed or table.study.is_driven or not isinstance(baseline, int):
        return []
    counted = [p for p in curve.points if isinstance(p.level, int) and p.level >= 1 and p.n_cpus]
    observed = [_observe(table.view, p, samples[point_key(table, curve, p)]) for p in counted]
    members = [samples[point_key(table, curve, p)] for p in counted]
    waits = outgrows_cpus(table, curve.factor, members)
    return physics_flags(observed, baseline, table.study.work, waits)


def _observe(view: StudyView, point: Point, sample: Sample) -> ObservedLevel:
    works = {row.work for row in sample.counted}
    believed = _read_estimate(view, point, "value.believed_cpus")
    return ObservedLevel(
        n=int(point.level), n_cpus=point.n_cpus or 1,
        wall=_read_estimate(view, point, "window.wall"), cpu=_read_estimate(view, point, "window.cpu"),
        speedup=point.simultaneous,  # of many levels one will err: the interval that holds for all of them at once
        work=works.pop() if len(works) == 1 else None,
        believed_cpus=round(believed.value) if believed and believed.value is not None else None,
    )  # fmt: skip


def _read_estimate(view: StudyView, point: Point, source: str) -> Estimate | None:
    name = view.find_response(source)
    return point.responses[name].estimate if name in point.responses else None


def _cpu_count_objections(table: Table, curve: Curve, siblings: Sequence[Curve]) -> Iterator[PhysicsFlag]:
    """Check the baseline of this curve against that of its sibling on the fewest CPUs."""
    factor = table.view.cpu_factor
    # A baseline of several workers may contend on more CPUs: its CPU time says nothing.
    grows = table.study.baseline[curve.factor] != 1 or table.study.factors[curve.factor].control is not None
    if factor is None or factor not in curve.group or grows:
        return
    level = table.study.baseline[curve.factor]
    points = {int(c.group[factor]): p for c in siblings for p in c.points if p.level == level}
    times = {n: _read_estimate(table.view, point, "window.cpu") for n, point in points.items()}
    by_cpus = cpu_time_across({n: cpu for n, cpu in times.items() if cpu is not None})
    if (objection := by_cpus.get(int(curve.group[factor]))) is not None:
        yield PhysicsFlag(objection.gate, int(level), objection.text)
