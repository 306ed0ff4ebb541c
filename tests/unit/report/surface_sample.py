"""Findings with a surface, to develop and test the report with: true to its shape, invented in its figures."""

import math
from collections.abc import Sequence

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.protocol.findings import (
    BaselineDoc,
    Column,
    FactorDoc,
    Findings,
    Part,
    ResponseDoc,
    RunsDoc,
    StudyDoc,
    TableDoc,
    Trust,
)
from scalograph.protocol.plain import Level
from scalograph.questions.surface.document import Surface, SurfaceCell, Surfaces
from scalograph.questions.surface.model import jain, pinned_time, shared_time

ALONE_S = 0.1
HOSTILE = "</script><img src=x onerror=alert(1)>"


def around(value: float, share: float = 0.01) -> Estimate:
    """An estimate with an interval to both sides."""
    return Estimate(value=value, low=value * (1 - share), high=value * (1 + share), n=10, method="an example")


def cell(workers: int, cpus: int) -> SurfaceCell:
    """Half of the way to workers that stay where they are."""
    expected = ALONE_S * shared_time(workers, cpus)
    taken = math.sqrt(expected * ALONE_S * pinned_time(workers, cpus))
    ends = [taken * (1 - 0.1 * i / workers) for i in range(workers)]
    used = min(1.0, workers / cpus)
    return SurfaceCell(
        estimate=around(taken),
        expected=expected,
        deviation=around(taken / expected),
        fairness=around(jain(ends), 0.001) if workers > 1 else None,
        busy=[used] * cpus,
        flag=Flag("longer", "longer than the CPUs need") if taken / expected > 1.06 else None,
    )


def surface(workers: Sequence[int], cpus: Sequence[int], group: dict[str, Level] | None = None) -> Surface:
    """All configurations but the last, which was not planned."""
    cells: list[list[SurfaceCell | None]] = [[cell(n, m) for n in workers] for m in cpus]
    cells[-1][-1] = None
    return Surface(
        group=group or {}, x="processes", y="cpus", x_levels=list(workers), y_levels=list(cpus), response="wall",
        cells=cells, slopes=[around(ALONE_S / m) for m in cpus],
    )  # fmt: skip


def with_surfaces(surfaces: Sequence[Surface], title: str = "processes") -> Findings:
    """The document that holds them."""
    n, m = surfaces[0].x_levels, surfaces[0].y_levels
    return Findings(
        study=StudyDoc(
            name="cpu-surface", title="How long do N busy processes take on M CPUs?", question="sweep",
            work="per-worker", hash="5f3a9c51", seed=1, baseline=BaselineDoc(factor="processes", level=1),
            factors=[
                FactorDoc(name="processes", title=title, levels=list(n)),
                FactorDoc(name="cpus", title="CPUs", kind="placement", control="cpus", levels=list(m)),
                FactorDoc(name="options", title="options", levels=["", "-Xint"]),
            ],
            responses=[ResponseDoc(name="wall", title="wall time", unit="s")],
        ),
        runs=RunsDoc(n_asked=10, n_done=10, n_failed=0, configurations=len(n) * len(m)),
        trust=Trust(level="believe", sentence="An example."),
        parts={"surface": Part(data=Surfaces(surfaces=list(surfaces)).model_dump(mode="json"))},
        tables=[TableDoc(id="one", title="One", columns=[Column(name="x")], rows=[[1]])],
    )  # fmt: skip


def two_cpus() -> Findings:
    """As the quick form of the study has it on the machine that most have."""
    return with_surfaces([surface([1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24], [1, 2])])


def many_cpus() -> Findings:
    """Two surfaces of a larger machine, to choose from."""
    workers = list(range(1, 25))
    return with_surfaces([surface(workers, range(1, 17), {"options": o}) for o in ("", "-Xint")])


def hostile() -> Findings:
    """Titles that want to be markup."""
    return with_surfaces([surface([1, 2, 3, 4], [1, 2])], HOSTILE)
