"""Many results as one HTML file without network or script: a row for each, the newest first, with its own report."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from urllib.parse import quote

from scalograph.protocol.findings import Findings
from scalograph.protocol.result_summary import start_seconds
from scalograph.report.first_screen import WORDS, day
from scalograph.report.html import render_page
from scalograph.text.escape import shorten
from scalograph.text.quantities import count_noun
from scalograph.text.summaries import machine_words

STYLES = ("base", "verdict", "tables", "index", "print")
MOST_CHARACTERS = 600  # of a text that findings hold


@dataclass(frozen=True, slots=True)
class IndexedResult:
    """A result as its row shows it; `link` is the address of its report, empty where there is none."""

    folder: str
    title: str
    sentence: str
    level: str
    reason: str
    started: str
    day: str
    machine: str
    link: str

    @property
    def word(self) -> str:
        """The verdict."""
        return WORDS[self.level]


def result_texts(findings: Findings) -> tuple[str, str, str, str]:
    """Return the title of a result, its first sentence, that of its verdict, and its machine."""
    sentences = findings.claim.sentences if findings.claim else findings.answer
    title, first = findings.study.title or findings.study.name, next(iter(sentences), "")
    texts = title, first, findings.trust.sentence, machine_words(findings.machine)
    title, first, reason, machine = (shorten(text, MOST_CHARACTERS) for text in texts)
    return title, first, reason, machine


def indexed_result(findings: Findings, folder: str, report: Path | None, page: Path) -> IndexedResult:
    """Return the row of a result: `folder` is its name here, `page` the index that links to its report."""
    title, sentence, reason, machine = result_texts(findings)
    link = quote(os.fsencode(os.path.relpath(report, page.parent))) if report else ""
    started = findings.runs.started or ""
    return IndexedResult(
        folder, title, sentence, findings.trust.level, reason, started, day(findings.runs), machine, link
    )


def start_time(result: IndexedResult) -> float:
    """Return when the runs began, in seconds; long ago where that is unknown."""
    return start_seconds(result.started)


def headline(results: Sequence[IndexedResult]) -> str:
    """Count the results and their verdicts."""
    counts = Counter(result.word for result in results)
    verdicts = ", ".join(f"{counts[word]:,} {word}" for word in WORDS.values() if counts[word])
    return f"{count_noun(len(results), 'result')}: {verdicts}" if results else "No result can be read"


def page(title: str, results: Sequence[IndexedResult], left_out: Sequence[str]) -> str:
    """Return the page as text; `left_out` says which results have no row, and why."""
    hashed = [title, *left_out, *(text for row in results for text in astuple(row))]
    values = {"title": title, "headline": headline(results), "results": results, "left_out": left_out}
    return render_page("index.html", STYLES, hashed, **values)
