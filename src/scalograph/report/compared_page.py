"""Two results as one HTML file: no network, no script; the answer, both curves and their ratio, every treatment."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from scalograph import __version__
from scalograph.protocol.compared_results import ResultComparison
from scalograph.protocol.figure import Plot
from scalograph.protocol.results import write_text
from scalograph.report import rows
from scalograph.report.cells import sheet
from scalograph.report.compared_picture import compared_plots
from scalograph.report.first_screen import matrix_text
from scalograph.report.html import environment, joined
from scalograph.report.pack import nonce
from scalograph.report.screen import Screen
from scalograph.report.static_picture import picture

STYLES = ("base", "verdict", "tables", "evidence", "compared", "print")
# Pixels; the browser scales them.
WIDTH, HEIGHT = 560, 300
# How the answer is colored, as the verdict of a study is.
_TONES = {"slower": "reject", "not measurable": "doubt", "same": "believe", "faster": "believe"}


def write(found: ResultComparison, screen: Screen, file: Path) -> None:
    """Write the page as a whole; the same document gives the same bytes.

    Args:
        found: two results.
        screen: what is said of them, with its tables.
        file: of the page.

    Raises:
        HostError: the disk refuses; an older page is untouched.
    """
    write_text(file, page(found, screen))


def page(found: ResultComparison, screen: Screen) -> str:
    """Return the whole page as text."""
    style = joined("css", STYLES)
    context: dict[str, Any] = {
        "found": found,
        "title": screen.title,
        "machine": screen.machine,
        "said": screen.claim.sentences,
        "level": _TONES[found.answer],
        "trust": screen.trust,
        "matrix": matrix_text(screen.claim.matrix) if screen.claim.matrix else None,
        "figures": [(name, _drawn(both), _drawn(ratio)) for name, both, ratio in compared_plots(found)],
        "remarks": screen.remarks,
        "sheets": [sheet(table) for table in screen.tables],
        "rows": rows,
        "version": __version__,
        "style": Markup(style),  # noqa: S704  ours, from this package
        "nonce": nonce(__version__, style, found.model_dump_json()),
    }
    return environment().get_template("compared.html").render(context)


def _drawn(plot: Plot) -> tuple[str, Markup]:
    """What it shows, and the picture."""
    drawn = picture(plot.data, plot.layout, WIDTH, HEIGHT)
    return plot.label, Markup(drawn)  # noqa: S704  drawn here, texts escaped
