"""Findings as one HTML file: it opens without a network, on any screen and on paper, and runs only our script."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from scalograph import __version__
from scalograph.protocol.figure import Figure, Overlay, Plot
from scalograph.protocol.findings import Findings
from scalograph.protocol.results import write_text
from scalograph.report import rows
from scalograph.report.cells import sheet
from scalograph.report.claim_rows import claim_rows
from scalograph.report.first_figure import first_figure, pictures
from scalograph.report.first_screen import WORDS, day, matrix_text
from scalograph.report.glossary import GLOSSARY
from scalograph.report.machine_facts import facts
from scalograph.report.pack import json_text, letters, nonce, pack
from scalograph.report.payload import payload
from scalograph.report.run_strip import run_strip
from scalograph.text import wording
from scalograph.text.escape import visible
from scalograph.text.reproduced import published

ROOM = Path(__file__).parent
STYLES = ("base", "verdict", "claims", "controls", "figures", "tables", "evidence", "print")
SCRIPTS = (
    "dom", "links", "tools", "sort", "look", "plots", "figure", "samples", "family", "legend", "ranges", "laws",
    "crosshair", "curves", "compare", "main",
)  # fmt: skip
# Types and remarks are for who works on the script.
COMMENT = re.compile(r"\s*(//.*|/\*.*\*/)")
LIBRARY = "plotly-small.min.js.gz"
# The library's maps set two style attributes, always the same: an empty one and "draw pixels as they are".
# Both are let in by their digest; any other style attribute stays forbidden.
STYLE_HASHES = (
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "sha256-AR/cKIZjWPcPmBUPDA6oti9XBiTbJvz0Cro2J1VzzS8=",
)


Drawn = Sequence[Figure | Overlay]


def write(findings: Findings, drawn: Drawn, path: Path) -> None:
    """Write the report as a whole; the same findings give the same bytes.

    Args:
        findings: as they are read from findings.json.
        drawn: what the questions draw of them.
        path: of the page.

    Raises:
        HostError: the disk refuses; an older report is untouched.
    """
    write_text(path, page(findings, drawn))


def page(findings: Findings, drawn: Drawn = ()) -> str:
    """The whole page as text."""
    shown = payload(findings, drawn)
    first = first_figure(findings, shown, drawn)
    live = {"label": first.label, "data": first.data, "layout": first.layout} if first else None
    data = json_text(shown | {"first": live})
    script, style = joined("js", SCRIPTS), joined("css", STYLES)
    context: dict[str, Any] = {
        "f": findings,
        **_first(findings, first),
        "claim_rows": claim_rows(findings.published_claims),
        "published": published(findings),
        "sheets": [sheet(t) for t in findings.tables],
        "machine": facts(findings.machine),
        "rows": rows,
        "words": wording,
        "version": __version__,
        "nonce": nonce(__version__, script, style, data, findings.model_dump_json()),
        "style_hashes": STYLE_HASHES,
        "style": Markup(style),  # noqa: S704  ours, from this package
        "script": pack(f'(() => {{\n"use strict";\n{script}\n}})();'),
        "data": pack(data),
        "library": _library(),
        "glossary": GLOSSARY,
        "samples": shown["samples"],
        "has_figures": any(shown[name] for name in ("before", "families", "after")) or bool(findings.curves),
    }
    return environment().get_template("page.html").render(context)


def _first(findings: Findings, first: Plot | None) -> dict[str, Any]:
    """What stands on the first screen."""
    claim, strip = findings.claim, run_strip(findings.log)
    return {
        "said": claim.sentences if claim else findings.answer[:1],
        "trust_word": WORDS[findings.trust.level],
        "day": day(findings.runs),
        "matrix": matrix_text(claim.matrix) if claim and claim.matrix else None,
        "first": first,
        "pictures": _markup(pictures(first) if first else {}),
        "strip": strip and replace(strip, pictures=_markup(strip.pictures)),
    }


def _markup(pictures: Mapping[str, str]) -> dict[str, Markup]:
    return {name: Markup(svg) for name, svg in pictures.items()}  # noqa: S704  drawn here, texts escaped


@cache
def environment() -> Environment:
    """Return what renders our templates: every text escaped, control characters shown."""
    return Environment(
        loader=FileSystemLoader(ROOM / "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printed,
    )


def _printed(value: Any) -> Any:
    """Every text that a template prints shows its control characters; autoescape does the rest."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _library() -> str:
    return letters((ROOM / "vendor" / LIBRARY).read_bytes())


@cache
def joined(kind: str, names: tuple[str, ...]) -> str:
    """Join files of the page, `css` or `js`, without remarks."""
    texts = ((ROOM / "page" / kind / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)
    lines = (line.strip() for text in texts for line in text.splitlines())
    return "\n".join(line for line in lines if line and not COMMENT.fullmatch(line))
