"""Published claims as a page tells them: what became of each in a sign and a word, its sentence, its picture."""

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from markupsafe import Markup

from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim
from scalograph.report.picture_axis import PictureAxis
from scalograph.report.picture_marks import colored, element
from scalograph.text.cell_numbers import compact
from scalograph.text.escape import visible
from scalograph.text.format import number
from scalograph.text.plots import at, reach, round_numbers, short
from scalograph.text.reproduced import (
    MOST_TOLD,
    SIGNS,
    claim_scale,
    decided,
    figure_words,
    published_text,
    span,
    telling,
)
from scalograph.text.scale import Scale

WIDTH, HEAD, ROW, FOOT = 368, 18, 24, 18
LETTER, LETTERS, SIZE = 5.9, 15, 11  # of labels: how wide a letter is, how many are shown, how high they are
PUBLISHED, HERE = 106, 98  # from the right: where the published numbers end and those from here begin
GAP, APART, MARK, RIM = 9, 5, 8, 2.6
LOG_FROM, SPARE, TICKS = 3.0, 0.06, 4

Rows = Sequence[tuple[ClaimFigure, int]]  # figures, and how high the middle of each row stands


@dataclass(frozen=True, slots=True)
class ClaimAxis:
    """The axis of a claim in the unit that it is told in, and how high the rows stand above its foot."""

    axis: PictureAxis
    scale: Scale
    foot: float

    def __call__(self, value: float) -> float:
        """The place of a figure, or the end that it lies beyond."""
        return self.axis.inside(value * self.scale.factor)


def claim_picture(claim: DecidedClaim) -> str:
    """Draw a claim: a row for each figure, over one axis, logarithmic where the figures span a factor of 3 or more.

    Args:
        claim: decided.

    Returns:
        An `svg` element without a name: `figure_words` says what it shows. Empty where there is nothing to draw.
    """
    if not any(figure.published is not None or _has_value(figure) for figure in claim.figures):
        return ""
    shown, scale = telling(claim.figures, MOST_TOLD), claim_scale(claim)
    widest = max(len(short(figure.label, LETTERS)) for figure in shown)
    left, foot = GAP + (LETTER * widest + GAP if widest else 0), HEAD + ROW * len(shown)
    axis = ClaimAxis(PictureAxis(_layout(claim, scale), left, WIDTH - PUBLISHED - 6 * LETTER - GAP), scale, foot)
    rows = [(figure, HEAD + ROW * i + ROW // 2) for i, figure in enumerate(shown)]
    more = f"{len(shown)} of {len(claim.figures)} figures" if len(shown) < len(claim.figures) else ""
    parts = [
        _band(claim, axis), *_ticks(axis), *_published(axis, rows), *_here(axis, rows),
        *_columns(axis, rows, decided(claim)), _texts([(WIDTH, foot + 14, more)], "end", "muted"),
    ]  # fmt: skip
    box = f"0 0 {WIDTH} {foot + FOOT}"
    return element("svg", "".join(parts), viewBox=box, font_size=SIZE, aria_hidden="true", focusable="false")


def _has_value(figure: ClaimFigure) -> bool:
    return figure.here is not None and figure.here.value is not None


def _layout(claim: DecidedClaim, scale: Scale) -> dict[str, Any]:
    """Range and ticks: what is published and what bears the claim out are inside; intervals from here may leave it."""
    here = [figure.here for figure in claim.figures if figure.here]
    printed = [(figure.published, figure.published_low, figure.published_high) for figure in claim.figures]
    core = [*chain.from_iterable(printed), *(e.value for e in here), claim.low or None, claim.high]
    ends = [end for e in here for end in (e.low, e.high)]
    must, may = ([x * scale.factor for x in values if x is not None] for values in (core, ends))
    is_log = min(must) > 0 and max(must) >= LOG_FROM * min(must)
    low, high = reach(must, may) if is_log else _between(must, may)
    spare = SPARE * (math.log10(high / low) if is_log else (high - low))
    values = round_numbers(low, high, is_log)
    values = values if is_log else values[:: math.ceil(len(values) / TICKS)]
    span = [math.log10(low) - spare, math.log10(high) + spare] if is_log else [low - spare, high + spare]
    return {"type": "log" if is_log else "linear", "range": span} | at(values, [*map(number, values)])


def _between(must: Sequence[float], may: Sequence[float]) -> tuple[float, float]:
    """As `reach`, for an axis that is not logarithmic."""
    low, high = min(must), max(must)
    room = (high - low) or 0.5 * abs(high) or 1.0
    ends = max(min([low, *may]), low - room), min(max([high, *may]), high + room)
    return ends if ends[1] > ends[0] else (low - 0.1 * room, high + 0.1 * room)


def _band(claim: DecidedClaim, axis: ClaimAxis) -> str:
    """The range that bears the claim out; an open end reaches to the edge."""
    if claim.low is None and claim.high is None:
        return ""
    left = axis.axis.start if claim.low is None else axis(claim.low)
    right = axis.axis.end if claim.high is None else axis(claim.high)
    d = f"M{left:.1f} {HEAD}H{right:.1f}V{axis.foot}H{left:.1f}Z"
    edges = "".join(f"M{axis(end):.1f} {HEAD}V{axis.foot}" for end in (claim.low, claim.high) if end is not None)
    band = element("path", d=d, **colored("fill", "muted/0.16"))
    return band + element("path", d=edges, fill="none", **colored("stroke", "muted/0.6"), stroke_width=1)


def _ticks(axis: ClaimAxis) -> Iterator[str]:
    placed = axis.axis.fitting()
    d = f"M{axis.axis.start:.1f} {axis.foot}H{axis.axis.end:.1f}" + "".join(
        f"M{x:.1f} {axis.foot}v3" for x, _ in placed
    )
    yield element("path", d=d, **colored("stroke", "muted"), fill="none")
    yield _texts([(x, axis.foot + 14, text) for x, text in placed], "middle", "muted")


def _published(axis: ClaimAxis, rows: Rows) -> Iterator[str]:
    """Rings, and each printed error as a dotted line."""
    errors = [(figure.published_low, figure.published_high, y - APART) for figure, y in rows]
    pen = {**colored("stroke", "ink"), "stroke_width": RIM / 2}
    yield _path(_across(axis, errors), stroke_dasharray="1.5 2", **pen)
    places = _places(axis, [(figure.published, y - APART) for figure, y in rows])
    for color, width in (("ink", MARK), ("paper", MARK - RIM)):
        yield _path(places, stroke_linecap="round", stroke_width=width, **colored("stroke", color))


def _here(axis: ClaimAxis, rows: Rows) -> Iterator[str]:
    """Dots, and their intervals."""
    known = [(figure.here, y + APART) for figure, y in rows if figure.here is not None]
    pen = {**colored("stroke", "line-0"), "stroke_linecap": "round"}
    yield _path(_across(axis, [(here.low, here.high, y) for here, y in known]), stroke_width=1.8, **pen)
    yield _path(_places(axis, [(here.value, y) for here, y in known]), stroke_width=MARK, **pen)


def _across(axis: ClaimAxis, spans: Iterable[tuple[float | None, float | None, int]]) -> str:
    known = ((low, high, y) for low, high, y in spans if low is not None and high is not None)
    return "".join(f"M{axis(low):.1f} {y}H{axis(high):.1f}" for low, high, y in known)


def _places(axis: ClaimAxis, known: Iterable[tuple[float | None, int]]) -> str:
    return "".join(f"M{axis(value):.1f} {y}h0" for value, y in known if value is not None)


def _path(d: str, **pen: Any) -> str:
    return element("path", d=d, fill="none", **pen) if d else ""


def _columns(axis: ClaimAxis, rows: Rows, is_decided: bool) -> Iterator[str]:
    """Labels, both numbers, and whether each figure bears the claim out, where that was asked."""
    unit, right, here = f" ({axis.scale.unit})" if axis.scale.unit else "", WIDTH - PUBLISHED, WIDTH - HERE
    yield _texts([(0, y + 4, short(figure.label, LETTERS)) for figure, y in rows], "start", "ink")
    told = [(right, y + 4, published_text(figure, axis.scale)) for figure, y in rows]
    yield _texts([(right, 10, "published"), *told], "end", "muted")
    found = [(here, y + 4, _beside(figure, axis.scale)) for figure, y in rows]
    yield _texts([(here, 10, f"here{unit}"), *found], "start", "ink")
    if is_decided:
        yield _texts([(WIDTH, y + 4, SIGNS[figure.decision]) for figure, y in rows], "end", "ink")


def _beside(figure: ClaimFigure, scale: Scale) -> str:
    """What was found here, marked where it is to be read with care."""
    number = figure.none if figure.none and not _has_value(figure) else compact(figure.here, scale, tight=True)
    return f"{short(number, LETTERS)}{' !' if figure.doubt else ''}"


def _texts(placed: Iterable[tuple[float, float, str]], anchor: str, color: str) -> str:
    """Texts that are written alike, in one group."""
    each = [element("text", html.escape(visible(text)), x=round(x, 1), y=round(y, 1)) for x, y, text in placed if text]
    return element("g", *each, text_anchor=anchor, **colored("fill", color)) if each else ""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim; `style` names its decision, `words` say what the picture shows."""

    claim: DecidedClaim
    sign: str
    style: str
    borne_out: str
    picture: Markup
    words: str


def claim_rows(claims: Sequence[DecidedClaim]) -> list[ClaimRow]:
    """Lay out claims in their order, for `claims` of `page/claims.html`."""
    return [_row(claim) for claim in claims]


def _row(claim: DecidedClaim) -> ClaimRow:
    is_bounded = claim.low is not None or claim.high is not None
    borne_out = f"holds: {span(claim.low, claim.high, claim_scale(claim))}" if is_bounded else ""
    svg = Markup(claim_picture(claim))  # noqa: S704  drawn here, texts escaped
    words = f"{claim.id}: {'; '.join(figure_words(claim))}"
    return ClaimRow(claim, SIGNS[claim.decision], claim.decision.replace(" ", "-"), borne_out, svg, words)
