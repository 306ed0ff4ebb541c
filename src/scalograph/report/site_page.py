"""Static pages over many results: an index of studies, and a page of each study with its series over time."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from scalograph import __version__
from scalograph.protocol.result_summary import ResultSummary, start_seconds
from scalograph.protocol.watched_series import LevelChange, SeriesNote, Watch, WatchedSeries
from scalograph.report.first_screen import WORDS, nonce
from scalograph.report.history_chart import history_pictures, lane_lengths, sparkline
from scalograph.report.html import environment, join_files
from scalograph.text.quantities import count_noun
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
    return _render("site.html", title, histories=histories, watched=watched, sentences=sentences, study=None)


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
        "site.html", history.newest.title or history.name, study=history, charts=charts, links=links, reasons=reasons,
        noted=noted, since=since, results=history.results[:MOST_ROWS],
    )  # fmt: skip


def _render(template: str, title: str, **values: Any) -> str:
    style = join_files("css", STYLES)
    context = {
        "title": title, "version": __version__, "style": Markup(style),  # noqa: S704  ours, from this package
        "nonce": nonce(__version__, style, title, repr(values)), "point_name": point_name, "change_size": change_size,
        "sparkline": sparkline, "count_noun": count_noun, "WORDS": WORDS, **values,
    }  # fmt: skip
    return environment().get_template(template).render(context)
