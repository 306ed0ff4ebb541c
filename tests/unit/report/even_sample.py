"""Findings of break-even, to develop and test the report with: true to their shape, invented in their figures."""

import math
from collections.abc import Sequence

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
from scalograph.questions.break_even.chart_panels import MOST_MAPS, MOST_ROWS
from scalograph.questions.break_even.document import BreakEven, BreakEvenLine, BreakEvenMap, BreakEvenPair

HOSTILE = "</script><img src=x onerror=alert(1)>"
SIZES = [16.0 * 2 ** (i / 4) for i in range(49)]
START, SURE = 1000.0, 1.1


def ratio(size: float, workers: float, cost: float) -> float:
    """Time of the parallel version over the sequential one's: starting costs as much as 1000 cheap elements."""
    return (START / cost + size / workers) / size


def line(workers: float, cost: float) -> BreakEvenLine:
    """One worker never wins; two or more do from somewhere on."""
    if workers == 1:
        return BreakEvenLine(level=workers, kind="never")
    location = START / cost / (1 - 1 / workers)
    return BreakEvenLine(level=workers, kind="from", location=location, low=location / SURE, high=location * SURE)


def even_map(
    cost: float = 1, workers: Sequence[float] = (1, 2, 4, 8), group: dict[str, Level] | None = None
) -> BreakEvenMap:
    """A map over size and workers."""
    table = [[ratio(n, p, cost) for n in SIZES] for p in workers]
    places = [(64.0, 2.0, 1), (4096.0, 2.0, 1), (16384.0, 4.0, 3), (65536.0, 1.0, 1)]
    return BreakEvenMap(
        group=group or {}, x="size", y="workers", x_levels=SIZES, y_levels=list(workers), ratio=table,
        low=[[r / SURE for r in row] for row in table], high=[[r * SURE for r in row] for row in table],
        lines=[line(p, cost) for p in workers],
        pairs=[BreakEvenPair(x=n, y=p, ratio=ratio(n, p, cost), n=times) for n, p, times in places],
    )  # fmt: skip


def curve(workers: float = 4) -> BreakEvenMap:
    """Size alone."""
    whole = even_map(workers=(workers,))
    pairs = [BreakEvenPair(x=p.x, y=None, ratio=ratio(p.x, workers, 1), n=p.n) for p in whole.pairs]
    lines = [one.model_copy(update={"level": None}) for one in whole.lines]
    return whole.model_copy(update={"y": "", "y_levels": [], "lines": lines, "pairs": pairs})


def with_maps(maps: Sequence[BreakEvenMap], title: str = "size", other: str = "parallel") -> Findings:
    """The document that holds them."""
    return Findings(
        study=StudyDoc(
            name="even", title="From where on?", question="break-even", work="total", hash="5f3a9c51", seed=1,
            baseline=BaselineDoc(factor="version", level="sequential"),
            factors=[
                FactorDoc(name="version", title="version", levels=["sequential", other]),
                FactorDoc(name="size", title=title, levels=[2**i for i in range(4, 17)]),
                FactorDoc(name="workers", title="workers", levels=[1, 2, 4, 8]),
                FactorDoc(name="cost", title="cost", levels=[1, 4, 16]),
            ],
            responses=[ResponseDoc(name="wall", title="wall time", unit="s")],
        ),
        runs=RunsDoc(n_asked=10, n_done=10, n_failed=0, configurations=104),
        trust=Trust(level="believe", sentence="An example."),
        parts={"break-even": Part(decided=True, data=BreakEven(
            factor="version", baseline="sequential", other=other, decided=True, even=0.1,
            shares={"wins": 0.4, "loses": 0.5, "even": 0.1, "undecided": 0.0}, n=6, noise_percent=2.0, maps=list(maps),
        ).model_dump(mode="json"))},
        tables=[TableDoc(id="one", title="One", columns=[Column(name="x")], rows=[[1]])],
    )  # fmt: skip


def two_factors() -> Findings:
    """One map."""
    return with_maps([even_map()])


def three_factors() -> Findings:
    """A map for each cost."""
    return with_maps([even_map(cost, group={"cost": cost}) for cost in (1, 4, 16)])


def one_factor() -> Findings:
    """A curve."""
    return with_maps([curve()])


def undecided() -> Findings:
    """At one worker, only where it loses is known."""
    one = even_map()
    open_line = BreakEvenLine(level=1, kind="undecided", low=8192.0)
    return with_maps([one.model_copy(update={"lines": [open_line, *one.lines[1:]]})])


def hostile() -> Findings:
    """Names and titles that want to be markup."""
    return with_maps([even_map(group={"cost": HOSTILE})], HOSTILE, HOSTILE)


def largest() -> Findings:
    """More of everything than a page draws: what is beyond is left out, however much it is."""
    levels = [float(2 + i) for i in range(MOST_ROWS + 8)]
    return with_maps([even_map(1 + i / 7, levels, {"cost": i}) for i in range(MOST_MAPS + 2)])


def speedups(workers: float) -> list[float]:
    """What the page should show of a row."""
    return [float(f"{1 / ratio(n, workers, 1):.4g}") for n in SIZES]


def log_place(level: float) -> float:
    """Where a level stands on a logarithmic axis."""
    return round(math.log10(level), 6)
