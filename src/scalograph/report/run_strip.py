"""All runs in the order in which they were made, as a strip: how far each is from the middle of its configuration."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalograph.protocol.findings import RunLog
from scalograph.report.picture_marks import colored, element, text_lines
from scalograph.text.units import format_duration

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 84, 44, 8, 6, 18
WIDTHS = {"wide": 1100, "middle": 640, "narrow": 368}
LEAST, MOST = math.log(1.1), math.log(4)
KINDS = {"clean": "clean", "unverified": "unverified, counted", "disturbed": "disturbed"}


@dataclass(frozen=True, slots=True)
class Strip:
    """Pictures by the width that they are for, the runs of each kind, and the strip in words."""

    pictures: Mapping[str, str]
    counts: list[tuple[str, str, int]]
    words: str


@dataclass(frozen=True, slots=True)
class RunMark:
    """A run: when it started, the logarithm of its ratio, and what became of it."""

    at: float
    height: float
    kind: str


def run_strip(log: RunLog | None) -> Strip | None:
    """Draw the runs; None where none has both a time and a figure."""
    marks = list(_marks(log)) if log else []
    if log is None or not marks:
        return None
    reach = min(max(LEAST, *(abs(mark.height) for mark in marks)), MOST)
    n = {kind: sum(_kind(log, i) == kind for i in range(len(log.run))) for kind in KINDS}
    texts = KINDS | {"disturbed": _became(log, n["disturbed"])}
    counts = [(kind, text, n[kind]) for kind, text in texts.items() if n[kind]]
    took = format_duration(max(mark.at for mark in marks) or 1.0)
    told = ", ".join(f"{count:,} {text}" for _, text, count in counts)
    words = f"Runs in the order in which they were made, over {took}: {told}."
    return Strip({name: _drawn(marks, width, reach, took) for name, width in WIDTHS.items()}, counts, words)


def _marks(log: RunLog) -> Iterator[RunMark]:
    for i, (at, ratio) in enumerate(zip(log.start_s, log.relative, strict=False)):
        if at is not None and ratio is not None and ratio > 0:
            yield RunMark(at, math.log(ratio), _kind(log, i))


def _kind(log: RunLog, i: int) -> str:
    if not log.counted[i] or log.verdict[i] in ("contaminated", "impossible"):
        return "disturbed"
    return "unverified" if log.verdict[i] == "undecided" else "clean"


def _became(log: RunLog, n_bad: int) -> str:
    """What became of disturbed runs: where too few others are left, they count."""
    n, failed = log.counted.count(False), "disturbed or failed" if {*log.status} - {"ok"} else "disturbed"
    return "left out" if n == n_bad else f"{failed}, {n or 'none'} of them left out"


def _drawn(marks: Sequence[RunMark], width: int, reach: float, took: str) -> str:
    end, middle = max(mark.at for mark in marks) or 1.0, (TOP + HEIGHT - BOTTOM) / 2
    half = middle - TOP
    places: dict[str, dict[tuple[int, int], None]] = {kind: {} for kind in KINDS}
    for mark in marks:
        x = LEFT + (width - LEFT - RIGHT) * mark.at / end
        y = middle - half * min(max(mark.height / reach, -1), 1)
        places[mark.kind][round(x), round(y)] = None
    rule = element("path", d=f"M{LEFT} {middle:g}H{width - RIGHT}", **colored("stroke", "rule"))
    ends = [
        text_lines([f"{math.exp(sign * reach):.2g}x"], LEFT - 8, middle - sign * half + 4, "end") for sign in (1, -1)
    ]
    foot = [
        text_lines(["0"], LEFT, HEIGHT - 3, "start"),
        text_lines([took], width - RIGHT, HEIGHT - 3, "end"),
    ]
    parts = [rule, text_lines(["1x"], LEFT - 8, middle + 4, "end"), *ends, *foot]
    return element(
        "svg", *parts, *_signs(places), viewBox=f"0 0 {width} {HEIGHT}", aria_hidden="true", focusable="false"
    )


def _dots(places: Iterable[tuple[int, int]]) -> str:
    """A path of points, each from the one before: half the letters."""
    ordered = [(0, 0), *sorted(places)]
    return "".join(f"m{x - a} {y - b}h0" for (a, b), (x, y) in pairwise(ordered))


def _signs(places: dict[str, dict[tuple[int, int], None]]) -> Iterator[str]:
    """Dots, rings and crosses, a path for each kind."""
    pen = {"fill": "none", "stroke_linecap": "round"}
    if places["clean"]:
        yield element(
            "path",
            d=_dots(places["clean"]),
            **pen,
            **colored("stroke", "line-0"),
            stroke_width=4,
        )
    if places["unverified"]:
        dots = _dots(places["unverified"])
        for color, width in (("line-0", 6), ("paper", 3.4)):
            yield element("path", d=dots, **pen, **colored("stroke", color), stroke_width=width)
    if places["disturbed"]:
        cross = "".join(f"M{x - 3} {y - 3}l6 6m0-6l-6 6" for x, y in places["disturbed"])
        yield element("path", d=cross, **pen, **colored("stroke", "line-1"), stroke_width=1.6)
