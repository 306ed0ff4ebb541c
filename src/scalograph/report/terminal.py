"""Findings on the terminal: the verdict and the answer in words, then the tables they rest on."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from scalograph.findings import Findings
from scalograph.report import words
from scalograph.report.cells import sheet
from scalograph.report.escape import encodable, prose
from scalograph.report.terminal_table import draw

PROSE_COLUMNS = 100  # longer lines are hard to read back to the next one's start
TRUST_STYLES = {"believe": "bold green", "doubt": "bold yellow", "reject": "bold red"}


class Pen:
    """Writes plain text to a console: nothing in it is markup, a link or an escape sequence."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = min(console.width, PROSE_COLUMNS)

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """A paragraph, wrapped; what follows its first line is indented alike."""
        words = Text(encodable(prose(text), self.console.encoding), style=style)
        self.console.print(Padding(words, (0, 0, 0, indent)), width=self.width, highlight=False)

    def items(self, title: str, texts: list[str]) -> None:
        """A titled list; no title over nothing."""
        if texts:
            self.heading(title)
        for text in texts:
            mark = encodable("\N{MIDDLE DOT} ", self.console.encoding)
            words = Text(encodable(prose(text), self.console.encoding))
            grid = Padding(words, (0, 0, 0, 2))
            self._hung(mark, grid)

    def heading(self, title: str) -> None:
        self.gap()
        self.line(title, "bold")

    def gap(self) -> None:
        self.console.print()

    def _hung(self, mark: str, body: Padding) -> None:
        """A list item: the mark stands in the margin of a wrapped paragraph."""
        lines = self.console.render_lines(body, self.console.options.update(width=self.width), pad=False)
        for i, segments in enumerate(lines):
            text = "".join(s.text for s in segments).rstrip()
            self.console.print(Text(mark + text[2:] if i == 0 else text), highlight=False)


def render(findings: Findings, console: Console) -> None:
    """Print findings for people.

    Color, width and encoding are the console's: one that writes to a file gets plain text, and tables that
    do not fit its width are stacked rather than cut.
    """
    pen = Pen(console)
    _head(findings, pen)
    _trust(findings, pen)
    pen.items("Answer", findings.answer)
    for table in findings.tables:
        pen.gap()
        draw(sheet(table), console)
    pen.items("Warnings", findings.warnings)
    pen.items("Varied, though not declared", findings.residue)
    pen.items("Not granted by this machine", [words.degraded(d) for d in findings.degraded])
    pen.items("To reproduce", findings.reproduce)


def _head(findings: Findings, pen: Pen) -> None:
    study = findings.study
    pen.line(study.title or study.name, "bold")
    for text in (words.study(findings), words.machine(findings), words.runs(findings.runs)):
        if text:
            pen.line(text)


def _trust(findings: Findings, pen: Pen) -> None:
    pen.gap()
    trust = findings.trust
    pen.line(f"{trust.level.upper()}: {trust.sentence}", TRUST_STYLES[trust.level])
    for cause in trust.causes:
        pen.line(cause, indent=2)
    if findings.noise:
        pen.line(words.noise(findings.noise), indent=2)
