"""Static pages over many results: an index of studies, and a page of each study with its series over time."""

import hashlib
import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from scalograph.protocol.result_summary import ResultSummary, start_seconds
from scalograph.protocol.watched_series import LevelChange, SeriesNote, SeriesPoint, Watch, WatchedSeries
from scalograph.report.first_screen import WORDS
from scalograph.report.html import render_page
from scalograph.report.picture_marks import element, paint, sign, text_lines
from scalograph.text.escape import escape_controls
from scalograph.text.format import significant
from scalograph.text.plots import shorten_middle
from scalograph.text.quantities import count_noun
from scalograph.text.scale import scale_for
from scalograph.text.summaries import change_size, point_name, size_text

STYLES = ("base", "verdict", "tables", "site", "print")
MOST_ROWS = 200  # of the table of a study
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
class StudyHistory:
    """A study of the site: its results, newest first, and its series by value."""

    name: str
    page: str
    results: list[ResultSummary]
    series: list[WatchedSeries]
    notes: list[SeriesNote] = field(default_factory=list)

    @property
    def newest(self) -> ResultSummary:
        """The newest result."""
        return self.results[0]

    @property
    def word(self) -> str:
        """The verdict on the newest result."""
        return WORDS.get(self.newest.verdict, "")

    @property
    def is_tested(self) -> bool:
        """Whether some series has enough results."""
        return any(series.is_tested for series in self.series)

    @property
    def longest(self) -> WatchedSeries | None:
        """The level on the machine with the most results; None without results."""
        return max((s for s in self.series if s.is_level), key=lambda s: len(s.points), default=None)

    def figures(self) -> dict[str, list[WatchedSeries]]:
        """Return the machines of each value."""
        named: dict[str, list[WatchedSeries]] = {}
        for series in self.series:
            if any(point.value is not None for point in series.points):
                named.setdefault(series.figure, []).append(series)
        return named

    def changes(self) -> Iterator[tuple[WatchedSeries, LevelChange, str]]:
        """Yield the changes of all series with their size, the newest first."""
        every = [(series, change) for series in self.series for change in series.changes]
        for series, change in sorted(every, key=lambda pair: pair[1].started, reverse=True):
            yield series, change, size_text(series, change)


def study_histories(
    watched: Watch, summaries: Sequence[ResultSummary], notes: Sequence[SeriesNote]
) -> list[StudyHistory]:
    """Return each study with its results and series, those with an alarm first."""
    results: dict[str, list[ResultSummary]] = {}
    for summary in sorted(summaries, key=lambda s: start_seconds(s.started), reverse=True):
        if not summary.unread:
            results.setdefault(summary.study, []).append(summary)
    histories = [
        StudyHistory(
            name=name, page=_page_name(name), results=each, series=[s for s in watched.series if s.study == name],
            notes=[note for note in notes if note.study in ("", name)],
        )
        for name, each in sorted(results.items())
    ]  # fmt: skip
    return sorted(histories, key=lambda history: not any(series.alarm for series in history.series))


def _page_name(study: str) -> str:
    """Return the file name of a study's page; names that differ never share one."""
    plain = _UNSAFE.sub("-", study)[:60]
    is_plain = plain == study and study != "index" and study == study.lower()
    return f"{plain if is_plain else f'{plain}-{hashlib.sha256(study.encode()).hexdigest()[:6]}'}.html"


def site_index(title: str, watched: Watch, histories: Sequence[StudyHistory], sentences: Sequence[str]) -> str:
    """Return the index: each study with its answer now, how many results it has, and what changed where."""
    return _render(title, histories=histories, watched=watched, sentences=sentences, study=None)


def study_page(history: StudyHistory, links: Mapping[str, str], since: str) -> str:
    """Return the page of a study; `links` are addresses of reports by folder, `since` the start of the time."""
    charts = [
        (figure, lane_lengths(lanes), history_pictures(lanes, links, history.notes))
        for figure, lanes in history.figures().items()
    ]
    reasons = {p.folder: p.excluded for series in history.series if series.is_level for p in series.points}
    noted = [
        (note, next((p for s in history.series for p in s.points if note.covers(p)), None)) for note in history.notes
    ]
    return _render(
        history.newest.title or history.name, study=history, charts=charts, links=links, reasons=reasons,
        noted=noted, since=since, results=history.results[:MOST_ROWS],
    )  # fmt: skip


def _render(title: str, **values: Any) -> str:
    return render_page(
        "site.html", STYLES, [title, repr(values)], title=title, point_name=point_name, change_size=change_size,
        sparkline=sparkline, count_noun=count_noun, WORDS=WORDS, **values,
    )  # fmt: skip


CHART_WIDTHS = {"wide": 860, "middle": 560, "narrow": 340}
LANE, HEAD, FOOT, LEFT, RIGHT = 130, 22, 24, 62, 14
_HALF = 3.5  # of a mark
_LETTER = 6.4


@dataclass(frozen=True)
class _Frame:
    """Where a lane is drawn: pixels of its places, its values, and its top."""

    xs: Mapping[str, float]
    low: float
    high: float
    top: float
    height: float = LANE - HEAD - 14

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.top + (1 - min(max(share, 0.0), 1.0)) * self.height


def history_pictures(
    lanes: Sequence[WatchedSeries], links: Mapping[str, str], notes: Sequence[SeriesNote]
) -> dict[str, Markup]:
    """Return the picture of one value on all machines for each width; `links` are addresses of reports by folder."""
    return {name: Markup(_draw(lanes, links, notes, width)) for name, width in CHART_WIDTHS.items()}  # noqa: S704  drawn here


def sparkline(series: WatchedSeries, width: int = 200, height: int = 36) -> Markup:
    """Draw the values of a series small: a dot for each result that counts, and its levels."""
    xs = {_key(p): 4 + i * (width - 8) / max(len(series.points) - 1, 1) for i, p in enumerate(series.points)}
    points = [point for point in series.points if point.value is not None and not point.excluded]
    values = [point.value or 0.0 for point in points]
    if len(values) < 2:
        return Markup("")
    pad = 0.1 * (max(values) - min(values)) or 1.0
    frame = _Frame(xs, min(values) - pad, max(values) + pad, 2, height - 4)
    dots = "".join(sign("circle", xs[_key(p)], frame.y(v), 1.6) for p, v in zip(points, values, strict=True))
    parts = [element("path", d=dots, **paint("fill", "line-0")), *_levels(series, frame)]
    box = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return Markup(element("svg", *parts, **box, aria_hidden="true", focusable="false"))  # noqa: S704  drawn here


def _draw(lanes: Sequence[WatchedSeries], links: Mapping[str, str], notes: Sequence[SeriesNote], width: int) -> str:
    points = sorted((point for series in lanes for point in series.points), key=lambda p: (p.started, p.folder))
    keys = [*dict.fromkeys(map(_key, points))]
    step = (width - LEFT - RIGHT - 2 * _HALF) / max(len(keys) - 1, 1)
    xs = {key: LEFT + _HALF + i * step for i, key in enumerate(keys)}
    height = LANE * len(lanes) + FOOT
    parts = [part for i, series in enumerate(lanes) for part in _lane(series, xs, LANE * i, width, links)]
    parts += [*_notes(points, xs, notes, height - FOOT), *_dates(points, xs, height)]
    return element("svg", "".join(parts), viewBox=f"0 0 {width} {height}", aria_hidden="true", focusable="false")


def _key(point: SeriesPoint) -> str:
    return point.commit or point.started or point.folder


def _lane(
    series: WatchedSeries, xs: Mapping[str, float], top: float, width: int, links: Mapping[str, str]
) -> Iterator[str]:
    values = [point.value for point in series.points if point.value is not None and not point.excluded]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    pad = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    frame = _Frame(xs, low - pad, high + pad, top + HEAD)
    title = shorten_middle(series.lane, int(width / _LETTER))
    yield text_lines([title], 0, top + 14, "start", "ink", 12)
    scale = scale_for(series.unit, values)
    ticks = [low, high] if high > low else [low]
    for value in ticks if values else ():
        text = f"{significant(value * scale.factor)} {scale.unit}".strip()
        yield element("path", d=f"M{LEFT} {frame.y(value):.1f}H{width - RIGHT}", **paint("stroke", "rule"))
        yield text_lines([text], LEFT - 6, frame.y(value) + 4, "end", size=11)
    yield from _levels(series, frame)
    for point in series.points:
        if point.value is not None:
            yield _mark(point, frame, series, links)


def _levels(series: WatchedSeries, frame: _Frame) -> Iterator[str]:
    """Draw each level that a change begins or ends."""
    ends = [0, *(change.at for change in series.changes), len(series.points)]
    levels = [change.before for change in series.changes[:1]] + [change.after for change in series.changes]
    for i, level in enumerate(levels):
        first, last = (frame.xs[_key(series.points[k])] for k in (ends[i], ends[i + 1] - 1))
        yield element("path", d=f"M{first:.1f} {frame.y(level):.1f}H{last:.1f}", fill="none", stroke_width=1.6,
                      **paint("stroke", "ink"))  # fmt: skip


def _mark(point: SeriesPoint, frame: _Frame, series: WatchedSeries, links: Mapping[str, str]) -> str:
    x, y = frame.xs[_key(point)], frame.y(point.value or 0.0)
    begins = next((change for change in series.changes if change.folder == point.folder), None)
    if point.excluded:
        cross = f"M{x - 3:.1f} {y - 3:.1f}l6 6m0-6l-6 6"
        drawn = element("path", d=cross, fill="none", stroke_width=1.6, **paint("stroke", "muted"))
    elif begins:
        color = "line-1" if begins.shown == "worse" else "line-2"
        drawn = element("path", d=sign("diamond", x, y, 1.4 * _HALF), **paint("fill", color))
    else:
        drawn = element("path", d=sign("circle", x, y, _HALF), **paint("fill", "line-0"))
    scale = scale_for(series.unit, [point.value])
    value = f"{significant((point.value or 0.0) * scale.factor)} {scale.unit}".strip()
    texts = [point_name(point), point.started[:10], value, *([f"excluded: {point.excluded}"] if point.excluded else [])]
    title = element("title", html.escape(escape_controls(", ".join(dict.fromkeys(filter(None, texts))))))
    link = links.get(point.folder)
    # The table below has the same links for those who do not point.
    return element("a", title, drawn, href=link, tabindex=-1) if link else element("g", title, drawn)


def _notes(
    points: Sequence[SeriesPoint], xs: Mapping[str, float], notes: Sequence[SeriesNote], foot: float
) -> Iterator[str]:
    """Draw an upright line with its number before the first result of each note."""
    for number, note in enumerate(notes, 1):
        here = next(filter(note.covers, points), None)
        if here:
            x = max(xs[_key(here)] - 5, LEFT)
            line = {"fill": "none", "stroke_dasharray": "4 3", **paint("stroke", "muted")}
            yield element("path", d=f"M{x:.1f} {HEAD}V{foot:g}", **line)
            yield text_lines([f"{number}"], x, HEAD - 2, "middle", "ink", 11)


def _dates(points: Sequence[SeriesPoint], xs: Mapping[str, float], height: float) -> Iterator[str]:
    """Label the first and the last result, and those between that have room."""
    last, end = -math.inf, xs[_key(points[-1])] if points else 0.0
    for point in points:
        x, text = (
            xs[_key(point)],
            point_name(point) if not math.isfinite(last) else point.commit[:7] or point_name(point),
        )
        room = len(text) * _LETTER / 2 + 6
        is_end = x == end
        if (x - last > 2 * room + 10 and end - x > 3 * room) or not math.isfinite(last) or (is_end and x - last > room):
            anchor = "start" if not math.isfinite(last) else "end" if is_end else "middle"
            yield text_lines([shorten_middle(text, 12)], x, height - 8, anchor, size=11)
            last = math.inf if is_end else x + (2 * room if anchor == "start" else room)


def lane_lengths(lanes: Sequence[WatchedSeries]) -> str:
    """Say what a picture shows: "34 results on 4 CPUs, AMD EPYC; 6 on ..".

    >>> lane_lengths([WatchedSeries(study="a", lane="2 CPUs", figure="x", points=[SeriesPoint(folder="r")])])
    '1 on 2 CPUs'
    """
    return "; ".join(f"{len(series.points):,} on {series.lane}" for series in lanes)
