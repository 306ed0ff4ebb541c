"""Findings to test the report with: true to the shape of their kind, invented in their numbers."""

import math
import random
from collections.abc import Sequence
from itertools import islice, product
from typing import Any

from scalograph.analysis.estimate import Estimate, Flag, join_flags
from scalograph.analysis.interval import summarize
from scalograph.protocol.findings import (
    BaselineDoc,
    Column,
    Curve,
    DegradedRuns,
    FactorDoc,
    Findings,
    LawDoc,
    Part,
    Point,
    PointResponse,
    ResponseDoc,
    RunsDoc,
    StudyDoc,
    StudyNoise,
    TableDoc,
    TimelineDoc,
    Trust,
)
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.document import BreakEven, BreakEvenLine, BreakEvenMap, BreakEvenPair
from scalograph.questions.surface.document import Surface, SurfaceCell, Surfaces
from scalograph.questions.surface.model import jain, pinned_time, shared_time

HOSTILE = "</script><img src=x onerror=alert(1)>"
Group = dict[str, Level]


def around(value: float, spread: float = 0.01, n: int = 10) -> Estimate:
    """Return an estimate whose interval reaches as far to both sides, as a ratio."""
    return Estimate(value, value * math.exp(-spread), value * math.exp(spread), n=n, method="Welch t on logs")


def _study(question: str, factors: list[FactorDoc], baseline: tuple[str, Level], **fields: Any) -> StudyDoc:
    usual = {"name": question, "title": "t", "work": "total", "hash": "5f3a9c51", "seed": 1}
    return StudyDoc(
        question=question, factors=factors, baseline=BaselineDoc(factor=baseline[0], level=baseline[1]),
        responses=[ResponseDoc(name="wall", title="Wall time", unit="s")], **usual | fields,
    )  # fmt: skip


# A sweep: threads x CPUs x lock x quantum.

LOCKS = {"none": 0.0, "method": 0.95, "object": 0.35, "cas": 0.18, "reentrant": 0.5, "adder": 0.03, "virtual": 0.01}
QUANTA = ["small", "large"]


def _wall_s(threads: int, cpus: int, lock: str, quantum: str) -> float:
    """Return Amdahl's time with a lock: the held part is serial, and a contended handover costs something."""
    held, used = LOCKS[lock] * (1.0 if quantum == "small" else 0.15), min(threads, cpus)
    slow = 1 + (0.9 * held * math.log2(threads + 1) / 4 if used > 1 else 0.0)
    return 0.51 * (held * slow + (1 - held) / used) * (1 + 0.0002 * threads)


def _curve(cpus: int, lock: str, quantum: str, levels: Sequence[int], n: int, rng: random.Random) -> Curve:
    points = [_point(threads, cpus, lock, quantum, n, rng) for threads in levels]
    base = float(points[0].responses["wall"].estimate)
    for point in points:
        wall, first, used = point.responses["wall"].estimate, point.level == 1, min(int(point.level), cpus)
        ratio, spread = base / float(wall), 0.0 if first else 0.011
        point.speedup, point.simultaneous = around(ratio, spread, wall.n), around(ratio, 1.7 * spread, wall.n)
        point.efficiency = around(ratio / used, spread, wall.n)
        if used > 1:
            point.serial_fraction = around(max((1 / ratio - 1 / used) / (1 - 1 / used), 0.001), 0.03, wall.n)
        if ratio > used * 1.02:
            point.flags = [Flag("speedup", f"speedup {ratio:.2f} above {used}: the baseline is slow")]
    return Curve(group={"cpus": cpus, "lock": lock, "quantum": quantum}, factor="threads", points=points)


def _point(threads: int, cpus: int, lock: str, quantum: str, n: int, rng: random.Random) -> Point:
    used = min(threads, cpus)
    walls = [_wall_s(threads, cpus, lock, quantum) * math.exp(rng.gauss(0, 0.012)) for _ in range(n)]
    scores = {"wall": walls, "cpu": [wall * used * rng.uniform(0.93, 0.99) for wall in walls]}
    runs = [f"{threads}-{cpus}-{lock}-{quantum}-{i}" for i in range(n)]
    verdicts = ["disturbed" if rng.random() < 0.03 else "clean" for _ in range(n)]
    busy = [1.0, *(rng.uniform(0.9, 1.0) for _ in range(used - 1)), *[0.0] * (cpus - used)]
    return Point(
        level=threads, n_cpus=cpus, per_cpu_share=[share / sum(busy) for share in busy],
        responses={
            name: PointResponse(estimate=summarize(own), scores=own, runs=runs, verdicts=verdicts)
            for name, own in scores.items()
        },
    )  # fmt: skip


def _timeline(threads: int, cpus: int, seconds: float, rng: random.Random) -> dict[str, Any]:
    """Return CPU time in bins of 1 ms; at first and at last not all CPUs have a task."""
    bin_ns, used = 1_000_000, min(512, int(seconds * 1e3))

    def busy(cpu: int, i: int) -> float:
        if cpu >= threads or i > used - 5 * (cpu + 1):
            return 0.0
        return 0.1 * rng.random() if i < 12 and cpu > 0 else rng.uniform(0.94, 1.0)

    waiting = [max(threads - cpus, 0) * rng.uniform(0.8, 1.0) * (used - i) / used for i in range(used)]
    tasks = [
        {
            "tid": 4000 + i, "name": f"worker-{i}", "cpu_ns": int(seconds * 1e9 * cpus / threads),
            "wait_ns": int(seconds * 1e8 * rng.random()), "per_cpu_ns": [1] * cpus, "migrations": rng.randrange(9),
        }
        for i in range(min(threads, 64))
    ]  # fmt: skip
    return {
        "bin_ns": bin_ns, "cpus": list(range(cpus)), "waiting_ns": [int(bin_ns * share) for share in waiting],
        "busy_ns": [[int(bin_ns * busy(cpu, i)) for i in range(used)] for cpu in range(cpus)], "tasks": tasks,
    }  # fmt: skip


def _table(curves: Sequence[Curve]) -> TableDoc:
    """Return every configuration, as analysis lays it out."""
    labels = [Column(name=name, kind="label") for name in ("cpus", "work", "lock", "threads")]
    times = [Column(name=name, unit="s", kind="estimate") for name in ("wall", "CPU time")]
    ratios = [Column(name=name, kind="estimate") for name in ("speedup", "efficiency")]
    rows: list[list[Any]] = [
        [
            *(curve.group[name] for name in ("cpus", "quantum", "lock")), point.level,
            *(point.responses[name].estimate if name in point.responses else None for name in ("wall", "cpu")),
            point.speedup, point.efficiency, join_flags(point.flags),
        ]
        for curve in curves for point in curve.points
    ]  # fmt: skip
    return TableDoc(
        id="configurations", title="Time and speedup", note="Mean of run scores with 95% interval.",
        columns=[*labels, *times, *ratios, Column(name="flags", kind="text")], rows=rows,
    )  # fmt: skip


def _published() -> TableDoc:
    names = ("published wall", "published factor", "recomputed")
    numbers = [Column(name=name, unit="s" if name.endswith("wall") else "") for name in names]
    rows: list[list[Any]] = [
        [1, 43.1763, 1.0, 1.0, Estimate(1.0, 1.0, 1.0, n=10, method="the baseline, 1 by definition")],
        [2, 43.5993, 0.99, 0.9903, Estimate(1.93, 1.88, 1.97, n=10, method="Welch t on logs")],
        [8, None, 0, 1.0, None],
    ]
    columns = [Column(name="threads", kind="label"), *numbers, Column(name="measured factor", kind="estimate")]
    return TableDoc(id="published", title="Published beside measured", columns=columns, rows=rows)


def full(n: int = 10, levels: Sequence[int] = (1, 2, 8, 32, 128, 220, 250, 512), n_timelines: int = 64) -> Findings:
    """Return what a whole study leaves, with n runs of each configuration."""
    rng = random.Random(1)
    curves = [_curve(*group, levels, n, rng) for group in product([1, 2], LOCKS, QUANTA)]
    runs, whole = len(curves) * len(levels) * n, product(levels, [2, 1], LOCKS, QUANTA)
    return bare(levels).model_copy(
        update={
            "machine": {
                "cpu_model": "Example CPU E5 @ 2.60 GHz", "n_cpus": 2, "memory_bytes": 8 * 2**30, "microcode": None,
                "governor": "performance", "autogroup": False, "smt": {"active": False, "siblings": [[0], [1]]},
                "kernel_command_line": ["quiet"], "jvms": {"java17": "17.0.11+9"},
            },
            "runs": RunsDoc(
                n_asked=runs, n_done=runs - 2, n_failed=2, n_warmup=224, configurations=runs // n,
                verdicts={"clean": runs - 62, "disturbed": 60}, failures={"timeout": 2},
                started="2024-06-11T09:14:02Z", ended="2024-06-11T10:12:44Z", end_reason="complete",
            ),
            "trust": Trust(
                level="caution", sentence="60 of 2,240 runs were disturbed by other programs.",
                causes=["56 runs: another program ran for more than 1% of the window", "4 runs: CPU steal"],
            ),
            "answer": [
                "On two CPUs, unlocked threads do 1.93 [1.91, 1.95] times the work of one; more threads add nothing.",
                "A synchronized method around the whole quantum removes the gain; 8 threads are slower than one.",
            ],
            "curves": curves,
            "tables": [_table(curves), _published()],
            "timelines": [
                TimelineDoc(
                    run=f"r{i}", configuration={"threads": t, "cpus": c, "lock": lock, "quantum": q},
                    timeline=_timeline(t, c, _wall_s(t, c, lock, q), rng),
                )
                for i, (t, c, lock, q) in enumerate(islice(whole, n_timelines))
            ],
            "residue": ["CPU clock between 2.59 and 2.61 GHz"],
            "warnings": ["220 and 250 threads were run on 2 CPUs only"],
            "noise": StudyNoise(sd_log_percent=1.2, minimum_detectable_percent=1.6, n=10),
            "degraded": [DegradedRuns(
                what="kernel records", why="perf_event_open: EACCES (kernel.perf_event_paranoid=3)",
                fix="run as root, or set kernel.perf_event_paranoid to 2", n_runs=12,
            )],
            "reproduce": ["scalograph study thread-scaling --seed 20240611 -o results", "scalograph report results"],
        }
    )  # fmt: skip


def brief() -> Findings:
    """Return a whole study in its factors, quick to draw: few levels, few runs."""
    return full(n=2, levels=[1, 8, 512], n_timelines=4)


def small() -> Findings:
    """Return a study whose table fits a page: two CPUs, two locks, three levels."""
    rng = random.Random(2)
    curves = [_curve(2, lock, "small", [1, 2, 8], 3, rng) for lock in ("none", "method")]
    findings = full(n=1, levels=[1], n_timelines=0)
    findings.curves, findings.tables = curves, [_table(curves), _published()]
    findings.runs = RunsDoc(n_asked=18, n_done=18, n_failed=0, configurations=6, verdicts={"clean": 18})
    findings.trust = Trust(level="reliable", sentence="18 of 18 runs were clean.")
    timeline = _timeline(8, 2, 0.3, rng)
    findings.timelines = [TimelineDoc(run="r3", configuration={"threads": 8, "cpus": 2}, timeline=timeline)]
    return findings


def lawful() -> Findings:
    """Return two curves with their laws: one reaches its optimum, the other does not."""
    findings = small()
    for curve, (sigma, kappa) in zip(findings.curves, ((0.05, 0.02), (0.3, 0.0)), strict=True):
        curve.law = _law(sigma, kappa, 8)
    return findings


def _law(sigma: float, kappa: float, largest: float) -> LawDoc:
    sizes = [largest ** (i / 10) for i in range(11)] + [largest * 1.5, largest * 2]
    fitted = [n / (1 + sigma * (n - 1) + kappa * n * (n - 1)) for n in sizes]
    best = math.sqrt((1 - sigma) / kappa) if kappa else None
    optimum = Estimate(best, 0.8 * best, 1.3 * best) if best else Estimate(low=3 * largest)
    return LawDoc(
        sigma=Estimate(sigma), kappa=Estimate(kappa), gamma=Estimate(1.0), optimum=optimum, twice=Estimate(fitted[-1]),
        largest=largest, end="2 times the largest size measured", sizes=sizes, fitted=fitted,
        low=[0.95 * y for y in fitted], high=[1.05 * y for y in fitted],
        amdahl=[] if kappa else [n / (1 + sigma * (n - 1)) for n in sizes],
    )  # fmt: skip


def many() -> Findings:
    """Return more panels, or lines, than a page can show at once: 64 CPUs."""
    findings, rng = small(), random.Random(3)
    findings.curves = [_curve(*group, [1, 2], 2, rng) for group in product(range(1, 65), [*LOCKS][:2], QUANTA)]
    findings.study.factors[1].levels = list(range(1, 65))
    findings.timelines = []
    return findings


def bare(levels: Sequence[int] = (1,)) -> Findings:
    """Return nothing but the study: no curves, no tables, no runs."""
    factors = [
        FactorDoc(name="threads", title="Threads", levels=list(levels)),
        FactorDoc(name="cpus", title="CPUs", kind="placement", control="cpus", levels=[1, 2]),
        FactorDoc(name="lock", title="Lock", levels=list(LOCKS)),
        FactorDoc(name="quantum", title="Work between locks", levels=list(QUANTA)),
    ]
    title = "How do Java threads scale on this machine?"
    study = _study("sweep", factors, ("threads", 1), name="thread-scaling", title=title, seed=20240611)
    study.responses.append(ResponseDoc(name="cpu", title="CPU time", unit="s"))
    runs = RunsDoc(n_asked=0, n_done=0, n_failed=0, configurations=0)
    return Findings(study=study, runs=runs, trust=Trust(level="unusable", sentence="No run was done."))


def one_point() -> Findings:
    """Return one level, one run."""
    findings = bare()
    findings.curves = [_curve(2, "none", "small", [1], 1, random.Random(3))]
    findings.tables = [_table(findings.curves)]
    return findings


def all_failed() -> Findings:
    """Return points without a value."""
    findings = bare()
    empty = PointResponse(estimate=Estimate(warnings=("need >= 1 run for a value, have 0",)))
    flags = [Flag("failed", "3 runs failed: timeout", 3)]
    points = [Point(level=t, responses={"wall": empty}, n_failed=3, flags=flags) for t in (1, 2)]
    findings.curves = [Curve(group={"cpus": 1, "lock": "none", "quantum": "small"}, factor="threads", points=points)]
    findings.tables = [_table(findings.curves)]
    findings.runs = RunsDoc(n_asked=6, n_done=6, n_failed=6, configurations=2, failures={"timeout": 6})
    return findings


def many_points() -> Findings:
    """Return 500 levels along one curve."""
    findings = bare()
    findings.curves = [_curve(2, "object", "small", range(1, 501), 2, random.Random(4))]
    return findings


def wide_machine() -> Findings:
    """Return 64 CPUs, in shares and timelines."""
    findings = small()
    for point in (point for curve in findings.curves for point in curve.points):
        point.per_cpu_share = [1 / 64] * 64
    wide = _timeline(64, 64, 0.5, random.Random(5))
    findings.timelines = [TimelineDoc(run=f"r{i}", configuration={"threads": i}, timeline=wide) for i in range(64)]
    return findings


def hostile() -> Findings:
    """Return names and texts that would run, draw or color something if anyone let them."""
    findings = small()
    bad = f"{HOSTILE}\u2028<b>bold</b> [red]x[/] \x1b[31mred {{{{7*7}}}} $x^2$ %{{y}} &lt;"
    study, table = findings.study, findings.tables[0]
    study.title = bad
    for factor in study.factors:
        factor.title, factor.unit = f"{bad} {factor.name}", "<i>u</i>"
    for response in study.responses:
        response.title = f"{bad} {response.name}"
    for curve in findings.curves:
        curve.group = {**curve.group, "lock": f"{curve.group['lock']} {bad}"}
        for point in curve.points:
            point.flags = [Flag("bad", bad)]
            for of_point in point.responses.values():
                of_point.runs = [f"=cmd {bad}" for _ in of_point.runs]
    for timeline in findings.timelines:
        timeline.run, timeline.configuration = bad, {"lock": bad}
        for task in timeline.timeline["tasks"]:
            task["name"] = bad
    table.title = table.columns[0].name = table.rows[0][2] = bad
    findings.answer, findings.warnings, findings.reproduce = [bad], [bad], [bad]
    findings.machine[bad] = {bad: [bad]}
    return findings


# A break-even over size and workers.

SIZES = [16.0 * 2 ** (i / 4) for i in range(49)]
START, SURE = 1000.0, 1.1


def _time_ratio(size: float, workers: float, cost: float) -> float:
    """Return the parallel version's time over the sequential one's: starting costs as much as 1000 cheap elements."""
    return (START / cost + size / workers) / size


def _line(workers: float, cost: float) -> BreakEvenLine:
    """Return where it wins: with one worker never, with more from somewhere on."""
    if workers == 1:
        return BreakEvenLine(level=workers, kind="never")
    location = START / cost / (1 - 1 / workers)
    return BreakEvenLine(level=workers, kind="from", location=location, low=location / SURE, high=location * SURE)


def even_map(cost: float = 1, workers: Sequence[float] = (1, 2, 4, 8), group: Group | None = None) -> BreakEvenMap:
    """Return a map over size and workers."""
    table = [[_time_ratio(n, p, cost) for n in SIZES] for p in workers]
    pairs = [(64.0, 2.0, 1), (4096.0, 2.0, 1), (16384.0, 4.0, 3), (65536.0, 1.0, 1)]
    return BreakEvenMap(
        group=group or {}, x="size", y="workers", x_levels=SIZES, y_levels=list(workers), ratio=table,
        low=[[r / SURE for r in row] for row in table], high=[[r * SURE for r in row] for row in table],
        lines=[_line(p, cost) for p in workers],
        pairs=[BreakEvenPair(x=n, y=p, ratio=_time_ratio(n, p, cost), n=times) for n, p, times in pairs],
    )  # fmt: skip


def with_maps(maps: Sequence[BreakEvenMap], title: str = "size", other: str = "parallel") -> Findings:
    """Return the findings that hold maps."""
    factors = [
        FactorDoc(name="version", title="version", levels=["sequential", other]),
        FactorDoc(name="size", title=title, levels=[2**i for i in range(4, 17)]),
        FactorDoc(name="workers", title="workers", levels=[1, 2, 4, 8]),
        FactorDoc(name="cost", title="cost", levels=[1, 4, 16]),
    ]
    part = BreakEven(
        factor="version", baseline="sequential", other=other, decided=True, even=0.1, n=6, noise_percent=2.0,
        shares={"wins": 0.4, "loses": 0.5, "even": 0.1, "undecided": 0.0}, maps=list(maps),
    )  # fmt: skip
    study = _study("break-even", factors, ("version", "sequential"))
    return _with_part(study, "break-even", Part(decided=True, data=part.model_dump(mode="json")))


def _with_part(study: StudyDoc, name: str, part: Part) -> Findings:
    return Findings(
        study=study, runs=RunsDoc(n_asked=10, n_done=10, n_failed=0, configurations=104),
        trust=Trust(level="reliable", sentence="An example."),
        parts={name: part},
        tables=[TableDoc(id="one", title="One", columns=[Column(name="x")], rows=[[1]])],
    )  # fmt: skip


def two_factors() -> Findings:
    """Return one map."""
    return with_maps([even_map()])


def three_factors() -> Findings:
    """Return a map for each cost."""
    return with_maps([even_map(cost, group={"cost": cost}) for cost in (1, 4, 16)])


def one_factor() -> Findings:
    """Return a curve along the size alone, for four workers."""
    whole = even_map(workers=(4,))
    pairs = [BreakEvenPair(x=pair.x, y=None, ratio=_time_ratio(pair.x, 4, 1), n=pair.n) for pair in whole.pairs]
    lines = [line.model_copy(update={"level": None}) for line in whole.lines]
    return with_maps([whole.model_copy(update={"y": "", "y_levels": [], "lines": lines, "pairs": pairs})])


def undecided() -> Findings:
    """Return a map in which, for one worker, only where it loses is decided."""
    whole = even_map()
    whole.lines[0] = BreakEvenLine(level=1, kind="undecided", low=8192.0)
    return with_maps([whole])


def hostile_map() -> Findings:
    """Return a map with names and titles that want to be markup."""
    return with_maps([even_map(group={"cost": HOSTILE})], HOSTILE, HOSTILE)


def speedups(workers: float) -> list[float]:
    """Return what the page should show of a row."""
    return [float(f"{1 / _time_ratio(n, workers, 1):.4g}") for n in SIZES]


# A surface over processes and CPUs.

ALONE_S = 0.1


def _cell(workers: int, cpus: int) -> SurfaceCell:
    """Return a cell half of the way to workers that stay where they are."""
    expected = ALONE_S * shared_time(workers, cpus)
    taken = math.sqrt(expected * ALONE_S * pinned_time(workers, cpus))
    ends = [taken * (1 - 0.1 * i / workers) for i in range(workers)]
    return SurfaceCell(
        estimate=around(taken), expected=expected, deviation=around(taken / expected),
        fairness=around(jain(ends), 0.001) if workers > 1 else None, busy=[min(1.0, workers / cpus)] * cpus,
        flag=Flag("longer", "longer than the CPUs need") if taken / expected > 1.06 else None,
    )  # fmt: skip


def surface(workers: Sequence[int], cpus: Sequence[int], group: Group | None = None) -> Surface:
    """Return all configurations but the last, which was not planned."""
    cells: list[list[SurfaceCell | None]] = [[_cell(n, m) for n in workers] for m in cpus]
    cells[-1][-1] = None
    return Surface(
        group=group or {}, x="processes", y="cpus", x_levels=list(workers), y_levels=list(cpus), response="wall",
        cells=cells, slopes=[around(ALONE_S / m) for m in cpus],
    )  # fmt: skip


def with_surfaces(*surfaces: Surface, title: str = "processes") -> Findings:
    """Return the findings that hold surfaces."""
    factors = [
        FactorDoc(name="processes", title=title, levels=list(surfaces[0].x_levels)),
        FactorDoc(name="cpus", title="CPUs", kind="placement", control="cpus", levels=list(surfaces[0].y_levels)),
        FactorDoc(name="options", title="options", levels=["", "-Xint"]),
    ]
    study = _study("sweep", factors, ("processes", 1), name="cpu-surface", work="per-worker")
    return _with_part(study, "surface", Part(data=Surfaces(surfaces=list(surfaces)).model_dump(mode="json")))


def two_cpus() -> Findings:
    """Return what the quick form of the study has on the machine that most have."""
    return with_surfaces(surface([1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24], [1, 2]))


def many_cpus() -> Findings:
    """Return two surfaces of a larger machine, to choose from."""
    return with_surfaces(*(surface(range(1, 25), range(1, 17), {"options": each}) for each in ("", "-Xint")))


def hostile_surface() -> Findings:
    """Return a surface whose titles want to be markup."""
    return with_surfaces(surface([1, 2, 3, 4], [1, 2]), title=HOSTILE)
