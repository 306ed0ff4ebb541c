"""Findings to develop and test the report with: true to the study's shape, invented in its figures."""

import math
import random
from collections.abc import Sequence
from itertools import islice, product
from typing import Any

from scalograph.analysis.estimate import Estimate, Flag, join_flags
from scalograph.protocol.findings import (
    BaselineDoc,
    Column,
    Curve,
    DegradedRuns,
    FactorDoc,
    Findings,
    LawDoc,
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

THREADS = [1, 2, 8, 32, 128, 220, 250, 512]
LOCKS = ["none", "method", "object", "cas", "reentrant", "adder", "virtual"]
QUANTA = ["small", "large"]
COST = {"none": 0.0, "method": 0.95, "object": 0.35, "cas": 0.18, "reentrant": 0.5, "adder": 0.03, "virtual": 0.01}
HOSTILE = "</script><img src=x onerror=alert(1)>"


def estimate(scores: Sequence[float], spread: float = 0.01) -> Estimate:
    """The middle of the scores with an interval that looks like one of theirs."""
    if not scores:
        return Estimate(n=0, method="mean of logs", warnings=("need >= 1 run for a value, have 0",))
    value = math.exp(sum(map(math.log, scores)) / len(scores))
    if len(scores) < 2:
        return Estimate(value=value, n=1, method="mean of logs", warnings=("need >= 2 runs for an interval, have 1",))
    half = 2.26 * max(spread, 1e-6) / math.sqrt(len(scores))
    low, high = value * math.exp(-half), value * math.exp(half)
    return Estimate(value=value, low=low, high=high, n=len(scores), method="t interval on log scores")


def wall_s(threads: int, cpus: int, lock: str, quantum: str) -> float:
    """Amdahl with a lock: the held part is serial, and a contended handover costs something."""
    held = COST[lock] * (1.0 if quantum == "small" else 0.15)
    used = min(threads, cpus)
    slow = 1 + (0.9 * held * math.log2(threads + 1) / 4 if used > 1 else 0.0)
    return 0.51 * (held * slow + (1 - held) / used) * (1 + 0.0002 * threads)


def curve(cpus: int, lock: str, quantum: str, levels: Sequence[int], n: int, rng: random.Random) -> Curve:
    """Time, CPU time, speedup and what follows from it, along the threads."""
    group: dict[str, Level] = {"cpus": cpus, "lock": lock, "quantum": quantum}
    points = [point(threads, group, n, rng) for threads in levels]
    base = points[0].responses["wall"].estimate.value or 1.0
    for p in points:
        _against(p, base)
    return Curve(group=group, factor="threads", points=points)


def point(threads: int, group: dict[str, Level], n: int, rng: random.Random) -> Point:
    """One level with n runs."""
    cpus, lock, quantum = int(group["cpus"]), str(group["lock"]), str(group["quantum"])
    true = wall_s(threads, cpus, lock, quantum)
    walls = [true * math.exp(rng.gauss(0, 0.012)) for _ in range(n)]
    times = [w * min(threads, cpus) * rng.uniform(0.93, 0.99) for w in walls]
    names = [f"{threads}-{cpus}-{lock}-{quantum}-{i}" for i in range(n)]
    verdicts = ["disturbed" if rng.random() < 0.03 else "clean" for _ in range(n)]
    responses = {
        "wall": PointResponse(estimate=estimate(walls), scores=walls, runs=names, verdicts=verdicts),
        "cpu": PointResponse(estimate=estimate(times, 0.02), scores=times, runs=names, verdicts=verdicts),
    }
    busy = [1.0] + [rng.uniform(0.9, 1.0) for _ in range(min(threads, cpus) - 1)]
    share = [b / sum(busy) for b in busy] + [0.0] * (cpus - len(busy))
    return Point(level=threads, n_cpus=cpus, responses=responses, per_cpu_share=share)


def _against(p: Point, base: float) -> None:
    wall = p.responses["wall"].estimate
    if wall.value is None:
        return
    ratio = base / wall.value
    first = p.level == 1
    p.speedup = _band(ratio, 0.0 if first else 0.011, wall.n)
    p.simultaneous = _band(ratio, 0.0 if first else 0.019, wall.n)
    n_cpus = min(int(p.level), p.n_cpus or 1)
    p.efficiency = _band(ratio / n_cpus, 0.0 if first else 0.011, wall.n)
    if n_cpus > 1 and not first:
        p.serial_fraction = _band(max((1 / ratio - 1 / n_cpus) / (1 - 1 / n_cpus), 0.001), 0.03, wall.n)
    if ratio > n_cpus * 1.02:
        text = f"speedup {ratio:.2f} above {n_cpus}, the growth of the CPUs in use: the baseline is slow"
        p.flags = [Flag("speedup", text)]


def _band(value: float, spread: float, n: int) -> Estimate:
    low, high = value * math.exp(-spread), value * math.exp(spread)
    return Estimate(value=value, low=low, high=high, n=n, method="Welch t on logs against the shared baseline")


def timeline(threads: int, cpus: int, seconds: float, rng: random.Random, bins: int = 512) -> dict[str, Any]:
    """On-CPU time in bins, with a start in which only one task runs."""
    bin_ns = 1_000_000
    used = min(bins, int(seconds * 1e9 / bin_ns))
    busy = [[int(bin_ns * _busy(i, used, c, threads, rng)) for i in range(used)] for c in range(cpus)]
    waiting = [int(bin_ns * max(threads - cpus, 0) * rng.uniform(0.8, 1.0) * (used - i) / used) for i in range(used)]
    tasks = [
        {
            "tid": 4000 + i,
            "name": f"worker-{i}",
            "cpu_ns": int(seconds * 1e9 * cpus / threads * rng.uniform(0.9, 1.0)),
            "wait_ns": int(seconds * 1e8 * rng.random()),
            "per_cpu_ns": [1] * cpus,
            "migrations": rng.randrange(9),
        }
        for i in range(min(threads, 64))
    ]
    return {"bin_ns": bin_ns, "cpus": list(range(cpus)), "busy_ns": busy, "waiting_ns": waiting, "tasks": tasks}


def _busy(i: int, used: int, cpu: int, threads: int, rng: random.Random) -> float:
    if cpu >= threads:
        return 0.0
    if i < 12 and cpu > 0:
        return 0.1 * rng.random()
    return 0.0 if i > used - 5 * (cpu + 1) else rng.uniform(0.94, 1.0)


def law(sigma: float, kappa: float, largest: float) -> LawDoc:
    """A law with its lines, 5 % to either side."""
    sizes = [largest ** (i / 10) for i in range(11)] + [largest * 1.5, largest * 2]
    fitted = [n / (1 + sigma * (n - 1) + kappa * n * (n - 1)) for n in sizes]
    best = math.sqrt((1 - sigma) / kappa) if kappa else None
    low = (best and 0.8 * best) or 3 * largest
    optimum = Estimate(value=best, low=low, high=best and 1.3 * best, n=9, method="law")
    end = "2 times the largest size measured"
    return LawDoc(
        sigma=Estimate(value=sigma), kappa=Estimate(value=kappa), gamma=Estimate(value=1.0), optimum=optimum,
        twice=Estimate(value=fitted[-1]), largest=largest, end=end, sizes=sizes, fitted=fitted,
        low=[0.95 * y for y in fitted], high=[1.05 * y for y in fitted],
        amdahl=[] if kappa else [n / (1 + sigma * (n - 1)) for n in sizes],
    )  # fmt: skip


def lawful() -> Findings:
    """Two curves with their laws: one reaches its optimum, the other does not."""
    findings = small()
    for c, (sigma, kappa) in zip(findings.curves, ((0.05, 0.02), (0.3, 0.0)), strict=True):
        c.law = law(sigma, kappa, 8)
    return findings


def study(levels: Sequence[Level]) -> StudyDoc:
    """The declaration that the samples share."""
    return StudyDoc(
        name="thread-scaling",
        title="How do Java threads scale on this machine?",
        question="sweep",
        work="total",
        hash="5f3a9c51",
        seed=20240611,
        factors=[
            FactorDoc(name="threads", title="Threads", levels=list(levels)),
            FactorDoc(name="cpus", title="CPUs", kind="placement", control="cpus", levels=[1, 2]),
            FactorDoc(name="lock", title="Lock", levels=list(LOCKS)),
            FactorDoc(name="quantum", title="Work between locks", levels=list(QUANTA)),
        ],
        responses=[
            ResponseDoc(name="wall", title="Wall time", unit="s"),
            ResponseDoc(name="cpu", title="CPU time", unit="s"),
        ],
        baseline=BaselineDoc(factor="threads", level=1),
    )


def table(curves: Sequence[Curve]) -> TableDoc:
    """Every configuration, as analysis lays it out."""
    columns = [
        Column(name="cpus", kind="label"),
        Column(name="work", kind="label"),
        Column(name="lock", kind="label"),
        Column(name="threads", kind="label"),
        Column(name="wall", unit="s", kind="estimate"),
        Column(name="CPU time", unit="s", kind="estimate"),
        Column(name="speedup", kind="estimate"),
        Column(name="efficiency", kind="estimate"),
        Column(name="flags", kind="text"),
    ]
    rows = [_row(c, p) for c in curves for p in c.points]
    note = "Mean of run scores with 95 % interval; speedup is T(1)/T(n) on the same CPUs."
    return TableDoc(id="configurations", title="Time and speedup", note=note, columns=columns, rows=rows)


def _row(c: Curve, p: Point) -> list[Any]:
    labels = [c.group["cpus"], c.group["quantum"], c.group["lock"], p.level]
    times = [p.responses[name].estimate if name in p.responses else None for name in ("wall", "cpu")]
    return [*labels, *times, p.speedup, p.efficiency, join_flags(p.flags)]


def published() -> TableDoc:
    """Figures of a paper beside ours."""
    columns = [
        Column(name="threads", kind="label"),
        Column(name="published wall", unit="s"),
        Column(name="published factor"),
        Column(name="recomputed"),
        Column(name="measured factor", kind="estimate"),
    ]
    one = Estimate(value=1.0, low=1.0, high=1.0, n=10, method="the baseline, 1 by definition")
    two = Estimate(value=1.93, low=1.88, high=1.97, n=10, method="Welch t on logs")
    rows: list[list[Any]] = [[1, 43.1763, 1.0, 1.0, one], [2, 43.5993, 0.99, 0.9903, two], [8, None, 0, 1.0, None]]
    return TableDoc(id="published", title="Published beside measured", columns=columns, rows=rows)


def machine() -> dict[str, Any]:
    """A machine as the journal describes it."""
    return {
        "cpu_model": "Example CPU E5 @ 2.60 GHz",
        "n_cpus": 2,
        "memory_bytes": 8 * 2**30,
        "kernel": "6.1.0-21-amd64",
        "microcode": None,
        "governor": "performance",
        "clocksource": "tsc",
        "hypervisor": "kvm",
        "autogroup": False,
        "smt": {"active": False, "siblings": [[0], [1]]},
        "kernel_command_line": ["quiet"],
        "jvms": {"java17": "17.0.11+9"},
    }


def full(n: int = 10, levels: Sequence[int] = tuple(THREADS), n_timelines: int = 64) -> Findings:
    """Threads x CPUs x lock x quantum, with timelines: what a whole study leaves."""
    rng = random.Random(1)
    groups = list(product([1, 2], LOCKS, QUANTA))
    curves = [curve(c, lock, q, levels, n, rng) for c, lock, q in groups]
    runs = len(curves) * len(levels) * n
    lines = [
        TimelineDoc(
            run=f"r{i}",
            configuration={"threads": t, "cpus": c, "lock": lock, "quantum": q},
            timeline=timeline(t, c, wall_s(t, c, lock, q), rng),
        )
        for i, (t, c, lock, q) in enumerate(islice(product(levels, [2, 1], LOCKS, QUANTA), n_timelines))
    ]
    return Findings(
        study=study(levels),
        machine=machine(),
        runs=RunsDoc(
            n_asked=runs, n_done=runs - 2, n_failed=2, n_warmup=224, configurations=runs // n,
            verdicts={"clean": runs - 62, "disturbed": 60}, failures={"timeout": 2},
            started="2024-06-11T09:14:02Z", ended="2024-06-11T10:12:44Z", end_reason="complete",
        ),
        trust=Trust(
            level="doubt",
            sentence="60 of 2,240 runs were disturbed by other programs; no estimate rests on them alone.",
            causes=["56 runs: another program ran for more than 1 % of the window", "4 runs: the hypervisor took time"],
        ),
        answer=[
            "On two CPUs, unlocked threads do 1.93 [1.91, 1.95] times the work of one; more threads add nothing.",
            "A synchronized method around the whole quantum removes the gain; 8 threads are slower than one.",
            "The published collapse on one CPU does not reproduce: all locks stay within 3 % of the unlocked time.",
        ],
        curves=curves,
        tables=[table(curves), published()],
        timelines=lines,
        residue=["CPU clock between 2.59 and 2.61 GHz"],
        warnings=["220 and 250 threads were run on 2 CPUs only"],
        noise=StudyNoise(sd_log_percent=1.2, minimum_detectable_percent=1.6, n=10),
        degraded=[DegradedRuns(what="kernel records", why="perf_event_open: EACCES (kernel.perf_event_paranoid=3)",
                           fix="run as root, or set kernel.perf_event_paranoid to 2", n_runs=12)],
        reproduce=["scalograph study thread-scaling --seed 20240611 -o results", "scalograph report results"],
    )  # fmt: skip


def brief() -> Findings:
    """A whole study in its factors, quick to draw: few levels, few runs."""
    return full(n=2, levels=[1, 8, 512], n_timelines=4)


def small() -> Findings:
    """Two CPUs, one lock, four levels: a table that fits a page of golden text."""
    rng = random.Random(2)
    curves = [curve(2, lock, "small", [1, 2, 8], 3, rng) for lock in ("none", "method")]
    findings = full(n=1, levels=[1], n_timelines=0)
    findings.curves, findings.tables = curves, [table(curves), published()]
    findings.runs = RunsDoc(n_asked=18, n_done=18, n_failed=0, configurations=6, verdicts={"clean": 18})
    findings.trust = Trust(level="believe", sentence="18 of 18 runs were clean.")
    findings.timelines = [
        TimelineDoc(run="r3", configuration={"threads": 8, "cpus": 2}, timeline=timeline(8, 2, 0.3, rng)),
    ]
    return findings


def many() -> Findings:
    """Sixty-four CPUs, two quanta, two locks: more panels, or lines, than a page can show at once."""
    rng = random.Random(3)
    findings = small()
    groups = product(range(1, 65), LOCKS[:2], QUANTA)
    findings.curves = [curve(c, lock, q, [1, 2], 2, rng) for c, lock, q in groups]
    findings.study.factors[1].levels = list(range(1, 65))
    findings.timelines = []
    return findings


def bare() -> Findings:
    """Nothing but the study: no curves, no tables, no runs."""
    trust = Trust(level="reject", sentence="No run was done.")
    return Findings(study=study([1]), runs=RunsDoc(n_asked=0, n_done=0, n_failed=0, configurations=0), trust=trust)


def one_point() -> Findings:
    """One level, one run."""
    findings = bare()
    findings.curves = [curve(2, "none", "small", [1], 1, random.Random(3))]
    findings.tables = [table(findings.curves)]
    return findings


def all_failed() -> Findings:
    """Every run failed: points without a value."""
    findings = bare()
    empty = PointResponse(estimate=estimate([]))
    points = [
        Point(level=t, responses={"wall": empty}, n_failed=3, flags=[Flag("failed", "3 runs failed: timeout", 3)])
        for t in (1, 2)
    ]
    findings.curves = [Curve(group={"cpus": 1, "lock": "none", "quantum": "small"}, factor="threads", points=points)]
    findings.tables = [table(findings.curves)]
    findings.runs = RunsDoc(n_asked=6, n_done=6, n_failed=6, configurations=2, failures={"timeout": 6})
    return findings


def many_points() -> Findings:
    """500 levels along one curve."""
    findings = bare()
    findings.curves = [curve(2, "object", "small", range(1, 501), 2, random.Random(4))]
    return findings


def many_runs(n: int) -> Findings:
    """About n runs behind 224 configurations."""
    return full(n=n // 224, n_timelines=64)


def wide_machine() -> Findings:
    """64 CPUs, in shares and timelines."""
    findings = small()
    rng = random.Random(5)
    for c in findings.curves:
        for p in c.points:
            p.per_cpu_share = [1 / 64] * 64
    wide = timeline(64, 64, 0.5, rng)
    findings.timelines = [TimelineDoc(run=f"r{i}", configuration={"threads": i}, timeline=wide) for i in range(64)]
    return findings


def hostile() -> Findings:
    """Names and texts that would run, draw or color something if anyone let them."""
    findings = small()
    bad = f"{HOSTILE}\u2028<b>bold</b> [red]x[/] \x1b[31mred {{{{7*7}}}} $x^2$ %{{y}} &lt;"
    study = findings.study
    study.title = bad
    study.factors = [f.model_copy(update={"title": f"{bad} {f.name}", "unit": "<i>u</i>"}) for f in study.factors]
    study.responses = [r.model_copy(update={"title": f"{bad} {r.name}"}) for r in study.responses]
    for c in findings.curves:
        c.group = {**c.group, "lock": f"{c.group['lock']} {bad}"}
        for p in c.points:
            p.flags = [Flag("bad", bad)]
            for response in p.responses.values():
                response.runs = [f"=cmd {bad}" for _ in response.runs]
    for t in findings.timelines:
        t.run, t.configuration = bad, {"lock": bad}
        for task in t.timeline["tasks"]:
            task["name"] = bad
    findings.tables[0].title = findings.tables[0].columns[0].name = findings.tables[0].rows[0][2] = bad
    findings.answer, findings.warnings, findings.reproduce = [bad], [bad], [bad]
    findings.machine[bad] = {bad: [bad]}
    return findings
