"""Curves as the plot that stands first: the lines that differ most in color, named at their ends, the rest in gray."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import Claim, Findings
from scalograph.text.format import number
from scalograph.text.plots import at, axis, decades, escaped, faded, line, outside, reach, round_numbers, short
from scalograph.text.short_names import heads, short_setting

MOST_LINES, MOST_COMPARED = 6, 200
# A factor that moves the curves less than this, as a share of what the strongest one does, tells no lines apart.
WEAK = 0.25
ALIKE, GROUPED = math.log(1.05), math.log(1.15)  # lines that are one, and those that a row may stand for


@dataclass(frozen=True)
class CurveLine:
    """A curve as it is drawn: of each point its place, its value with both ends and as text, and what is ideal.

    Attributes:
        published: lines of a paper beside it, each as places and values.
    """

    group: tuple[int, ...]
    xs: list[float]
    values: list[list[Any]]
    ideal: list[float | None]
    published: Sequence[tuple[list[float], list[float]]] = ()

    @property
    def ys(self) -> list[float]:
        """The values."""
        return [value[0] for value in self.values]

    def apart(self, other: "CurveLine") -> float:
        """How far it is from another one where they are furthest, as the logarithm of a ratio."""
        there = dict(zip(other.xs, other.ys, strict=True))
        pairs = [(y, there[x]) for x, y in zip(self.xs, self.ys, strict=True) if x in there]
        return max((abs(math.log(a / b)) for a, b in pairs if min(a, b) > 0), default=0.0)


def lines(family: dict[str, Any], name: str) -> list[CurveLine]:
    """The curves of a family that have a measure anywhere."""
    at, found = family["axis"]["at"], []
    shown = {one["of"] for one in family["under"] if one["shown"] and "paper" in one}
    for curve in family["curves"]:
        known = [point for point in curve["points"] if name in point["values"]]
        xs, values = [at[p["level"]] for p in known], [p["values"][name] for p in known]
        beside = (one for one in curve["under"] if one["of"] in shown and one["measure"] == name)
        paper = [(trace["x"], trace["y"]) for one in beside for trace in one["traces"]]
        found.append(CurveLine(tuple(curve["group"]), xs, values, [p["ideal"] for p in known], paper))
    return [line for line in found if line.xs]


def of_rows(every: Sequence[CurveLine], rows: Sequence[dict[float, float]]) -> list[CurveLine]:
    """Find the line that each row of the claim's matrix is about: the one that is nearest to its values."""
    found = []
    for row in filter(None, rows):
        probe = CurveLine((), [*row], [[value] for value in row.values()], [])
        near = min(every, key=lambda line: (len(row.keys() - {*line.xs}), line.apart(probe)))
        if row.keys() <= {*near.xs} and near.apart(probe) < GROUPED and near not in found:
            found.append(near)
    return found[:MOST_LINES]


def furthest(every: Sequence[CurveLine]) -> list[CurveLine]:
    """Choose the highest line, then always the one that is furthest from those chosen; in declared order.

    Factors that move nothing are left at the level where most was measured. A line of one point, if there is one, is
    what the others are compared with.
    """
    leading = _leading(every)
    rest = Counter(_without(line, leading) for line in every for _ in line.xs).most_common(1)[0][0]
    left = [line for line in every if _without(line, leading) == rest]
    named = [max(left, key=lambda line: max(line.ys))]
    while len(named) < min(MOST_LINES, len(left)):
        distance, i = max((min(line.apart(one) for one in named), i) for i, line in enumerate(left))
        if distance < ALIKE and len(left) > MOST_LINES:
            break
        named.append(left[i] if left[i] not in named else next(line for line in left if line not in named))
    single = [line for line in every if len(line.xs) == 1]
    beside = single if len(single) == 1 and single[0] not in named else []
    return [line for line in every if line in named[: MOST_LINES - len(beside)] + beside]


def _leading(every: Sequence[CurveLine]) -> list[int]:
    """Places of the factors that move the curves."""
    moves = dict.fromkeys(range(len(every[0].group)), 0.0)
    for one, other in combinations(every[:MOST_COMPARED], 2):
        differ = [i for i in moves if one.group[i] != other.group[i]]
        if len(differ) == 1:
            moves[differ[0]] = max(moves[differ[0]], one.apart(other))
    return [i for i, move in moves.items() if move >= max(WEAK * max(moves.values()), ALIKE)]


def _without(line: CurveLine, leading: Sequence[int]) -> tuple[int, ...]:
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
    """Draw a measure of a family of curves, in the words and numbers that the page's script has of it."""
    every = lines(family, measure["id"])
    named = of_rows(every, _rows(findings.claim, family)) or furthest(every)
    gray = [one for one in every if one not in named]
    ideals = list({tuple(one.ideal): one for one in named if measure["id"] == "speedup" and _rises(one.ideal)}.values())
    paper = [(i, line) for i, one in enumerate(named) for line in one.published]
    beside = [y for _, (_, ys) in paper for y in ys]
    upright = _upright(every, ideals, beside, _title(findings, measure, factors), family["axis"]["scale"] == "linear")
    labels, common = _labels(named, family["groups"], factors)
    xs = [x for one in every for x in one.xs]
    last = [len(label) for one, label in zip(named, labels, strict=True) if one.xs[-1] == max(xs)]
    widest = [max(map(len, upright["ticktext"])), max(last, default=0) if len(named) > 1 else 0]
    is_ordered = family["axis"]["ordered"]
    pad = 0.03 * (max(xs) - min(xs) or 1) if is_ordered else 0.5
    apart = named if is_ordered else [_aside(one, i, len(named)) for i, one in enumerate(named)]
    title = family["title"] + (" (log scale)" if family["axis"]["scale"] == "log" else "")
    layout = {
        "margin": {"l": 18 + round(LETTER * widest[0]), "t": 24, "b": 42, "r": 14 + round(LETTER * widest[1])},
        "xaxis": axis(title, (min(xs) - pad, max(xs) + pad), **_ticks(family)), "yaxis": upright,
        "annotations": _names(apart, labels, upright), "shapes": family["shapes"],
    }  # fmt: skip
    xs_gray, ys_gray = ([*chain.from_iterable([*part, None] for part in parts)] for parts in _columns(gray))
    # What has one point is what the others are compared with.
    alone = [(i, one) for i, one in enumerate(named) if len(one.xs) == 1 < len({*xs})]
    dashed = {"style": {"dash": "6px,4px"}}
    traces = [
        line(xs_gray, ys_gray, faded("muted", 0.5), 1, **({} if is_ordered else _points(faded("muted", 0.5)))),
        *(line(one.xs, one.ideal, "muted", 1.2, **dashed) for one in ideals),
        *(line([min(xs), max(xs)], [*one.ys, *one.ys], f"line-{COLORS[i]}", 1.2, **dashed) for i, one in alone),
        *(_published(xs, ys, i, is_ordered) for i, (xs, ys) in paper),
        *(_trace(one, i, is_ordered) for i, one in enumerate(apart)),
    ]  # fmt: skip
    note = [
        f"bars: {measure['bars']}", "dashed: ideal" if ideals else "", _printed(family) if paper else "",
        f"gray: {len(gray)} more of {len(every)} lines" if gray else "",
        *(f"{text[:1].lower()}{text[1:].rstrip('.')}" for text in measure["over"]),
        f"where nothing else is said: {common}" if common else family["fixed"] and f"all with {family['fixed']}",
    ]  # fmt: skip
    told = f"{upright['title']['text']}, over {family['title']}; {len(named)} of {len(every)} lines are named"
    return Plot(told, traces, layout, note="; ".join(filter(None, note)))


def _columns(every: Sequence[CurveLine]) -> tuple[list[list[float]], list[list[float]]]:
    return [one.xs for one in every], [one.ys for one in every]


def _rises(ideal: Sequence[float | None]) -> bool:
    return len({x for x in ideal if x is not None}) > 1


def _aside(one: CurveLine, i: int, n: int) -> CurveLine:
    """A curve over levels without an order: its points step aside, lest intervals at a level cover each other."""
    return replace(one, xs=[x + (i - (n - 1) / 2) * 0.5 / max(n, 4) for x in one.xs])


def _points(color: str) -> dict[str, Any]:
    return {"mode": "markers", "marker": {"color": color, "size": 4}}


def _mode(is_ordered: bool) -> str:
    """A line would tell of what lies between two levels, and between those without an order nothing does."""
    return "lines+markers" if is_ordered else "markers"


def _trace(one: CurveLine, i: int, is_ordered: bool) -> dict[str, Any]:
    color = f"line-{COLORS[i]}"
    above = [0 if v[2] is None else v[2] - v[0] for v in one.values]
    below = [0 if v[1] is None else v[0] - v[1] for v in one.values]
    bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": color}
    return line(
        one.xs, one.ys, color, 2, mode=_mode(is_ordered), hoverinfo="text", hovertext=[v[3] for v in one.values],
        marker={"color": color, "size": 6.5, "symbol": SYMBOLS[i]}, error_y=bars | {"thickness": 1.4, "width": 0},
    )  # fmt: skip


def _printed(family: dict[str, Any]) -> str:
    names = ", ".join(one["paper"] for one in family["under"] if one["shown"] and one.get("paper"))
    return f"dotted with rings: published{names and f' ({names})'}"


def _published(xs: Sequence[float], ys: Sequence[float], i: int, is_ordered: bool) -> dict[str, Any]:
    """A line of a paper, in the color of the one that it stands beside."""
    color = f"line-{COLORS[i]}"
    ring = {"color": "paper", "size": 6.5, "line": {"color": color, "width": 1.3}}
    return line(xs, ys, color, 1.3, mode=_mode(is_ordered), marker=ring, style={"dash": "1px,3px"})


def _upright(
    every: Sequence[CurveLine], ideals: Sequence[CurveLine], beside: Sequence[float], title: str, is_linear: bool
) -> dict[str, Any]:
    """The vertical axis: by ratios from a factor of 3 on, between lines where these are straight, else from zero."""
    core = [*(y for one in every for y in one.ys), *beside]
    core += [y for one in ideals for y in one.ideal if y and y <= 2 * max(core)]
    whole = [end for one in every for value in one.values for end in value[1:3] if end is not None]
    tops = [max(one.ys) for one in every] if is_linear else core
    if min(core) > 0 and max(tops) / min(tops) >= LOG_FROM:
        low, high = reach(core, whole)
        return {"title": {"text": f"{title} (log scale)"}} | decades(low / 1.1, high * 1.1)
    foot, top = 1.06 * min(0.0, *core), 1.06 * max(0.0, *core, min(max(whole, default=0.0), 1.5 * max(core)))
    top = top if top > foot else 1.0  # of nothing but zeros
    ticks = round_numbers(foot, top, is_log=False)
    return axis(title, (foot, top), **at(ticks, [*map(number, ticks)]), showgrid=True)


def _title(findings: Findings, measure: dict[str, Any], factors: Named) -> str:
    """What is drawn, its unit, and which direction is good."""
    if measure["id"] == "speedup" and (base := findings.study.baseline):
        return f"speedup over {short_setting(factors[base.factor]['title'], base.level)}, higher is better"
    better = next((r.better for r in findings.study.responses if r.name == measure.get("response")), "none")
    unit = f" ({measure['unit']})" if measure["unit"] else ""
    return f"{measure['title']}{unit}{BETTER.get(better, '')}"


def _ticks(family: dict[str, Any]) -> dict[str, Any]:
    """Levels; where something is marked between two of them, both in one label there."""
    places = sorted(zip(family["axis"]["at"], family["axis"]["labels"], strict=True))
    width = 0.06 * (places[-1][0] - places[0][0])
    for shape in family["shapes"]:
        near = [place for place in places if shape["x0"] - NEAR <= place[0] <= shape["x1"] + NEAR]
        if len(near) > 1:
            middle = (near[0][0] + near[-1][0]) / 2
            both = (middle, f"{near[0][1]} | {near[-1][1]}")
            places = sorted([both, *(place for place in places if abs(place[0] - middle) > width)])
    return outside(**at([x for x, _ in places], [text for _, text in places]))


def _rows(claim: Claim | None, family: dict[str, Any]) -> list[dict[float, float]]:
    """What the matrix of a claim says at which place of the axis, in the unit of the findings."""
    at = dict(zip(family["axis"]["labels"], family["axis"]["at"], strict=True))
    columns = [at.get(text.split(" ")[0]) for text in claim.matrix.columns] if claim and claim.matrix else []
    return [
        {x: cell.estimate.value for x, cell in zip(columns, row.cells, strict=True)
         if x is not None and cell.estimate and cell.estimate.value is not None}
        for row in (claim.matrix.rows if claim and claim.matrix else ())
    ]  # fmt: skip


def _labels(named: Sequence[CurveLine], names: Sequence[str], factors: Named) -> tuple[list[str], str]:
    """The levels by which lines differ; where these are many, one that most lines have is said once below."""
    first = heads(factors[name]["title"] for name in names)
    settings = [
        [short_setting(head, factors[name]["raw"][level], factors[name]["unit"])
         for head, name, level in zip(first, names, one.group, strict=True)]
        for one in named
    ]  # fmt: skip
    common = [Counter(texts).most_common(1)[0] for texts in zip(*settings, strict=True)]
    varying = [i for i, (_, n) in enumerate(common) if n < len(named)]
    full = [", ".join(one[i] for i in varying) for one in settings]
    brief = [", ".join(one[i] for i in varying if one[i] != common[i][0]) for one in settings]
    is_long = max(map(len, full)) > MOST_LETTERS and len(set(brief)) == len(named)
    said = [text for text, n in common if is_long or n == len(named)]
    telling = max(varying, key=lambda i: len({one[i] for one in settings}), default=0)
    texts = [text or one[telling] for text, one in zip(brief, settings, strict=True)] if is_long else full
    return [short(text, MOST_LETTERS) for text in texts], ", ".join(said)


def _names(named: Sequence[CurveLine], labels: Sequence[str], upright: dict[str, Any]) -> list[dict[str, Any]]:
    """Names at the ends of lines, apart from each other."""
    low, high = upright["range"]
    ends = [math.log10(one.ys[-1]) if upright.get("type") == "log" else one.ys[-1] for one in named]
    order = sorted(range(len(named)), key=ends.__getitem__)
    notes, used = [], -math.inf
    for k, i in enumerate(order):
        pixel = HEIGHT * (ends[i] - low) / (high - low)
        used = max(used + GAP, min(pixel, HEIGHT - GAP * (len(order) - 1 - k)))
        place = {"x": named[i].xs[-1], "y": ends[i], "xshift": 9, "yshift": round(used - pixel, 1), "xanchor": "left"}
        font = {"size": 12, "color": f"line-{COLORS[i]}"}
        notes.append({**place, "text": escaped(labels[i]), "showarrow": False, "font": font})
    return notes if len(named) > 1 else []
