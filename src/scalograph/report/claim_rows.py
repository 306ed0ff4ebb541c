"""Published claims on a page: outcome, sentence and picture of each."""

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from markupsafe import Markup

from scalograph.protocol.published_claim import ClaimValue, DecidedClaim
from scalograph.report.picture_marks import PictureAxis, element, paint
from scalograph.text import reproduced
from scalograph.text.cell_numbers import cell_number
from scalograph.text.escape import escape_controls
from scalograph.text.format import number
from scalograph.text.plots import axis_ticks, log_range, round_numbers, shorten_middle
from scalograph.text.reproduced import span
from scalograph.text.scale import Scale

WIDTH, HEAD, ROW, FOOT = 368, 18, 24, 18
LETTER, LETTERS, SIZE = 5.9, 15, 11  # of labels: how wide a letter is, how many are shown, how high they are
PUBLISHED, HERE = 106, 98  # from the right: where the published numbers end and those from here begin
GAP, APART, MARK, RIM = 9, 5, 8, 2.6
LOG_FROM, SPARE, TICKS = 3.0, 0.06, 4

Rows = Sequence[tuple[ClaimValue, int]]  # figures, and how high the middle of each row stands


@dataclass(frozen=True, slots=True)
class ClaimAxis:
    """The axis of a claim in the claim's unit, and the height of the rows above its foot."""

    axis: PictureAxis
    scale: Scale
    foot: float

    def __call__(self, value: float) -> float:
        return self.axis.inside(value * self.scale.factor)

    def cuts(self, value: float) -> bool:
        """Tell whether a value lies beyond the axis."""
        number = value * self.scale.factor
        return not self.axis.has(number) or abs(self.axis(number) - self.axis.inside(number)) > 1


def claim_picture(claim: DecidedClaim) -> str:
    """Draw a claim, a row per value on one axis, as an unlabeled `svg`; empty where there is nothing to draw."""
    if not any(figure.published is not None or _has_value(figure) for figure in claim.figures):
        return ""
    shown, scale = reproduced.select_values(claim.figures, reproduced.MOST_TOLD), reproduced.claim_scale(claim)
    widest = max(len(shorten_middle(figure.label, LETTERS)) for figure in shown)
    left, foot = GAP + (LETTER * widest + GAP if widest else 0), HEAD + ROW * len(shown)
    axis = ClaimAxis(PictureAxis(_layout(claim, scale), left, WIDTH - PUBLISHED - 6 * LETTER - GAP), scale, foot)
    rows = [(figure, HEAD + ROW * i + ROW // 2) for i, figure in enumerate(shown)]
    more = f"{len(shown)} of {len(claim.figures)} figures" if len(shown) < len(claim.figures) else ""
    parts = [
        _band(claim, axis), *_ticks(axis), *_draw_published(axis, rows), *_draw_measured(axis, rows),
        *_columns(axis, rows, reproduced.is_conclusive(claim)), _texts([(WIDTH, foot + 14, more)], "end", "muted"),
    ]  # fmt: skip
    box = f"0 0 {WIDTH} {foot + FOOT}"
    return element("svg", "".join(parts), viewBox=box, font_size=SIZE, aria_hidden="true", focusable="false")


def _has_value(figure: ClaimValue) -> bool:
    return figure.here is not None and figure.here.value is not None


def _layout(claim: DecidedClaim, scale: Scale) -> dict[str, Any]:
    here = [figure.here for figure in claim.figures if figure.here]
    printed = [(figure.published, figure.published_low, figure.published_high) for figure in claim.figures]
    core = [*chain.from_iterable(printed), *(e.value for e in here), claim.low or None, claim.high]
    ends = [end for e in here for end in (e.low, e.high)]
    must, may = ([x * scale.factor for x in values if x is not None] for values in (core, ends))
    is_log = min(must) > 0 and max(must) >= LOG_FROM * min(must)
    low, high = log_range(must, may) if is_log else _linear_range(must, may)
    spare = SPARE * (math.log10(high / low) if is_log else (high - low))
    values = round_numbers(low, high, is_log)
    values = values if is_log else values[:: math.ceil(len(values) / TICKS)]
    span = [math.log10(low) - spare, math.log10(high) + spare] if is_log else [low - spare, high + spare]
    return {"type": "log" if is_log else "linear", "range": span} | axis_ticks(values, [*map(number, values)])


def _linear_range(must: Sequence[float], may: Sequence[float]) -> tuple[float, float]:
    low, high = min(must), max(must)
    room = (high - low) or 0.5 * abs(high) or 1.0
    ends = max(min([low, *may]), low - room), min(max([high, *may]), high + room)
    return ends if ends[1] > ends[0] else (low - 0.1 * room, high + 0.1 * room)


def _band(claim: DecidedClaim, axis: ClaimAxis) -> str:
    if claim.low is None and claim.high is None:
        return ""
    left = axis.axis.start if claim.low is None else axis(claim.low)
    right = axis.axis.end if claim.high is None else axis(claim.high)
    d = f"M{left:.1f} {HEAD}H{right:.1f}V{axis.foot}H{left:.1f}Z"
    edges = "".join(f"M{axis(end):.1f} {HEAD}V{axis.foot}" for end in (claim.low, claim.high) if end is not None)
    band = element("path", d=d, **paint("fill", "muted/0.16"))
    return band + element("path", d=edges, fill="none", **paint("stroke", "muted/0.6"), stroke_width=1)


def _ticks(axis: ClaimAxis) -> Iterator[str]:
    placed = axis.axis.fitting_ticks()
    marks = "".join(f"M{x:.1f} {axis.foot}v3" for x, _ in placed)
    d = f"M{axis.axis.start:.1f} {axis.foot}H{axis.axis.end:.1f}{marks}"
    yield element("path", d=d, **paint("stroke", "muted"), fill="none")
    yield _texts([(x, axis.foot + 14, text) for x, text in placed], "middle", "muted")


def _draw_published(axis: ClaimAxis, rows: Rows) -> Iterator[str]:
    errors = [(figure.published_low, figure.published_high, y - APART) for figure, y in rows]
    pen = paint("stroke", "ink")
    yield _path(_interval_path(axis, errors), stroke_dasharray="1.5 2", stroke_width=RIM / 2, **pen)
    printed = [(figure.published, y - APART) for figure, y in rows if figure.published is not None]
    yield _path("".join(f"M{axis(x):.1f} {y - MARK // 2}v{MARK}" for x, y in printed), stroke_width=RIM, **pen)


def _draw_measured(axis: ClaimAxis, rows: Rows) -> Iterator[str]:
    estimates = [(figure.here, y + APART) for figure, y in rows if figure.here is not None]
    hollow = [(f.here.value, y + APART) for f, y in rows if f.here is not None and f.decision == "inconclusive"]
    pen = {**paint("stroke", "line-0"), "stroke_linecap": "round"}
    yield _path(_interval_path(axis, [(here.low, here.high, y) for here, y in estimates]), stroke_width=1.8, **pen)
    yield _path(_places(axis, [(here.value, y) for here, y in estimates]), stroke_width=MARK, **pen)
    yield _path(_places(axis, hollow), stroke_width=MARK - RIM, **{**pen, **paint("stroke", "paper")})


def _interval_path(axis: ClaimAxis, spans: Iterable[tuple[float | None, float | None, int]]) -> str:
    closed = ((low, high, y) for low, high, y in spans if low is not None and high is not None)
    left, right = "m3 -3l-3 3l3 3m-3 -3", "m-3 -3l3 3l-3 3"  # arrows
    ends = ((f"{axis(low):.1f} {y}{left * axis.cuts(low)}", high) for low, high, y in closed)
    return "".join(f"M{start}H{axis(high):.1f}{right * axis.cuts(high)}" for start, high in ends)


def _places(axis: ClaimAxis, points: Iterable[tuple[float | None, int]]) -> str:
    return "".join(f"M{axis(value):.1f} {y}h0" for value, y in points if value is not None)


def _path(d: str, **pen: Any) -> str:
    return element("path", d=d, fill="none", **pen) if d else ""


def _columns(axis: ClaimAxis, rows: Rows, is_decided: bool) -> Iterator[str]:
    unit, right, here = f" ({axis.scale.unit})" if axis.scale.unit else "", WIDTH - PUBLISHED, WIDTH - HERE
    yield _texts([(0, y + 4, shorten_middle(figure.label, LETTERS)) for figure, y in rows], "start", "ink")
    published = [(right, y + 4, reproduced.published_text(figure, axis.scale)) for figure, y in rows]
    yield _texts([(right, 10, "published"), *published], "end", "muted")
    measured = [(here, y + 4, _measured_text(figure, axis.scale)) for figure, y in rows]
    yield _texts([(here, 10, f"here{unit}"), *measured], "start", "ink")
    if is_decided:
        yield _texts([(WIDTH, y + 4, reproduced.SIGNS[figure.decision]) for figure, y in rows], "end", "ink")


def _measured_text(figure: ClaimValue, scale: Scale) -> str:
    number = figure.none if figure.none and not _has_value(figure) else cell_number(figure.here, scale, tight=True)
    return f"{shorten_middle(number, LETTERS)}{' !' if figure.doubt else ''}"


def _texts(placed: Iterable[tuple[float, float, str]], anchor: str, color: str) -> str:
    shown = ((x, y, html.escape(escape_controls(text))) for x, y, text in placed if text)
    each = [element("text", text, x=round(x, 1), y=round(y, 1)) for x, y, text in shown]
    return element("g", *each, text_anchor=anchor, **paint("fill", color)) if each else ""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim; `style` names its outcome, `words` describe the picture."""

    claim: DecidedClaim
    sign: str
    style: str
    borne_out: str
    picture: Markup
    words: str
    reason: str


def claim_rows(claims: Sequence[DecidedClaim]) -> list[ClaimRow]:
    """Lay out claims in order, for `claims` of `page/claims.html`."""
    rows = []
    for claim in claims:
        is_bounded = claim.low is not None or claim.high is not None
        borne_out = f"holds: {span(claim.low, claim.high, reproduced.claim_scale(claim))}" if is_bounded else ""
        svg = Markup(claim_picture(claim))  # noqa: S704  drawn here, texts escaped
        words, style = f"{claim.id}: {'; '.join(reproduced.figure_words(claim))}", claim.decision.replace(" ", "-")
        sign, reason = reproduced.SIGNS[claim.decision], reproduced.reason_text(claim)
        rows.append(ClaimRow(claim, sign, style, borne_out, svg, words, reason))
    return rows
