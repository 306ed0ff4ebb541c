"""What stands under the curves, as plotly has it: a law with its band, Amdahl's, the ideal, published figures.

A curve gets color and name by what tells lines apart, and that is chosen in the page: `OWN` stands for the one, `NAME`
for the other.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from scalograph.text.format import significant
from scalograph.text.plots import area, hover, line

OWN, NAME = "line-own", "{line}"
# More lines than this to a panel, and the fitted laws wait until they are asked for.
MANY_LAWS = 3
# What it is called, the dash of its piece in the legend, and whether it is shown at first.
LAWS = {
    "fitted": ("fitted law", "none", True),
    "amdahl": ("Amdahl\N{RIGHT SINGLE QUOTATION MARK}s law", "6 2 1 2", False),
    "ideal": ("ideal", "3 3", True),
}


def legend(drawn: Sequence[dict[str, Any]], n_lines: int, papers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name what can be shown and hidden, and say whether it is shown at first.

    Args:
        drawn: the curves of a family, with what stands under each.
        n_lines: of a panel.
        papers: that have published figures, with the symbol of each.
    """
    known = {one["of"] for curve in drawn for one in curve["under"]}
    laws = [
        {"of": of, "name": name, "dash": dash, "shown": is_shown and (of != "fitted" or n_lines <= MANY_LAWS)}
        for of, (name, dash, is_shown) in LAWS.items()
        if of in known
    ]
    return [*laws, *papers]


def under_speedup(law: dict[str, Any] | None, ideal: Iterable[tuple[float, float | None]]) -> list[dict[str, Any]]:
    """What stands under the speedup of a curve: of what it is, its traces, and what they take of the frame.

    Args:
        law: as `law_line` has it.
        ideal: places of the points, with the ideal speedup of each.
    """
    found = []
    if law:
        said = "dotted: beyond the data" if law["inside"] < len(law["at"]) else ""
        ends = reach(law["fitted"], [*law["low"], *law["high"]])
        found.append({"of": "fitted", "traces": _fitted(law), "reach": ends, "end": law["at"][-1], "said": said})
    if law and law["amdahl"]:
        drawn = line(law["at"], law["amdahl"], OWN, 1.1, style={"dash": "6px,2px,1px,2px"})
        found.append({"of": "amdahl", "traces": [drawn], "reach": reach(law["amdahl"]), "end": law["at"][-1]})
    known = [(x, y) for x, y in ideal if y is not None]
    if len(known) > 1:
        ys = [y for _, y in known]
        drawn = line([x for x, _ in known], ys, "muted", 1.2, style={"dash": "3px,3px"})
        found.append({"of": "ideal", "traces": [drawn], "reach": reach(ys)})
    return [one | {"measure": "speedup"} for one in found]


def reach(core: Iterable[float | None], whole: Iterable[float | None] = ()) -> list[float]:
    """The ends of what must be seen, then those of all that there is.

    >>> reach([1, 3], [0.5, None])
    [1, 3, 0.5, 3]
    """
    must = [x for x in core if x is not None]
    every = [*must, *(x for x in whole if x is not None)]
    return [min(must), max(must), min(every), max(every)]


def _fitted(law: dict[str, Any]) -> list[dict[str, Any]]:
    """Dotted, and over a fainter band, where nothing was measured."""
    n, last = len(law["at"]), max(law["inside"] - 1, 0)
    within, beyond = _part(law, range(law["inside"]), 0.1, "solid"), _part(law, range(last, n), 0.05, "2px,3px")
    return [*within, *beyond, *_optimum(law)]


def _part(law: dict[str, Any], places: Sequence[int], share: float, dash: str) -> list[dict[str, Any]]:
    """A stretch of the law over what lies between its ends."""
    if len(places) < 2:
        return []
    told = [NAME + hover([f"fitted law at {law['sizes'][i]}", _value(law, i), law["words"]]) for i in places]
    at, fitted = ([law[name][i] for i in places] for name in ("at", "fitted"))
    drawn = line(at, fitted, OWN, 1.1, style={"dash": dash}, hoverinfo="text", hovertext=told)
    known = [i for i in places if law["low"][i] is not None and law["high"][i] is not None]
    xs, low, high = ([law[name][i] for i in known] for name in ("at", "low", "high"))
    return [*([area(xs, low, high, f"{OWN}/{share}")] if len(known) > 1 else []), drawn]


def _value(law: dict[str, Any], i: int) -> str:
    value, low, high = (law[name][i] for name in ("fitted", "low", "high"))
    ends = "" if low is None else f" [{significant(low)}, {'not bounded' if high is None else significant(high)}]"
    return f"{significant(value)}{ends}"


def _optimum(law: dict[str, Any]) -> list[dict[str, Any]]:
    """A diamond where the law is largest, with its interval; words at its end where that lies further out."""
    best, words = law["optimum"], hover([law["words"]])
    if best is None:
        font = {"mode": "text", "textposition": "top left", "textfont": {"size": 11, "color": OWN}, "cliponaxis": False}
        return [line([law["at"][-1]], [law["fitted"][-1]], OWN, 0, text=[words], **font)] if words else []
    low, high = (best["at"] if best[end] is None else best[end] for end in ("low", "high"))
    return [
        {
            "type": "scatter", "mode": "markers", "x": [best["at"]], "y": [best["value"]],
            "marker": {"symbol": "diamond-open", "size": 9, "color": OWN}, "hoverinfo": "text", "hovertext": [words],
            "error_x": {
                "type": "data", "symmetric": False, "array": [high - best["at"]], "arrayminus": [best["at"] - low],
                "color": OWN, "thickness": 1.2, "width": 4,
            },
        }
    ]  # fmt: skip
