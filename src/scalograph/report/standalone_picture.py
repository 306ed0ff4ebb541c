"""A plot as an SVG that stands alone, in a file or in a notebook: its colors are written out."""

import html
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from markupsafe import Markup

from scalograph.protocol.figure import Figure, Overlay, Plot
from scalograph.protocol.findings import Findings
from scalograph.report.first_chart import charts_by_name, has_ranges
from scalograph.report.first_screen import WORDS, matrix_text
from scalograph.report.html import environment
from scalograph.report.payload import payload
from scalograph.report.static_picture import picture
from scalograph.text.escape import escape_controls

_ROLE = re.compile(r"--(ink|paper|muted|rule|wait|line-\d): (#[0-9a-f]{6});")
# Only in attributes: texts are escaped, so they have no such quotes.
_USED = re.compile(r'="var\(--([a-z0-9-]+)\)"')
_LAID_OUT = ' aria-hidden="true" focusable="false"'


def standalone(plot: Plot, width: float = 900, height: float = 400) -> str:
    """Draw a plot that has ranges, with its colors on paper."""
    drawn = _USED.sub(lambda role: f'="{_colors()[role[1]]}"', picture(plot.data, plot.layout, width, height))
    head = f' xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" role="img"'
    style = f' style="background:{_colors()["paper"]};font-family:sans-serif"'
    title = f"<title>{html.escape(escape_controls(plot.label))}</title>"
    return drawn.replace(f"{_LAID_OUT}>", f"{head}{style}>{title}", 1)


def first_picture(findings: Findings, drawn: list[Figure | Overlay]) -> Plot | None:
    """Return the first plot of the report; None where it needs the script."""
    every = still_pictures(findings, drawn)
    plot = next(iter(every.values()))() if every else None
    return plot if plot is not None and has_ranges(plot) else None


def still_pictures(findings: Findings, drawn: list[Figure | Overlay]) -> dict[str, Callable[[], Plot]]:
    """Return a function that draws each chart of a report, by the name users type; the first one first."""
    charts: dict[str, Callable[[], Plot]] = {}
    for name, draw in charts_by_name(findings, payload(findings, drawn), drawn).items():
        charts.setdefault(name.removeprefix("response "), draw)
    return charts


@cache
def _colors() -> dict[str, str]:
    light, _, _ = (Path(__file__).parent / "page" / "css" / "base.css").read_text(encoding="utf-8").partition("}")
    return dict(_ROLE.findall(light))


WIDTH, HEIGHT = 760, 340


def fragment(findings: Findings, plot: Plot | None) -> str:
    """Return an HTML fragment of the first screen; every text in it is escaped."""
    claim = findings.claim
    context = {
        "title": findings.study.title or findings.study.name,
        "said": claim.sentences if claim else findings.answer[:1],
        "trust": findings.trust,
        "trust_word": WORDS[findings.trust.level],
        "matrix": matrix_text(claim.matrix) if claim and claim.matrix else None,
        "figure": Markup(standalone(plot, WIDTH, HEIGHT)) if plot else "",  # noqa: S704  drawn here, texts escaped
    }
    return environment().get_template("fragment.html").render(context)
