"""What a command prints at its end: the answer and its tables; and how paragraphs and lists are printed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scalograph.protocol.findings import Claim, Findings, TableDoc, Trust
from scalograph.text import summaries
from scalograph.text.escape import encodable, one_line
from scalograph.text.reproduced import published_outcome


@dataclass(frozen=True, kw_only=True)
class Screen:
    """The answer of one command.

    Attributes:
        title: the question, or what was examined.
        machine: machine and number of runs; empty where nothing was run.
        trust: the verdict; None where runs were made elsewhere.
        published: the outcome of published claims, in one sentence.
        failures: why runs failed.
        tables: what the claim rests on.
        remarks: titled lists below the tables.
        verbatim: titled lines that are never wrapped: drawings, and commands.
    """

    title: str
    machine: str = ""
    claim: Claim
    trust: Trust | None = None
    published: str = ""
    failures: str = ""
    tables: Sequence[TableDoc] = ()
    remarks: dict[str, list[str]] = field(default_factory=dict)
    verbatim: dict[str, list[str]] = field(default_factory=dict)


def screen(findings: Findings) -> Screen:
    """Lay out the findings of a study."""
    runs = [text for text in (summaries.study(findings), summaries.runs(findings.runs)) if text]
    runs += summaries.unstated_causes(findings.trust)
    runs += [summaries.noise(findings.noise)] if findings.noise else []
    return Screen(
        title=findings.study.title or findings.study.name,
        machine=summaries.machine(findings),
        claim=findings.claim or Claim(sentences=findings.answer[:1] or ["No answer."]),
        trust=findings.trust,
        published=published_outcome(findings),
        failures=summaries.failures(findings.runs),
        tables=findings.tables,
        remarks={
            "Answer": findings.answer,
            "Runs": runs,
            "Warnings": findings.warnings,
            "Varied, though not declared": findings.residue,
            "Not granted by this machine": [
                summaries.degradation(d) for d in summaries.merge_degradations(findings.degraded)
            ],
        },
        verbatim={"To reproduce": findings.reproduce},
    )


PROSE_COLUMNS = 100  # longer lines are hard to read back to the next one's start


def emit(console: Console, renderable: RenderableType, width: int | None = None) -> None:
    """Print something without trailing blanks."""
    options = console.options.update(width=min(width or console.width, console.width), highlight=False)
    for segments in console.render_lines(renderable, options, pad=False):
        line = Text.assemble(*((s.text, s.style or "") for s in segments if not s.control))
        line.rstrip()
        console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False)


def words(console: Console, text: str, style: str = "") -> Text:
    """Return a text that this console can encode."""
    return Text(encodable(text, console.encoding), style=style)


def say(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Print one wrapped paragraph."""
    emit(console, Padding(words(console, one_line(text), style), (0, 0, 0, indent)), PROSE_COLUMNS)


def items(console: Console, title: str, texts: list[str]) -> None:
    """Print a titled list; nothing if it is empty."""
    if not texts:
        return
    gap(console)
    say(console, title, "bold")
    for text in texts:
        item = Table.grid(padding=(0, 1, 0, 0))
        item.add_row(words(console, "  \N{MIDDLE DOT}"), words(console, one_line(text)))
        emit(console, item, PROSE_COLUMNS)


def verbatim(console: Console, title: str, lines: list[str]) -> None:
    """Print titled lines for copying: never wrapped."""
    if not lines:
        return
    gap(console)
    say(console, title, "bold")
    for line in lines:
        text = words(console, "  " + one_line(line))
        console.print(text, no_wrap=True, overflow="ignore", crop=False, highlight=False)


def gap(console: Console) -> None:
    """Print an empty line."""
    console.print()
