"""Choose the first chart of a report: the one the answer names, else the speedup, else a question's own."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from typing import Any

from scalograph.protocol.figure import Figure, Overlay, Plot
from scalograph.protocol.findings import Claim, Findings
from scalograph.report.distribution_chart import distribution
from scalograph.report.static_picture import picture
from scalograph.text.format import number, significant
from scalograph.text.plots import (
    axis,
    axis_ticks,
    decades,
    escape_markup,
    fade_color,
    hover,
    line,
    log_range,
    outside_ticks,
    round_numbers,
    shorten_middle,
    split_hollow,
)
from scalograph.text.short_names import short_setting, shorten_titles

MOST_LINES, MOST_COMPARED = 6, 200
# A factor with a smaller effect than this, as a share of the strongest, does not separate lines.
WEAK = 0.25
ALIKE, GROUPED = math.log(1.05), math.log(1.15)  # lines that are one, and those that a row may stand for


@dataclass(frozen=True)
class CurveLine:
    """A curve as drawn: positions, values with both ends and text, ideals, and `published` lines of papers.

    Attributes:
        open: whether each point is inconclusive.
        levels: the level of each point, as text.
    """

    group: tuple[int, ...]
    xs: list[float]
    values: list[list[Any]]
    ideal: list[float | None]
    published: Sequence[tuple[list[float], list[float]]] = ()
    open: Sequence[bool] = ()
    levels: Sequence[str] = ()

    @property
    def ys(self) -> list[float]:
        return [value[0] for value in self.values]

    def apart(self, other: "CurveLine") -> float:
        """Return the largest distance from another curve, as the logarithm of a ratio."""
        there = dict(zip(other.xs, other.ys, strict=True))
        pairs = [(y, there[x]) for x, y in zip(self.xs, self.ys, strict=True) if x in there]
        return max((abs(math.log(a / b)) for a, b in pairs if min(a, b) > 0), default=0.0)


def lines(family: dict[str, Any], name: str) -> list[CurveLine]:
    """Return the curves of a family that have a measure anywhere."""
    at, curves = family["axis"]["at"], []
    shown = {layer["of"] for layer in family["under"] if layer["shown"] and "paper" in layer}
    for curve in family["curves"]:
        points = [point for point in curve["points"] if name in point["values"]]
        xs, values = [at[p["level"]] for p in points], [p["values"][name] for p in points]
        beside = (layer for layer in curve["under"] if layer["of"] in shown and layer["measure"] == name)
        paper = [(trace["x"], trace["y"]) for layer in beside for trace in layer["traces"]]
        ideal, labels = [p["ideal"] for p in points], [family["axis"]["labels"][p["level"]] for p in points]
        open_ = [name in p.get("open", ()) for p in points]
        curves.append(CurveLine(tuple(curve["group"]), xs, values, ideal, paper, open_, labels))
    return [line for line in curves if line.xs]


def match_rows(every: Sequence[CurveLine], rows: Sequence[dict[float, float]]) -> list[CurveLine]:
    """Find the nearest curve to each row of the answer's matrix."""
    matches = []
    for row in filter(None, rows):
        probe = CurveLine((), [*row], [[value] for value in row.values()], [])
        near = min(every, key=lambda line: (len(row.keys() - {*line.xs}), line.apart(probe)))
        if row.keys() <= {*near.xs} and near.apart(probe) < GROUPED and near not in matches:
            matches.append(near)
    return matches[:MOST_LINES]


def furthest(every: Sequence[CurveLine]) -> list[CurveLine]:
    """Choose the highest curve, then repeatedly the one furthest from those chosen; in declared order.

    Factors that move nothing stay at the level with most measurements. A line of one point, if there is just one, is
    what the others are compared with.
    """
    leading = _leading(every)
    rest = Counter(_fixed_levels(line, leading) for line in every for _ in line.xs).most_common(1)[0][0]
    left = [line for line in every if _fixed_levels(line, leading) == rest]
    named = [max(left, key=lambda line: max(line.ys))]
    while len(named) < min(MOST_LINES, len(left)):
        distance, i = max((min(line.apart(other) for other in named), i) for i, line in enumerate(left))
        if distance < ALIKE and len(left) > MOST_LINES:
            break
        named.append(left[i] if left[i] not in named else next(line for line in left if line not in named))
    single = [line for line in every if len(line.xs) == 1]
    beside = single if len(single) == 1 and single[0] not in named else []
    return [line for line in every if line in named[: MOST_LINES - len(beside)] + beside]


def _leading(every: Sequence[CurveLine]) -> list[int]:
    moves = dict.fromkeys(range(len(every[0].group)), 0.0)
    for first, other in combinations(every[:MOST_COMPARED], 2):
        differ = [i for i in moves if first.group[i] != other.group[i]]
        if len(differ) == 1:
            moves[differ[0]] = max(moves[differ[0]], first.apart(other))
    return [i for i, move in moves.items() if move >= max(WEAK * max(moves.values()), ALIKE)]


def _fixed_levels(line: CurveLine, leading: Sequence[int]) -> tuple[int, ...]:
    return tuple(level for i, level in enumerate(line.group) if i not in leading)


MOST_LETTERS = 40
LOG_FROM = 3.0
NEAR = 1e-4  # as shapes are rounded
LETTER, GAP, HEIGHT = 6.6, 14, 230
COLORS = (0, 1, 2, 3, 4, 7)  # roles that names can be read in
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")
Named = dict[str, dict[str, Any]]  # factors, as the page has them
BETTER = {"lower": ", lower is better", "higher": ", higher is better"}


def curve_picture(findings: Findings, family: dict[str, Any], measure: dict[str, Any], factors: Named) -> Plot:
    """Draw a measure of a family of curves, with the texts and numbers of the page's script."""
    every = lines(family, measure["id"])
    named = match_rows(every, _rows(findings.claim, family)) or furthest(every)
    gray = [curve for curve in every if curve not in named]
    rising = [curve for curve in named if measure["id"] == "speedup" and len({*curve.ideal} - {None}) > 1]
    ideals = list({tuple(curve.ideal): curve for curve in rising}.values())
    paper = [(i, line) for i, curve in enumerate(named) for line in curve.published]
    beside = [y for _, (_, ys) in paper for y in ys]
    upright = _upright(every, ideals, beside, _title(findings, measure, factors), family["axis"]["scale"] == "linear")
    labels, common = _labels(named, family["groups"], factors)
    xs = [x for curve in every for x in curve.xs]
    last = [len(label) for curve, label in zip(named, labels, strict=True) if curve.xs[-1] == max(xs)]
    widest = [max(map(len, upright["ticktext"])), max(last, default=0) if len(named) > 1 else 0]
    is_ordered = family["axis"]["ordered"]
    pad = 0.03 * (max(xs) - min(xs) or 1) if is_ordered else 0.5
    apart = named if is_ordered else [_aside(curve, i, len(named)) for i, curve in enumerate(named)]
    title = family["title"] + (" (log scale)" if family["axis"]["scale"] == "log" else "")
    layout = {
        "margin": {"l": 18 + round(LETTER * widest[0]), "t": 24, "b": 42, "r": 14 + round(LETTER * widest[1])},
        "xaxis": axis(title, (min(xs) - pad, max(xs) + pad), **_ticks(family)), "yaxis": upright,
        "annotations": _names(apart, labels, upright), "shapes": family["shapes"],
    }  # fmt: skip
    # A line of one point is the reference of the others.
    alone = [(i, curve) for i, curve in enumerate(named) if len(curve.xs) == 1 < len({*xs})]
    dashed = {"style": {"dash": "6px,4px"}}
    traces = [
        _gray(gray, is_ordered),
        *(line(curve.xs, curve.ideal, "muted", 1.2, **dashed) for curve in ideals),
        *(line([min(xs), max(xs)], [*curve.ys, *curve.ys], f"line-{COLORS[i]}", 1.2, **dashed) for i, curve in alone),
        *(_published_trace(xs, ys, i, is_ordered) for i, (xs, ys) in paper),
        *chain.from_iterable(_traces(*pair, is_ordered, labels, family, measure) for pair in enumerate(apart)),
        *(arrows := _arrows(apart, upright)),
    ]  # fmt: skip
    note = [
        f"bars: {measure['bars']}", "dashed: ideal" if ideals else "", _paper_note(family) if paper else "",
        "hollow: inconclusive" if any(any(curve.open) for curve in named) else "",
        "arrow: the interval goes on beyond the chart" if arrows else "",
        f"gray: {len(gray)} more of {len(every)} lines" if gray else "",
        *(f"{text[:1].lower()}{text[1:].rstrip('.')}" for text in measure["over"]),
        f"where nothing else is said: {common}" if common else family["fixed"] and f"all with {family['fixed']}",
    ]  # fmt: skip
    description = f"{upright['title']['text']}, over {family['title']}; {len(named)} of {len(every)} lines are named"
    return Plot(description, traces, layout, note="; ".join(filter(None, note)))


def _aside(curve: CurveLine, i: int, n: int) -> CurveLine:
    """Offset the points of a curve over unordered levels, so that intervals do not overlap."""
    return replace(curve, xs=[x + (i - (n - 1) / 2) * 0.5 / max(n, 4) for x in curve.xs])


def _mode(is_ordered: bool) -> str:
    return "lines+markers" if is_ordered else "markers"


def _gray(curves: Sequence[CurveLine], is_ordered: bool) -> dict[str, Any]:
    xs = [*chain.from_iterable([*curve.xs, None] for curve in curves)]
    ys = [*chain.from_iterable([*curve.ys, None] for curve in curves)]
    dots = {} if is_ordered else {"mode": "markers", "marker": {"color": fade_color("muted", 0.5), "size": 4}}
    return line(xs, ys, fade_color("muted", 0.5), 1, **dots)


def _traces(
    i: int, curve: CurveLine, is_ordered: bool, labels: Sequence[str], family: dict[str, Any], measure: dict[str, Any]
) -> list[dict[str, Any]]:
    color, factor, unit = f"line-{COLORS[i]}", family["title"], measure["unit"]
    above = [0 if v[2] is None else v[2] - v[0] for v in curve.values]
    below = [0 if v[1] is None else v[0] - v[1] for v in curve.values]
    bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": color}
    pairs = zip(curve.levels, curve.values, strict=True)
    texts = [hover([labels[i], f"{factor}: {level}", f"{v[3]} {unit}".rstrip()]) for level, v in pairs]
    trace = line(
        curve.xs, curve.ys, color, 2, mode=_mode(is_ordered), hoverinfo="text", hovertext=texts,
        marker={"color": color, "size": 6.5, "symbol": SYMBOLS[i]}, error_y=bars | {"thickness": 1.4, "width": 0},
    )  # fmt: skip
    return split_hollow(trace, curve.open)


def _arrows(curves: Sequence[CurveLine], upright: dict[str, Any]) -> list[dict[str, Any]]:
    """Point to where an interval goes on beyond the frame, which would cut it silently."""
    foot, top = (10.0**end if upright.get("type") == "log" else end for end in upright["range"])
    named = [(f"line-{COLORS[i]}", curve) for i, curve in enumerate(curves)]
    points = [(color, x, v) for color, curve in named for x, v in zip(curve.xs, curve.values, strict=True)]
    ends = [(x, top, "arrow-up", color, v[3]) for color, x, v in points if v[2] is not None and v[2] > top]
    ends += [(x, foot, "arrow-down", color, v[3]) for color, x, v in points if v[1] is not None and v[1] < foot]
    if not ends:
        return []
    xs, ys, symbols, colors, texts = map(list, zip(*ends, strict=True))
    look = {"mode": "markers", "marker": {"color": colors, "size": 7, "symbol": symbols}, "cliponaxis": False}
    texts = [hover([f"interval beyond the chart: {text}"]) for text in texts]
    return [line(xs, ys, "ink", 0, **look, hoverinfo="text", hovertext=texts)]


def _paper_note(family: dict[str, Any]) -> str:
    names = ", ".join(layer["paper"] for layer in family["under"] if layer["shown"] and layer.get("paper"))
    return f"dotted with bars: published{names and f' ({names})'}"


def _published_trace(xs: Sequence[float], ys: Sequence[float], i: int, is_ordered: bool) -> dict[str, Any]:
    color = f"line-{COLORS[i]}"
    bar = {"color": color, "symbol": "line-ew", "size": 9, "line": {"color": color, "width": 2}}
    return line(xs, ys, color, 1.3, mode=_mode(is_ordered), marker=bar, style={"dash": "1px,3px"})


def _upright(
    every: Sequence[CurveLine], ideals: Sequence[CurveLine], beside: Sequence[float], title: str, is_linear: bool
) -> dict[str, Any]:
    core = [*(y for curve in every for y in curve.ys), *beside]
    core += [y for curve in ideals for y in curve.ideal if y and y <= 2 * max(core)]
    whole = [end for curve in every for value in curve.values for end in value[1:3] if end is not None]
    tops = [max(curve.ys) for curve in every] if is_linear else core
    if min(core) > 0 and max(tops) / min(tops) >= LOG_FROM:
        low, high = log_range(core, whole)
        return {"title": {"text": f"{title} (log scale)"}} | decades(low / 1.1, high * 1.1)
    foot, top = 1.06 * min(0.0, *core), 1.06 * max(0.0, *core, min(max(whole, default=0.0), 1.5 * max(core)))
    top = top if top > foot else 1.0  # of nothing but zeros
    ticks = round_numbers(foot, top, is_log=False)
    return axis(title, (foot, top), **axis_ticks(ticks, [*map(number, ticks)]), showgrid=True)


def _title(findings: Findings, measure: dict[str, Any], factors: Named) -> str:
    if measure["id"] == "speedup" and (base := findings.study.baseline):
        return f"speedup over {short_setting(factors[base.factor]['title'], base.level)}, higher is better"
    better = next((r.better for r in findings.study.responses if r.name == measure.get("response")), "none")
    unit = f" ({measure['unit']})" if measure["unit"] else ""
    return f"{measure['title']}{unit}{BETTER.get(better, '')}"


def _ticks(family: dict[str, Any]) -> dict[str, Any]:
    places = sorted(zip(family["axis"]["at"], family["axis"]["labels"], strict=True))
    width = 0.06 * (places[-1][0] - places[0][0])
    for shape in family["shapes"]:
        near = [tick for tick in places if shape["x0"] - NEAR <= tick[0] <= shape["x1"] + NEAR]
        if len(near) > 1:
            middle = (near[0][0] + near[-1][0]) / 2
            both = (middle, f"{near[0][1]} | {near[-1][1]}")
            places = sorted([both, *(tick for tick in places if abs(tick[0] - middle) > width)])
    return outside_ticks(**axis_ticks([x for x, _ in places], [text for _, text in places]))


def _rows(claim: Claim | None, family: dict[str, Any]) -> list[dict[float, float]]:
    """Return the values of the answer's matrix by position on the axis, in the findings' unit."""
    at = dict(zip(family["axis"]["labels"], family["axis"]["at"], strict=True))
    columns = [at.get(text.split(" ")[0]) for text in claim.matrix.columns] if claim and claim.matrix else []
    return [
        {x: cell.estimate.value for x, cell in zip(columns, row.cells, strict=True)
         if x is not None and cell.estimate and cell.estimate.value is not None}
        for row in (claim.matrix.rows if claim and claim.matrix else ())
    ]  # fmt: skip


def _labels(named: Sequence[CurveLine], names: Sequence[str], factors: Named) -> tuple[list[str], str]:
    first = shorten_titles(factors[name]["title"] for name in names)
    settings = [
        [short_setting(head, factors[name]["raw"][level], factors[name]["unit"])
         for head, name, level in zip(first, names, curve.group, strict=True)]
        for curve in named
    ]  # fmt: skip
    common = [Counter(texts).most_common(1)[0] for texts in zip(*settings, strict=True)]
    varying = [i for i, (_, n) in enumerate(common) if n < len(named)]
    full = [", ".join(texts[i] for i in varying) for texts in settings]
    brief = [", ".join(texts[i] for i in varying if texts[i] != common[i][0]) for texts in settings]
    is_long = max(map(len, full)) > MOST_LETTERS and len(set(brief)) == len(named)
    shared = [text for text, n in common if is_long or n == len(named)]
    telling = max(varying, key=lambda i: len({texts[i] for texts in settings}), default=0)
    texts = [text or texts[telling] for text, texts in zip(brief, settings, strict=True)] if is_long else full
    return [shorten_middle(text, MOST_LETTERS) for text in texts], ", ".join(shared)


def _names(named: Sequence[CurveLine], labels: Sequence[str], upright: dict[str, Any]) -> list[dict[str, Any]]:
    low, high = upright["range"]
    ends = [math.log10(curve.ys[-1]) if upright.get("type") == "log" else curve.ys[-1] for curve in named]
    order = sorted(range(len(named)), key=ends.__getitem__)
    notes, used = [], -math.inf
    for k, i in enumerate(order):
        pixel = HEIGHT * (ends[i] - low) / (high - low)
        used = max(used + GAP, min(pixel, HEIGHT - GAP * (len(order) - 1 - k)))
        anchor = {"x": named[i].xs[-1], "y": ends[i], "xshift": 9, "yshift": round(used - pixel, 1), "xanchor": "left"}
        font = {"size": 12, "color": f"line-{COLORS[i]}"}
        notes.append({**anchor, "text": escape_markup(labels[i]), "showarrow": False, "font": font})
    return notes if len(named) > 1 else []


FEW_ROWS = 4
# Width and height in pixels: the page shows the widest that fits, so that text stays legible.
SIZES = {"wide": (760, 340), "middle": (480, 320), "narrow": (368, 300)}


def first_chart(findings: Findings, shown: dict[str, Any], drawn: Sequence[Figure | Overlay]) -> Plot | None:
    """Choose the plot that shows the answer; None where nothing is drawn."""
    every = charts_by_name(findings, shown, drawn)
    return next(iter(every.values()))() if every else None


def charts_by_name(
    findings: Findings, shown: dict[str, Any], drawn: Sequence[Figure | Overlay]
) -> dict[str, Callable[[], Plot]]:
    """Return a function that draws each chart, by name: the one that shows the answer first.

    The answer may name a chart, a measure of the curves, or neither; `shown` is the payload of the page's script.
    """
    telling = {figure.id: _most_telling(figure) for figure in drawn if isinstance(figure, Figure)}
    plots = {name: plot for name, plot in telling.items() if has_ranges(plot)}
    measures: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for family in shown["families"]:
        for measure in family["measures"]:
            measures.setdefault(measure["id"], (family, measure))
    wanted = findings.claim.figure if findings.claim else ""
    primary = f"response {findings.study.primary}"
    instead = primary if wanted in plots else "speedup"
    # Curves show more than a map of few rows, which comes last.
    short = {k for k, plot in plots.items() if any(len(trace["z"]) < FEW_ROWS for trace in plot.data if "z" in trace)}
    flat = {name: partial(replace, plot) for name, plot in plots.items() if measures and name in short}
    every: dict[str, Callable[[], Plot]] = {
        **{name: partial(curve_picture, findings, *pair, shown["factors"]) for name, pair in measures.items()},
        **{name: partial(replace, plot) for name, plot in plots.items() if name not in flat},
    }
    if alone := distribution(findings):
        every["distribution"] = partial(replace, alone)
    names = dict.fromkeys((wanted, f"response {wanted}", "distribution", instead, *plots, primary, *measures))
    return {**{name: every[name] for name in names if name in every}, **{k: flat[k] for k in flat if k not in every}}


def _most_telling(figure: Figure) -> Plot:
    view = figure.views[figure.shown[0]]
    plot = max(view.plots, key=lambda plot: (len(plot.data), -view.plots.index(plot)))
    beside = view.name if plot.size == "large" else plot.title
    title = " \N{MIDDLE DOT} ".join(filter(None, [figure.title, beside]))
    scaled = [trace["z"] for trace in plot.data if "z" in trace and trace.get("showscale", True)]
    values = [z for rows in scaled for row in rows for z in row if z is not None]
    note = f"lightest {significant(min(values))}, darkest {significant(max(values))}" if values else plot.note
    return replace(plot, title=title + (f" ({figure.unit})" if figure.unit else ""), note=note)


def has_ranges(plot: Plot) -> bool:
    """Return whether a still picture is possible: only the library chooses missing ranges."""
    return all("range" in plot.layout.get(axis, {}) for axis in ("xaxis", "yaxis"))


def pictures(plot: Plot) -> dict[str, str]:
    """Return the plot as still pictures, by the width they are for."""
    return {name: picture(plot.data, plot.layout, *size) for name, size in SIZES.items()}
