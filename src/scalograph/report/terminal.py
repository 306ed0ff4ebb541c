"""Findings on the terminal: the verdict and the answer in words, then the tables they rest on."""

from rich.console import Console

from scalograph.protocol.findings import Findings
from scalograph.report.cells import sheet
from scalograph.report.paper import (
    gap,
    items,
    say,
    verbatim,
)
from scalograph.report.terminal_table import draw
from scalograph.text import wording

TRUST_STYLES = {"believe": "bold green", "doubt": "bold yellow", "reject": "bold red"}


def render(findings: Findings, console: Console) -> None:
    """Print findings for people.

    Color, width and encoding are the console's: one that writes to a file gets plain text, and tables that
    do not fit its width are split or stacked rather than cut.
    """
    _head(findings, console)
    _trust(findings, console)
    items(console, "Answer", findings.answer)
    for table in findings.tables:
        gap(console)
        draw(sheet(table), console)
    items(console, "Warnings", findings.warnings)
    items(console, "Varied, though not declared", findings.residue)
    items(console, "Not granted by this machine", [wording.degraded(d) for d in wording.alike(findings.degraded)])
    verbatim(console, "To reproduce", findings.reproduce)


def _head(findings: Findings, console: Console) -> None:
    study = findings.study
    say(console, study.title or study.name, "bold")
    for text in (wording.study(findings), wording.machine(findings), wording.runs(findings.runs)):
        if text:
            say(console, text)
    failures = wording.failures(findings.runs)
    if failures:
        say(console, f"failures: {failures}")


def _trust(findings: Findings, console: Console) -> None:
    gap(console)
    trust = findings.trust
    say(console, f"{trust.level.upper()}: {trust.sentence}", TRUST_STYLES[trust.level])
    for cause in wording.causes(trust):
        say(console, cause, indent=2)
    if findings.noise:
        say(console, wording.noise(findings.noise), indent=2)
