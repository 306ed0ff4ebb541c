"""Ceilings and findings made up for tests."""

from collections.abc import Mapping

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import BaselineDoc, Curve, FactorDoc, Findings, Point, RunsDoc, StudyDoc, Trust
from scalograph.protocol.machine_ceiling import Ceiling, Timed
from scalograph.protocol.plain import Level

# Five runs, within 1% of each other.
WOBBLE = (1.0, 1.006, 0.995, 1.003, 0.998)
KINDS = {"arithmetic": 1.98, "memory": 1.3, "fork": 1.7, "faults": 1.6, "lock": 0.4, "faults-shared": 0.6}


def timed(n_cpus: int, seconds: float, **more: object) -> Timed:
    turned = WOBBLE[n_cpus % 5 :] + WOBBLE[: n_cpus % 5]
    return Timed.model_validate(
        {"n_cpus": n_cpus, "scores": tuple(seconds * x for x in turned), "blocks": tuple(range(5)), **more}
    )


def ceiling(kinds: Mapping[str, float] = KINDS) -> Ceiling:
    """On one CPU and on two, with these speedups."""
    return Ceiling(at="2026-01-02T03:04:05Z", kinds={k: (timed(1, 0.2), timed(2, 0.2 / s)) for k, s in kinds.items()})


def gain(value: float) -> Estimate:
    return Estimate(value=value, low=value * 0.98, high=value * 1.02, n=5)


def curve(
    points: Mapping[int, tuple[float, int]], factor: str = "threads", group: dict[str, Level] | None = None
) -> Curve:
    """Level -> speedup and the CPUs of its runs."""
    made = [Point(level=level, n_cpus=n, speedup=gain(value)) for level, (value, n) in points.items()]
    return Curve(group=group or {}, factor=factor, points=made)


def findings(*curves: Curve, control: str | None = None, baseline: int | None = 1) -> Findings:
    factor = curves[0].factor if curves else "threads"
    factors = [FactorDoc(name=factor, title=factor, control=control, levels=[1, 2])]
    study = StudyDoc(
        name="s", title="S", question="sweep", work="total", hash="", seed=1, factors=factors, responses=[],
        baseline=None if baseline is None else BaselineDoc(factor=factor, level=baseline),
    )  # fmt: skip
    runs = RunsDoc(n_asked=10, n_done=10, n_failed=0, configurations=2)
    return Findings(
        study=study, runs=runs, trust=Trust(level="reliable", sentence=""), answer=["first"], curves=[*curves]
    )
