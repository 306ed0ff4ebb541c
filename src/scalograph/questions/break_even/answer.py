"""Answer where a version is as fast as the baseline: the search is replayed from its pairs of runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from math import exp, expm1
from statistics import median
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.sample import replay_runs
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level, is_number
from scalograph.questions.break_even.claim import FEW, NOISY, break_even_claim, formula_sentence
from scalograph.questions.break_even.document import (
    BreakEven,
    BreakEvenFormula,
    BreakEvenLine,
    BreakEvenMap,
    BreakEvenPair,
)
from scalograph.questions.break_even.model import OUTLIER, SURE, RatioSurface, least_work
from scalograph.questions.break_even.model_mean import ComparisonSpace, SpacePoint, comparison_space, size_powers
from scalograph.questions.break_even.search_state import EVEN, BreakEvenState, begin
from scalograph.questions.break_even.tables import break_even_tables
from scalograph.text.warning_catalog import Caveat

# The formula is dropped where its line is typically further off the measured surface.
MAX_FORMULA_DISTANCE = 0.15
# Places along the sizes at which both are compared.
FORMULA_STEPS = 129


def fit_formula(
    space: ComparisonSpace, surface: RatioSurface, is_measured: Callable[[dict[int, float]], bool]
) -> BreakEvenFormula | None:
    """Express the break-even line as a product of sizes; None where it does not fit the measured surface.

    `is_measured`: whether a combination of levels of the other factors, by axis, has pairs.
    """
    if not (powers := size_powers(surface.mean)):
        return None
    others = [i for i in range(len(space.names)) if i not in powers]
    # A line beyond the largest sizes was measured by nobody.
    most = float(np.exp(sum(p * surface.mean.axes[i].high * np.log(2) for i, p in powers.items())))
    rows = []
    for levels in product(*(space.levels(i) for i in others)):
        row = dict(zip(others, levels, strict=True))
        if not is_measured(row):
            continue
        work = least_work(surface.mean, {i: space.coordinate(i, n) for i, n in row.items()})
        threshold = float(f"{work:.4g}") if work is not None and work <= most else None
        rows.append(({space.names[i]: n for i, n in row.items()}, threshold))
    off = _formula_distance(surface)
    if off is None or off > MAX_FORMULA_DISTANCE or all(work is None for _, work in rows):
        return None
    return BreakEvenFormula(
        powers={space.names[i]: round(p, 3) for i, p in powers.items()}, work=rows, off=round(off, 4)
    )


def _formula_distance(surface: RatioSurface) -> float | None:
    """Return the median distance between the lines of mean and surface, as a share of the work.

    Both are followed along the diagonal of all sizes, at each level of the others; None without a line.
    """
    axes, sizes = surface.mean.axes, size_powers(surface.mean)
    others = [np.linspace(a.low, a.high, 5) if i not in sizes else [0.0] for i, a in enumerate(axes)]
    share = np.linspace(0, 1, FORMULA_STEPS)
    apart = []
    for fixed in product(*others):
        at = np.array([fixed] * FORMULA_STEPS)
        for i in sizes:
            at[:, i] = axes[i].low + share * (axes[i].high - axes[i].low)
        work = sum(p * at[:, i] * np.log(2) for i, p in sizes.items())
        ends = [_crossing_work(work, g) for g in (surface.mean(at), surface(at)[0])]
        if ends[0] is not None and ends[1] is not None:
            apart.append(abs(ends[0] - ends[1]))
    return float(np.expm1(np.median(apart))) if apart else None


def _crossing_work(work: FloatArray, g: FloatArray) -> float | None:
    """Return the log work at which g falls below 0, if it does inside."""
    above = np.flatnonzero(g > 0)
    if not above.size or above[-1] + 1 == g.size:
        return None
    i = int(above[-1])
    return float(work[i] + (work[i + 1] - work[i]) * g[i] / (g[i] - g[i + 1]))


LineKind = Literal["from", "until", "always", "never", "several", "undecided", "unmeasured"]
# The kind of a row, and the coordinates of its ends.
RowLine = tuple[LineKind, dict[str, float | None]]
Signs = np.ndarray[tuple[int], np.dtype[np.int64]]

# Points along a row: of a range of 2**14, 2.5% from each other.
LINE_STEPS = 385
WINS, LOSES = 1, -1


def break_even_line(search: "EndedSearch", x: int, y: int | None, row: Mapping[int, float]) -> BreakEvenLine:
    """Describe the line of a row, which fixes the levels of all axes but x."""
    kind, ends = _row_line(search.space, search.surface, search.state, x, row)
    levels = {key: None if at is None else float(f"{search.space.level(x, at):.4g}") for key, at in ends.items()}
    return BreakEvenLine(level=None if y is None else row[y], kind=kind, **levels)


def _row_line(
    space: ComparisonSpace, surface: RatioSurface, state: BreakEvenState, x: int, row: Mapping[int, float]
) -> RowLine:
    points = _available_points(space, state, row)
    if not points:
        return "unmeasured", {}
    left = sorted(space.coordinate(x, space.points[i][x]) for i in points)
    places = np.linspace(left[0], left[-1], LINE_STEPS)
    # A row is open at its levels, on which the search decided.
    is_open = state.is_open(*surface(grid(space, x, np.array(left), row)))
    return _classify_row(places, *surface(grid(space, x, places, row)), bool(is_open.any()), state.even)


def grid(space: ComparisonSpace, x: int, places: FloatArray, row: Mapping[int, float]) -> FloatArray:
    """Return coordinates along one axis, the other axes at one level each; shape (places, axes)."""
    coordinates = np.empty((len(places), len(space.names)))
    for i in range(len(space.names)):
        coordinates[:, i] = places if i == x else space.coordinate(i, row[i])
    return coordinates


def _available_points(space: ComparisonSpace, state: BreakEvenState, row: Mapping[int, float]) -> set[int]:
    """Return the points of a row that did not fail; none where all tried ones failed: there, the surface guesses."""
    points = {i for i, point in enumerate(space.points) if all(point[j] == level for j, level in row.items())}
    left = points & {*state.candidates.tolist()}
    return left if left == points or points & {*state.asked} else set()


def _classify_row(places: FloatArray, mean: FloatArray, sd: FloatArray, is_open: bool, even: float) -> RowLine:
    """Classify a row, with the ends of the stretch between certain loss and certain win."""
    sure = _winners(mean, sd, even)
    sides = [int(side) for side, _ in groupby(side for side in sure if side)]
    if len(sides) > 2:
        return "several", {}
    if len(sides) == 2:
        last = int(np.flatnonzero(sure == sides[0])[-1])
        first = int(np.flatnonzero(sure == sides[1])[0])
        kind: LineKind = "from" if sides[0] == LOSES else "until"
        won = np.flatnonzero(sure == WINS)
        end = won[-1] if kind == "from" else won[0]
        location = _crossing(places[last : first + 1], mean[last : first + 1])
        ends: dict[str, float | None] = {"location": location, "low": float(places[last]), "high": float(places[first])}
        # Where winning is not sure up to the end of the range, its sure end is reported.
        return kind, ends | ({} if end in (0, len(sure) - 1) else {"sure_to": float(places[end])})
    if is_open:
        return "undecided", _undecided_ends(places, sure, sides)
    return ("always" if sides == [WINS] else "never"), {}


def _winners(mean: FloatArray, sd: FloatArray, even: float) -> Signs:
    """Return the sure winner at each place; 0 where none is, or both stay within what counts as even."""
    sure = np.where(mean + SURE * sd < 0, WINS, np.where(mean - SURE * sd > 0, LOSES, 0))
    ends = [0, *(np.flatnonzero(np.diff(sure)) + 1), len(sure)]
    for start, end in pairwise(ends):
        if np.abs(mean[start:end]).max() < even:
            sure[start:end] = 0
    return np.asarray(sure)


def _crossing(places: FloatArray, mean: FloatArray) -> float:
    """Interpolate where the mean passes 0, from its first sign to its last one."""
    at = int(np.flatnonzero(np.sign(mean) == np.sign(mean[0]))[-1])
    share = mean[at] / (mean[at] - mean[at + 1])
    return float(places[at] + share * (places[at + 1] - places[at]))


def _undecided_ends(places: FloatArray, sure: Signs, sides: list[int]) -> dict[str, float | None]:
    """Return the known end of a row with one sure side: of losing as far as it goes, of winning from or up to."""
    if not sides:
        return {}
    at = np.flatnonzero(sure == sides[0])
    from_below = at[0] == 0
    if sides[0] == WINS:
        return {"sure_to": float(places[at[-1]])} if from_below else {"sure_from": float(places[at[0]])}
    return {"low": float(places[at[-1]])} if from_below else {"high": float(places[at[0]])}


def speedup_lookup(space: ComparisonSpace, surface: RatioSurface, n_pairs: int) -> Lookup:
    """Make the lookup of speedups over the baseline: none outside the range, or where a level is missing."""

    def lookup(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
        point = _coordinates(space, wanted)
        if point is None:
            return {}
        if wanted.get(space.factor) == space.baseline:
            return {"speedup": Estimate(value=1.0, low=1.0, high=1.0, method="the baseline itself")}
        mean, sd = surface(point)
        ends = [exp(-g) for g in (mean[0], mean[0] + SURE * sd[0], mean[0] - SURE * sd[0])]
        return {"speedup": Estimate(value=ends[0], low=ends[1], high=ends[2], n=n_pairs, method="surface of all pairs")}

    return lookup


def _coordinates(space: ComparisonSpace, wanted: Mapping[str, Level | None]) -> FloatArray | None:
    coordinates = []
    for i, name in enumerate(space.names):
        level, levels = wanted.get(name), space.levels(i)
        if not is_number(level) or not levels[0] <= level <= levels[-1]:
            return None
        coordinates.append(space.coordinate(i, level))
    return np.array([coordinates])


# Places along x where a map holds the surface, and maps at most: nobody would look at more.
STEPS, MOST_MAPS = 49, 16


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    search = replay_search(table)
    if not search:
        return Answer(decided=False, claim=break_even_claim(table, None), doubts=_doubts(None), at_levels=lambda _: {})
    document = break_even(table, search)
    return Answer(
        document=document, decided=document.decided, claim=break_even_claim(table, document),
        sentences=formula_sentence(table, document),
        tables=break_even_tables(table, search.space, search.state.pairs, search.surface, document),
        doubts=_doubts(document), at_levels=speedup_lookup(search.space, search.surface, len(search.state.asked)),
    )  # fmt: skip


def _doubts(result: BreakEven | None) -> list[Caveat]:
    """Return why the answer is uncertain, the gravest first: a few open points do not change the others."""
    if result is None:
        return [Caveat("nothing known", {"what": "break-even"})]
    misfits = [Caveat("pairs differ", {"noise": result.noise_percent})] * (result.noise_percent > NOISY)
    misfits += [Caveat("no smooth surface", {"n": result.n_off, "of": result.n})] * bool(result.n_off)
    share, counts = 100 * result.shares["undecided"], {"n": result.n, "more": result.n_more or None}
    still_open = Caveat("points open", {**counts, "share": share}) if share else Caveat("points unconfirmed", counts)
    some = [] if result.decided else [still_open]
    return [*misfits, *some] if result.shares["undecided"] < FEW else [*some, *misfits]


@dataclass(frozen=True)
class EndedSearch:
    """A search as it ended: the compared points, its state, and the surface of its pairs."""

    space: ComparisonSpace
    state: BreakEvenState
    surface: RatioSurface


def replay_search(table: Table) -> EndedSearch | None:
    """Replay the search; None where there are too few pairs."""
    space = comparison_space(table.study, table.configurations)
    state = replay_runs(begin(table.study, table.configurations, int(table.machine.get("n_cpus") or 1)), table)
    return EndedSearch(space, state, state.surface) if state.surface else None


def break_even(table: Table, search: EndedSearch) -> BreakEven:
    space, state, surface, precision = search.space, search.state, search.surface, table.study.protocol.precision
    noise = surface.parameters.noise
    off = np.abs(np.array(state.g) - surface(space.coordinates()[state.asked])[0])
    return BreakEven(
        factor=space.factor, baseline=space.baseline, other=space.other,
        decided=state.is_decided, even=EVEN if precision is None else precision, shares=_shares(search),
        n=len(state.asked), n_more=None if state.is_decided else state.n_more,
        noise_percent=round(100 * expm1(noise), 2), n_off=int(np.sum(off > OUTLIER * noise)),
        maps=[_map(search, group) for group in _groups(search)],
        formula=fit_formula(space, surface, lambda row: bool(_available_points(space, state, row))),
    )  # fmt: skip


def _shares(search: EndedSearch) -> dict[str, float]:
    candidates = search.state.candidates
    mean, sd = search.surface(search.space.coordinates()[candidates])
    is_open = search.state.is_open(mean, sd)
    wins, loses = mean + SURE * sd < 0, mean - SURE * sd > 0
    even = ~(is_open | wins | loses)
    kinds = {"wins": wins, "loses": loses, "even": even, "undecided": is_open}
    return {kind: round(float(np.mean(where)), 4) for kind, where in kinds.items()}


def map_axes(space: ComparisonSpace) -> tuple[int, int | None]:
    """Choose the axes of a map: x a size, else the first factor; y the workers, else the next factor."""
    roles = [axis.role for axis in space.axes]
    x = roles.index("size") if "size" in roles else 0
    others = [i for i in range(len(roles)) if i != x]
    return x, next((i for i in others if roles[i] == "workers"), others[0] if others else None)


def _groups(search: EndedSearch) -> list[SpacePoint]:
    """Return levels of the factors that a map does not draw: one tuple for each map, evenly chosen if too many."""
    drawn = map_axes(search.space)
    groups = sorted({tuple(n for i, n in enumerate(p) if i not in drawn) for p in search.space.points})
    if len(groups) <= MOST_MAPS:
        return groups
    return [groups[round(i * (len(groups) - 1) / (MOST_MAPS - 1))] for i in range(MOST_MAPS)]


def _map(search: EndedSearch, group: SpacePoint) -> BreakEvenMap:
    space, (x, y) = search.space, map_axes(search.space)
    others = [i for i in range(len(space.names)) if i not in (x, y)]
    fixed = dict(zip(others, group, strict=True))
    places = np.linspace(space.axes[x].low, space.axes[x].high, STEPS)
    rows = [{**fixed, y: level} for level in space.levels(y)] if y is not None else [fixed]
    surfaces = [search.surface(grid(space, x, places, row)) for row in rows]
    pairs = [
        BreakEvenPair(x=point[x], y=None if y is None else point[y], ratio=_round(exp(median(gs))), n=len(gs))
        for point, gs in ((space.points[index], gs) for index, gs in search.state.pairs.items())
        if all(point[i] == level for i, level in fixed.items())
    ]
    return BreakEvenMap(
        group={space.names[i]: int(level) if level == int(level) else level for i, level in fixed.items()},
        x=space.names[x], y="" if y is None else space.names[y],
        x_levels=[_round(space.level(x, coordinate)) for coordinate in places],
        y_levels=[] if y is None else space.levels(y), ratio=[[_round(exp(g)) for g in mean] for mean, _ in surfaces],
        low=[[_round(exp(g)) for g in mean - SURE * sd] for mean, sd in surfaces],
        high=[[_round(exp(g)) for g in mean + SURE * sd] for mean, sd in surfaces],
        lines=[break_even_line(search, x, y, row) for row in rows], pairs=pairs,
    )  # fmt: skip


def _round(value: float) -> float:
    return float(f"{value:.5g}")
