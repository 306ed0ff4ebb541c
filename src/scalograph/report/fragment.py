"""A study's answer as a piece of HTML that needs no script: claim, verdict, matrix, figure. A notebook shows it."""

from markupsafe import Markup

from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import Findings
from scalograph.report.first_screen import WORDS, matrix_text
from scalograph.report.html import environment
from scalograph.report.standalone_picture import standalone

WIDTH, HEIGHT = 760, 340


def fragment(findings: Findings, plot: Plot | None) -> str:
    """Return the piece; every text in it is escaped.

    Args:
        findings: of a study.
        plot: its first figure; None leaves it out.
    """
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
